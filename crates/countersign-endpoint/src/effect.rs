//! The effect of an action: what a handler reports, bounded before it is believed.

use crate::digest::Utf8Digest;
use crate::encoding::{canonical_json_utf8, sha256_json_utf8};
use crate::grammar::{exceeds_chars, is_safe_id};
use crate::number::Number;
use crate::value::{Members, Value};

/// The schema of an effect.
pub const EFFECT_SCHEMA: &str = "ColonyGovernedActionEffectV1";
/// The longest effect, in bytes of its UTF-8 canonical form.
pub const EFFECT_MAX_BYTES: usize = 8 * 1024;
/// The most values of a verification, itself included; keys do not count.
pub const VERIFICATION_NODES_MAX: usize = 256;
/// The deepest value of a verification; the verification is at depth 0.
pub const VERIFICATION_DEPTH_MAX: usize = 6;
/// The longest text in a verification, in code points.
pub const VERIFICATION_TEXT_MAX_CHARS: usize = 2_048;

/// A bounded effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    // INVARIANT: exactly the fields of the schema, in bounds.
    document: Value,
    digest: Utf8Digest,
}

/// Why an effect was not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EffectError {
    /// The effect has other fields, or a field of another type.
    #[error("the effect has not exactly its fields")]
    Shape,
    /// The effect's id is not a safe id.
    #[error("the effect id is not a safe id of at most 256 characters")]
    EffectId,
    /// The outcome is not a safe id.
    #[error("the outcome is not a safe id of at most 256 characters")]
    Outcome,
    /// The verification has too many values or is nested too deeply.
    #[error("the verification has too many values or is nested too deeply")]
    TooComplex,
    /// A key of the verification is not a safe id.
    #[error("a key of the verification is not a safe id")]
    Key,
    /// A text of the verification is too long or has a control character.
    #[error("a text of the verification is too long or has a control character")]
    Text,
    /// The whole is too long.
    #[error("the effect is longer than {EFFECT_MAX_BYTES} bytes")]
    TooLong,
}

impl Effect {
    /// Makes an effect of what a handler reports.
    pub fn new(effect_id: &str, outcome: &str, verification: Members) -> Result<Self, EffectError> {
        let holds = |holds, error| if holds { Ok(()) } else { Err(error) };
        holds(is_safe_id(effect_id), EffectError::EffectId)?;
        holds(is_safe_id(outcome), EffectError::Outcome)?;
        // Bounded before written: the encoder recurses as deep as the value.
        check_members(&verification, 0, &mut 1)?;
        let effect = Self::assemble(effect_id, outcome, verification);
        holds(
            canonical_json_utf8(&effect.document).len() <= EFFECT_MAX_BYTES,
            EffectError::TooLong,
        )?;
        Ok(effect)
    }

    /// Reads an effect back from a result. A version written `1.0` becomes `1`.
    pub(crate) fn read(value: &Value) -> Result<Self, EffectError> {
        let members = value.as_object().ok_or(EffectError::Shape)?;
        let text = |name| {
            members
                .get(name)
                .and_then(Value::as_text)
                .ok_or(EffectError::Shape)
        };
        let is_version = members
            .get("version")
            .and_then(Value::as_number)
            .is_some_and(Number::is_one);
        let verification = members.get("verification").and_then(Value::as_object);
        if members.len() != 5 || text("schema")? != EFFECT_SCHEMA || !is_version {
            return Err(EffectError::Shape);
        }
        Self::new(
            text("effect_id")?,
            text("outcome")?,
            verification.ok_or(EffectError::Shape)?.clone(),
        )
    }

    /// The effect of an action that has not completed: its id, and its state twice.
    ///
    /// Ids and states are in bounds by their own grammar.
    pub(crate) fn of_state(action_id: &str, state: &'static str) -> Self {
        Self::assemble(action_id, state, Members::new().with("state", state))
    }

    /// The digest of the effect's UTF-8 canonical form.
    pub fn digest(&self) -> Utf8Digest {
        self.digest
    }

    /// The effect as a document.
    pub fn document(&self) -> &Value {
        &self.document
    }

    fn assemble(effect_id: &str, outcome: &str, verification: Members) -> Self {
        let document = Value::Object(
            Members::new()
                .with("schema", EFFECT_SCHEMA)
                .with("version", Number::ONE)
                .with("effect_id", effect_id)
                .with("outcome", outcome)
                .with("verification", verification),
        );
        let digest = sha256_json_utf8(&document);
        Self { document, digest }
    }
}

fn check(value: &Value, depth: usize, nodes: &mut usize) -> Result<(), EffectError> {
    *nodes += 1;
    if *nodes > VERIFICATION_NODES_MAX || depth > VERIFICATION_DEPTH_MAX {
        return Err(EffectError::TooComplex);
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::Text(text) => {
            let is_control = |character: char| character < ' ' || character == '\u{7f}';
            if exceeds_chars(text, VERIFICATION_TEXT_MAX_CHARS) || text.chars().any(is_control) {
                return Err(EffectError::Text);
            }
            Ok(())
        }
        Value::Array(values) => values
            .iter()
            .try_for_each(|value| check(value, depth + 1, nodes)),
        Value::Object(members) => check_members(members, depth, nodes),
    }
}

fn check_members(members: &Members, depth: usize, nodes: &mut usize) -> Result<(), EffectError> {
    members.iter().try_for_each(|(key, value)| {
        if !is_safe_id(key) {
            return Err(EffectError::Key);
        }
        check(value, depth + 1, nodes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    fn verify(verification: &str) -> Result<Effect, EffectError> {
        let value = parse(verification.as_bytes()).expect("strict JSON");
        Effect::new("eff-1", "done", value.into_object().expect("an object"))
    }

    #[test]
    fn verifications_are_bounded_on_both_sides() {
        let list = |items: usize| verify(&format!(r#"{{"l":[{}]}}"#, vec!["0"; items].join(",")));
        assert!(list(254).is_ok());
        assert_eq!(list(255), Err(EffectError::TooComplex));

        let deep = |lists: usize| {
            verify(&format!(
                r#"{{"d":{}1{}}}"#,
                "[".repeat(lists),
                "]".repeat(lists)
            ))
        };
        assert!(deep(5).is_ok(), "the number is at depth 6");
        assert_eq!(deep(6), Err(EffectError::TooComplex));

        let text = |chars: usize| verify(&format!(r#"{{"x":"{}"}}"#, "é".repeat(chars)));
        assert!(text(2_048).is_ok());
        assert_eq!(text(2_049), Err(EffectError::Text));
        for control in ["\\u001f", "\\n", "\u{7f}"] {
            assert_eq!(
                verify(&format!(r#"{{"x":"a{control}b"}}"#)),
                Err(EffectError::Text)
            );
        }
        assert!(
            verify(r#"{"x":"\u0080\u2028"}"#).is_ok(),
            "only controls below U+0020 and U+007F"
        );

        for bad in ["", "bad key", "-bad", "é1", "k\\n", &*"k".repeat(257)] {
            assert_eq!(
                verify(&format!(r#"{{"{bad}":1}}"#)),
                Err(EffectError::Key),
                "{bad}"
            );
        }
        assert!(verify(r#"{"a@b":9223372036854775807,"f":1.0,"n":[]}"#).is_ok());
    }

    #[test]
    fn effects_end_at_eight_kibibytes() {
        let of_length = |last: usize| {
            verify(&format!(
                r#"{{"a":"{0}","b":"{0}","c":"{0}","d":"{1}"}}"#,
                "x".repeat(2_048),
                "x".repeat(last)
            ))
        };
        let fixed = canonical_json_utf8(of_length(0).expect("short").document()).len();
        assert!(of_length(EFFECT_MAX_BYTES - fixed).is_ok());
        assert_eq!(
            of_length(EFFECT_MAX_BYTES - fixed + 1),
            Err(EffectError::TooLong)
        );
    }

    #[test]
    fn ids_and_outcomes_are_safe_ids() {
        for (id, outcome, error) in [
            ("bad id", "done", EffectError::EffectId),
            ("", "done", EffectError::EffectId),
            ("eff\n", "done", EffectError::EffectId),
            ("eff", "", EffectError::Outcome),
            ("eff", "d\u{e9}", EffectError::Outcome),
        ] {
            assert_eq!(
                Effect::new(id, outcome, Members::new()),
                Err(error),
                "{id:?}"
            );
        }
        assert!(Effect::new("a@b", &"o".repeat(256), Members::new()).is_ok());
    }
}
