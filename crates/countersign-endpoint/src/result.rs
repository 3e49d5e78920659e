//! The execution result: what the endpoint answers, byte for byte.

use crate::effect::{EFFECT_MAX_BYTES, Effect};
use crate::encoding::canonical_json_utf8;
use crate::epoch::EpochSeconds;
use crate::number::Number;
use crate::parser::parse;
use crate::request::ExecutionRequest;
use crate::state::StateName;
use crate::value::{Members, Value};

/// The schema of an execution result.
pub const EXECUTION_RESULT_SCHEMA: &str = "ColonyGovernedActionExecutionResultV1";
/// The longest result, in bytes.
pub const EXECUTION_RESULT_MAX_BYTES: usize = 16 * 1024;

/// What a result holds besides its effect: ids, digests and a tool's name, all of bounded length.
const FRAME_MAX_BYTES: usize = 2 * 1024;
// Every bounded effect makes a result in bounds, so projecting cannot fail.
const _: () = assert!(EFFECT_MAX_BYTES + FRAME_MAX_BYTES <= EXECUTION_RESULT_MAX_BYTES);

const FIELD_COUNT: usize = 13;

/// The bytes of a result, in UTF-8 canonical form.
///
/// A settled action's result is stored and replayed as these bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultDocument(String);

impl ResultDocument {
    /// The result's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The result's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Projects the result of a completed action.
    pub(crate) fn completed(
        request: &ExecutionRequest,
        effect: &Effect,
        observed_at: EpochSeconds,
    ) -> Self {
        project(request, StateName::Completed, effect, observed_at)
    }

    /// Projects the result of an action in a state that has no effect of its own to show.
    pub(crate) fn without_effect(
        request: &ExecutionRequest,
        state: StateName,
        observed_at: EpochSeconds,
    ) -> Self {
        let effect = Effect::of_state(request.action_id().as_str(), state.as_str());
        project(request, state, &effect, observed_at)
    }

    /// Takes stored bytes; `None` unless they are the whole, canonical result of this request in this state.
    pub(crate) fn restore(
        stored: &str,
        request: &ExecutionRequest,
        state: StateName,
    ) -> Option<Self> {
        if stored.len() > EXECUTION_RESULT_MAX_BYTES {
            return None;
        }
        let document = parse(stored.as_bytes()).ok()?;
        let members = document.as_object()?;
        let effect = Effect::read(members.get("effect")?).ok()?;
        let observed_at =
            EpochSeconds::from_f64(members.get("observed_at")?.as_number()?.to_f64())?;
        let own_effect = Effect::of_state(request.action_id().as_str(), state.as_str());
        if members.len() != FIELD_COUNT || (state != StateName::Completed && effect != own_effect) {
            return None;
        }
        // Everything but the effect and the time follows from the request.
        let expected = project(request, state, &effect, observed_at);
        (expected.0 == stored).then_some(expected)
    }
}

fn project(
    request: &ExecutionRequest,
    state: StateName,
    effect: &Effect,
    observed_at: EpochSeconds,
) -> ResultDocument {
    let members = Members::new()
        .with("schema", EXECUTION_RESULT_SCHEMA)
        .with("version", Number::ONE)
        .with(
            "execution_digest",
            request.execution_digest().to_string().as_str(),
        )
        .with("action_id", request.action_id().as_str())
        .with(
            "action_digest",
            request.action_digest().to_string().as_str(),
        )
        .with("intent_id", request.intent_id().as_str())
        .with(
            "intent_digest",
            request.intent_digest().to_string().as_str(),
        )
        .with("tool_name", request.tool_name().as_str())
        .with("status", state.as_str())
        .with("effect_state", state.effect_state())
        .with("effect", effect.document().clone())
        .with("effect_digest", effect.digest().to_string().as_str())
        .with("observed_at", observed_at.to_number());
    ResultDocument(canonical_json_utf8(&Value::Object(members)))
}
