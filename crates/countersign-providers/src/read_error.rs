use countersign_canonical::ParseError;
use countersign_contract::IdentifierError;

use crate::{Family, Label};

/// Why no turn could be read from a document.
///
/// Messages name what was expected and what was seen, never a provider's free
/// text: error messages of providers are known to repeat keys and prompts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The document is not strict JSON within the limits.
    #[error("the response cannot be read: {0}")]
    Json(#[from] ParseError),
    /// The document is a stream of events instead of one response.
    #[error(
        "this is a streamed response; pass the whole response of a request without streaming, \
         or the final response object that the stream ends with"
    )]
    EventStream,
    /// The document is one event of a stream.
    #[error("this is one event of a streamed response ({kind}); pass the whole response")]
    StreamEvent {
        /// The event's type.
        kind: Label,
    },
    /// The document is a list or a bare value.
    #[error("a response is a JSON object, and this is {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// Nothing tells which provider made it.
    #[error(
        "no provider family is recognized; the document's members are: {}",
        members(.seen)
    )]
    Unrecognized {
        /// Its first members.
        seen: Vec<Label>,
    },
    /// It carries the marks of two families.
    #[error("the document could be of {first} or of {second}; name the family")]
    Ambiguous {
        /// One of them.
        first: Family,
        /// The other.
        second: Family,
    },
    /// It is of another family than the caller said.
    #[error("the document is of {found}, not of {expected}")]
    OtherFamily {
        /// What the caller said.
        expected: Family,
        /// What it is.
        found: Family,
    },
    /// The provider answered with an error instead of a response.
    #[error("the provider answered with an error{}", in_parentheses(.code.as_ref()))]
    Provider {
        /// The provider's code for it, if it gave one.
        code: Option<Label>,
    },
    /// The provider blocked the prompt, so that there is no response.
    #[error("the provider blocked the prompt{}", in_parentheses(.reason.as_ref()))]
    Blocked {
        /// The provider's reason, if it gave one.
        reason: Option<Label>,
    },
    /// The response is still being made.
    #[error("the response is not finished ({status}); fetch it again when it is")]
    NotFinished {
        /// The response's status.
        status: Label,
    },
    /// There is no alternative to take.
    #[error("`{member}` is empty: the response holds nothing")]
    NoAlternative {
        /// The list of alternatives.
        member: &'static str,
    },
    /// There are several alternatives, and only one can go on.
    #[error("`{member}` holds {count} alternatives; ask the provider for one")]
    SeveralAlternatives {
        /// The list of alternatives.
        member: &'static str,
        /// How many there are.
        count: usize,
    },
    /// The document was written by an SDK, with other member names than the provider's.
    #[error("`{member}` is a name that SDKs use; pass the provider's raw response instead")]
    SdkNames {
        /// The member's name.
        member: &'static str,
    },
    /// A member is missing or of another type.
    #[error("`{at}` must be {expected}")]
    Malformed {
        /// Where.
        at: &'static str,
        /// What is due there.
        expected: &'static str,
    },
    /// The response's id cannot name a response.
    #[error("the response's id {0}")]
    ResponseId(IdentifierError),
    /// The response has more items than any real one.
    #[error("the response has more than {limit} items")]
    TooManyItems {
        /// The bound.
        limit: usize,
    },
    /// The response has more calls than any real one.
    #[error("the response has more than {limit} tool calls")]
    TooManyCalls {
        /// The bound.
        limit: usize,
    },
}

fn members(seen: &[Label]) -> String {
    if seen.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<&str> = seen.iter().map(Label::as_str).collect();
    names.join(", ")
}

fn in_parentheses(code: Option<&Label>) -> String {
    code.map_or_else(String::new, |code| format!(" ({code})"))
}
