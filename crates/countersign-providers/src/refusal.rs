/// Why a call was not let into the pipeline: nothing of it was executed.
///
/// The catalog is fixed. A refused call has no digest and so no package; it is
/// answered with the text of its refusal ([`Refusal::text`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// The response was cut off, and this call may be cut with it.
    Truncated,
    /// The provider took the response back: a filter, a refusal, a block.
    Withheld,
    /// The response ended in a way that does not say that it is complete.
    Unfinished,
    /// The call has no id, and its protocol requires one.
    CallIdMissing,
    /// The call's id is blank or longer than 255 characters.
    CallIdInvalid,
    /// Another call of the response has the same id.
    CallIdDuplicate,
    /// The tool's name is missing, blank or longer than 255 characters.
    NameInvalid,
    /// The tool's name stands in a namespace, where it may mean another tool.
    Namespaced,
    /// The tool takes free text instead of an object.
    FreeText,
    /// The call has a type or a shape that is not known.
    ShapeUnknown,
    /// The arguments are not in the form of the protocol: a string where an
    /// object is due, or the reverse.
    ArgumentsForm,
    /// The arguments are not strict JSON.
    ArgumentsNotJson,
    /// The arguments are JSON, but no object.
    ArgumentsNotObject,
    /// The arguments are larger or deeper than allowed.
    ArgumentsTooLarge,
    /// The name or the arguments are outside the value domain of the tool's contract.
    OutsideDomain,
    /// The host could not take the call: its ledger or clock failed before anything ran.
    HostUnavailable,
}

/// The schema version of a refusal's text.
pub const REFUSAL_SCHEMA: &str = "call-refusal-v1";

impl Refusal {
    /// Every refusal.
    pub const ALL: [Self; 16] = [
        Self::Truncated,
        Self::Withheld,
        Self::Unfinished,
        Self::CallIdMissing,
        Self::CallIdInvalid,
        Self::CallIdDuplicate,
        Self::NameInvalid,
        Self::Namespaced,
        Self::FreeText,
        Self::ShapeUnknown,
        Self::ArgumentsForm,
        Self::ArgumentsNotJson,
        Self::ArgumentsNotObject,
        Self::ArgumentsTooLarge,
        Self::OutsideDomain,
        Self::HostUnavailable,
    ];

    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Truncated => "CALL_TRUNCATED",
            Self::Withheld => "CALL_WITHHELD",
            Self::Unfinished => "CALL_UNFINISHED",
            Self::CallIdMissing => "CALL_ID_MISSING",
            Self::CallIdInvalid => "CALL_ID_INVALID",
            Self::CallIdDuplicate => "CALL_ID_DUPLICATE",
            Self::NameInvalid => "TOOL_NAME_INVALID",
            Self::Namespaced => "TOOL_NAMESPACED",
            Self::FreeText => "TOOL_FREE_TEXT",
            Self::ShapeUnknown => "CALL_SHAPE_UNKNOWN",
            Self::ArgumentsForm => "ARGUMENTS_FORM",
            Self::ArgumentsNotJson => "ARGUMENTS_NOT_JSON",
            Self::ArgumentsNotObject => "ARGUMENTS_NOT_OBJECT",
            Self::ArgumentsTooLarge => "ARGUMENTS_TOO_LARGE",
            Self::OutsideDomain => "ARGUMENTS_OUTSIDE_DOMAIN",
            Self::HostUnavailable => "HOST_UNAVAILABLE",
        }
    }

    /// The sentence the model reads.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Truncated => {
                "The response was cut off before this call was complete. Nothing was executed. Make the call again."
            }
            Self::Withheld => {
                "The provider withheld the response that made this call. Nothing was executed."
            }
            Self::Unfinished => {
                "The response that made this call did not finish normally. Nothing was executed."
            }
            Self::CallIdMissing => "This call has no id. Nothing was executed.",
            Self::CallIdInvalid => "This call's id is blank or too long. Nothing was executed.",
            Self::CallIdDuplicate => {
                "Several calls of this response have the same id. None of them was executed. Make each call again with its own id."
            }
            Self::NameInvalid => "The tool name is missing or not valid. Nothing was executed.",
            Self::Namespaced => {
                "Tools in namespaces or toolsets are not served here. Nothing was executed."
            }
            Self::FreeText => {
                "Tools that take free text are not served here. Nothing was executed."
            }
            Self::ShapeUnknown => "This kind of call is not served here. Nothing was executed.",
            Self::ArgumentsForm => {
                "The arguments are not in the form this protocol uses. Nothing was executed."
            }
            Self::ArgumentsNotJson => "The arguments are not valid JSON. Nothing was executed.",
            Self::ArgumentsNotObject => {
                "The arguments are not a JSON object. Nothing was executed."
            }
            Self::ArgumentsTooLarge => {
                "The arguments are too large or nested too deeply. Nothing was executed."
            }
            Self::OutsideDomain => {
                "The arguments hold values outside the range this tool accepts. Nothing was executed."
            }
            Self::HostUnavailable => {
                "The host cannot take this call for now. Nothing was executed."
            }
        }
    }

    /// What the model can do about it, in the words of the error catalog of Tool Result v2.
    pub const fn recovery(self) -> &'static str {
        match self {
            Self::Withheld | Self::HostUnavailable => "none",
            Self::Truncated
            | Self::Unfinished
            | Self::CallIdMissing
            | Self::CallIdInvalid
            | Self::CallIdDuplicate
            | Self::NameInvalid
            | Self::Namespaced
            | Self::FreeText
            | Self::ShapeUnknown
            | Self::ArgumentsForm
            | Self::ArgumentsNotJson
            | Self::ArgumentsNotObject
            | Self::ArgumentsTooLarge
            | Self::OutsideDomain => "correct_input",
        }
    }

    /// The whole text that answers the call: canonical JSON, the same each time.
    pub fn text(self) -> String {
        // INVARIANT: keys are in canonical order, and nothing in the catalog needs an escape.
        format!(
            concat!(
                r#"{{"error":{{"code":"{code}","recovery":"{recovery}","safe_message":"{message}"}},"#,
                r#""execution":{{"outcome":"not_started"}},"schema_version":"{schema}","status":"failed"}}"#
            ),
            code = self.code(),
            recovery = self.recovery(),
            message = self.message(),
            schema = REFUSAL_SCHEMA,
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use countersign_canonical::{Limits, Utf8, encode, parse};

    use super::*;

    #[test]
    fn every_text_is_canonical_and_has_its_own_code() {
        let mut codes = BTreeSet::new();
        for refusal in Refusal::ALL {
            let text = refusal.text();
            let value = parse(text.as_bytes(), &Limits::tool_result()).unwrap();
            assert_eq!(String::from_utf8(encode::<Utf8>(&value)).unwrap(), text);
            assert!(codes.insert(refusal.code()), "{refusal:?}");
        }
    }
}
