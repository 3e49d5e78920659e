use countersign_canonical::{Object, Value};

use crate::{
    Family, Label, ReadError,
    document::{refuse_error, text},
};

const MAX_SEEN: usize = 8;

/// Tells which family a response is of, by marks that only that family has.
pub(crate) fn identify(document: &Object) -> Result<Family, ReadError> {
    let mut marked = Family::ALL
        .into_iter()
        .filter(|family| bears_mark(document, *family));
    match (marked.next(), marked.next()) {
        (Some(family), None) => Ok(family),
        (Some(first), Some(second)) => Err(ReadError::Ambiguous { first, second }),
        (None, _) => {
            refuse_error(document)?;
            let seen = document.keys().take(MAX_SEEN).map(Label::of).collect();
            Err(ReadError::Unrecognized { seen })
        }
    }
}

/// Checks a response against the family that the caller named.
///
/// A document without marks passes, since servers that speak a family's
/// protocol leave them out; one with the marks of another does not.
pub(crate) fn confirm(document: &Object, expected: Family) -> Result<(), ReadError> {
    if bears_mark(document, expected) {
        return Ok(());
    }
    match Family::ALL
        .into_iter()
        .find(|family| bears_mark(document, *family))
    {
        Some(found) => Err(ReadError::OtherFamily { expected, found }),
        None => refuse_error(document),
    }
}

fn bears_mark(document: &Object, family: Family) -> bool {
    let kind = text(document, "object");
    let is_list = |key| matches!(document.get(key), Some(Value::Array(_)));
    match family {
        Family::OpenAiResponses => kind == Some("response"),
        Family::OpenAiChatCompletions => {
            kind == Some("chat.completion") || (kind.is_none() && is_list("choices"))
        }
        Family::AnthropicMessages => {
            text(document, "type") == Some("message") && is_list("content")
        }
        Family::GeminiInteractions => {
            kind == Some("interaction")
                || (kind.is_none() && is_list("steps") && text(document, "status").is_some())
        }
        Family::GeminiGenerateContent => {
            is_list("candidates") || document.contains_key("promptFeedback")
        }
    }
}
