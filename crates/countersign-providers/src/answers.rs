use countersign_canonical::Value;
use countersign_contract::{CallId, Profile, Status, VerifiedPackage};

use crate::{
    Family, Proposal, Refusal, Turn,
    render::{self, Destination},
    turn::ResponseIdentity,
};

/// The answers to the calls of one turn, until each has one.
///
/// Refused calls are answered from the start. [`Answers::finish`] renders the
/// whole turn only when no call is left open, since a provider refuses a
/// conversation in which a call has no answer, or two.
#[derive(Debug, Clone)]
pub struct Answers<'t> {
    turn: &'t Turn,
    // INVARIANT: one place for each proposal, in its order.
    texts: Vec<Option<AnswerText>>,
}

/// What the model reads as a call's answer.
#[derive(Debug, Clone)]
pub(crate) struct AnswerText {
    pub(crate) text: String,
    /// What a wrapped tool answered, which stands behind the text as it came.
    pub(crate) beside: Option<String>,
    pub(crate) is_error: bool,
}

/// Why an answer is not taken, or a turn not rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The package's call came through another protocol.
    #[error(
        "the result is for a call through {}, not through {}",
        .found.adapter_revision(), .expected.adapter_revision()
    )]
    OtherProfile {
        /// The protocol that is answered.
        expected: Profile,
        /// The protocol of the call.
        found: Profile,
    },
    /// The package's call is of another response.
    #[error("the result is for a call of another response")]
    OtherResponse,
    /// The turn has no such call.
    #[error("the turn has no call with this id")]
    NoSuchCall,
    /// The turn's call of this id has another name or other arguments.
    #[error("the result is for another call with the same id")]
    OtherCall,
    /// The call has its answer.
    #[error("the call is answered already")]
    AnsweredAlready,
    /// Calls are without an answer.
    #[error("{} of the turn's calls are not answered", .calls.len())]
    Open {
        /// Their ids, in order.
        calls: Vec<CallId>,
    },
}

impl Turn {
    /// Starts the turn's answers, with those of its refused calls.
    pub fn answers(&self) -> Answers<'_> {
        let texts = self
            .proposals
            .iter()
            .map(|proposal| proposal.refusal().map(AnswerText::from))
            .collect();
        Answers { turn: self, texts }
    }
}

impl Answers<'_> {
    /// Answers a call with its result, which carries the call's whole identity.
    pub fn give(&mut self, package: &VerifiedPackage<'_>) -> Result<(), AnswerError> {
        self.give_text(package, package.into())
    }

    /// Answers a call to a wrapped tool: with its result, whose data says what
    /// `upstream` hashes to, and behind it `upstream` as it came.
    pub fn give_with_upstream(
        &mut self,
        package: &VerifiedPackage<'_>,
        upstream: String,
    ) -> Result<(), AnswerError> {
        let text = AnswerText {
            beside: Some(upstream),
            ..package.into()
        };
        self.give_text(package, text)
    }

    /// Answers a call that turned out not to fit into a package.
    pub fn refuse(&mut self, call_id: &CallId, reason: Refusal) -> Result<(), AnswerError> {
        let (_, text) = self.place(call_id)?;
        take(text, reason.into())
    }

    /// The calls that have no answer yet, in order.
    pub fn open(&self) -> impl Iterator<Item = &CallId> {
        self.turn
            .proposals
            .iter()
            .zip(&self.texts)
            .filter(|(_, text)| text.is_none())
            .map(|(proposal, _)| proposal.call_id())
    }

    /// Renders the whole turn's answers in the provider's shape and the response's order.
    ///
    /// Nothing comes of a turn without calls. Otherwise:
    /// - OpenAI Responses: a list of items to append to `input`.
    /// - OpenAI Chat Completions: a list of messages to append to `messages`.
    /// - Anthropic Messages: one user message; further text goes behind its blocks.
    /// - Gemini Interactions: `input` and, if the response has an id, `previous_interaction_id`.
    /// - Gemini `generateContent`: one user content to append to `contents`.
    pub fn finish(self) -> Result<Option<Value>, AnswerError> {
        let calls: Vec<CallId> = self.open().cloned().collect();
        if !calls.is_empty() {
            return Err(AnswerError::Open { calls });
        }
        let Self { turn, texts } = self;
        if texts.is_empty() {
            return Ok(None);
        }
        let items = turn
            .proposals
            .iter()
            .zip(texts)
            .filter_map(|(proposal, text)| Some(render::item(turn.family, &proposal.into(), text?)))
            .collect();
        let previous = match &turn.response {
            ResponseIdentity::Given(id) => Some(id),
            ResponseIdentity::HostMade(_) => None,
        };
        Ok(Some(render::whole(turn.family, previous, items)))
    }

    fn give_text(
        &mut self,
        package: &VerifiedPackage<'_>,
        answer: AnswerText,
    ) -> Result<(), AnswerError> {
        let call = package.call();
        expect_profile(self.turn.family, package)?;
        if call.response_id != *self.turn.response_id() {
            return Err(AnswerError::OtherResponse);
        }
        let (proposal, text) = self.place(&call.call_id)?;
        let Proposal::Proposed(proposed) = proposal else {
            return Err(AnswerError::AnsweredAlready);
        };
        if proposed.name != call.name || proposed.arguments != *call.arguments.value() {
            return Err(AnswerError::OtherCall);
        }
        take(text, answer)
    }

    fn place(
        &mut self,
        call_id: &CallId,
    ) -> Result<(&Proposal, &mut Option<AnswerText>), AnswerError> {
        self.turn
            .proposals
            .iter()
            .zip(&mut self.texts)
            .find(|(proposal, _)| proposal.call_id() == call_id)
            .ok_or(AnswerError::NoSuchCall)
    }
}

/// Renders one result by itself, as the provider takes it, for a call whose id the provider gave.
///
/// A Gemini Interactions result comes as a whole continuation. To answer a
/// turn, use [`Turn::answers`]: it knows calls without ids, and their order.
pub fn payload(family: Family, package: &VerifiedPackage<'_>) -> Result<Value, AnswerError> {
    expect_profile(family, package)?;
    let call = package.call();
    let item = render::item(family, &Destination::of(call), package.into());
    Ok(match family {
        Family::GeminiInteractions => render::whole(family, Some(&call.response_id), vec![item]),
        Family::OpenAiResponses
        | Family::OpenAiChatCompletions
        | Family::AnthropicMessages
        | Family::GeminiGenerateContent => item,
    })
}

fn expect_profile(family: Family, package: &VerifiedPackage<'_>) -> Result<(), AnswerError> {
    let (expected, found) = (family.profile(), package.call().profile);
    if expected == found {
        Ok(())
    } else {
        Err(AnswerError::OtherProfile { expected, found })
    }
}

fn take(place: &mut Option<AnswerText>, text: AnswerText) -> Result<(), AnswerError> {
    if place.is_some() {
        return Err(AnswerError::AnsweredAlready);
    }
    *place = Some(text);
    Ok(())
}

impl From<Refusal> for AnswerText {
    fn from(reason: Refusal) -> Self {
        Self {
            text: reason.text(),
            beside: None,
            is_error: true,
        }
    }
}

impl From<&VerifiedPackage<'_>> for AnswerText {
    fn from(package: &VerifiedPackage<'_>) -> Self {
        Self {
            text: package.model_result().to_owned(),
            beside: None,
            is_error: package.status() != Status::Succeeded,
        }
    }
}
