use countersign_canonical::{Object, Value, parse};

use crate::{Label, ReadError, limits::RESPONSE_LIMITS};

/// Reads a raw response as an object, or says what it is instead.
pub(crate) fn open(raw: &[u8]) -> Result<Object, ReadError> {
    if looks_like_event_stream(raw) {
        return Err(ReadError::EventStream);
    }
    let found = match parse(raw, &RESPONSE_LIMITS)? {
        Value::Object(document) => {
            refuse_event(&document)?;
            return Ok(document);
        }
        Value::Array(items) => {
            // Gemini streams a list of responses unless asked for server-sent events.
            if let Some(Value::Object(first)) = items.first() {
                refuse_error(first)?;
                if first.contains_key("candidates") {
                    return Err(ReadError::EventStream);
                }
            }
            "a list"
        }
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
    };
    Err(ReadError::NotAnObject { found })
}

/// Refuses a document in which the provider reports an error instead of responding.
pub(crate) fn refuse_error(document: &Object) -> Result<(), ReadError> {
    let Some(error) = document.get("error").filter(|error| !error.is_null()) else {
        return Ok(());
    };
    // Google, OpenAI and Anthropic name the kind of error differently; Google's `code` is a number.
    let code = ["status", "code", "type"]
        .into_iter()
        .find_map(|key| error.get(key).and_then(Value::as_str))
        .map(Label::of);
    Err(ReadError::Provider { code })
}

/// Takes the text of a member, if it is text.
pub(crate) fn take_text(object: &mut Object, key: &str) -> Option<String> {
    match object.remove(key) {
        Some(Value::String(text)) => Some(text),
        Some(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_),
        )
        | None => None,
    }
}

/// Takes the items of a member that must be a list.
pub(crate) fn take_list(object: &mut Object, key: &'static str) -> Result<Vec<Value>, ReadError> {
    list(object.remove(key), key)
}

/// The items of a list, which stands `at`.
pub(crate) fn list(value: Option<Value>, at: &'static str) -> Result<Vec<Value>, ReadError> {
    match value {
        Some(Value::Array(items)) => Ok(items),
        Some(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_),
        )
        | None => Err(ReadError::Malformed {
            at,
            expected: "a list",
        }),
    }
}

/// The members of an object, which stands `at`.
pub(crate) fn object(value: Option<Value>, at: &'static str) -> Result<Object, ReadError> {
    match value {
        Some(Value::Object(object)) => Ok(object),
        Some(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        )
        | None => Err(ReadError::Malformed {
            at,
            expected: "an object",
        }),
    }
}

/// The text of a member, if it is text.
pub(crate) fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Takes the only item of a list of alternatives.
pub(crate) fn only(alternatives: Vec<Value>, member: &'static str) -> Result<Value, ReadError> {
    let count = alternatives.len();
    let mut alternatives = alternatives.into_iter();
    match (alternatives.next(), alternatives.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(ReadError::NoAlternative { member }),
        (Some(_), Some(_)) => Err(ReadError::SeveralAlternatives { member, count }),
    }
}

fn looks_like_event_stream(raw: &[u8]) -> bool {
    let text = raw.trim_ascii_start();
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"]
        .into_iter()
        .any(|field| text.starts_with(field))
}

/// Refuses a document that is one event of a stream, as its type tells.
fn refuse_event(document: &Object) -> Result<(), ReadError> {
    let by_object = text(document, "object").filter(|kind| *kind == "chat.completion.chunk");
    let by_type = text(document, "type").filter(|kind| {
        ["response.", "message_", "content_block_"]
            .into_iter()
            .any(|prefix| kind.starts_with(prefix))
    });
    let by_event_type = text(document, "event_type");
    match by_object.or(by_type).or(by_event_type) {
        Some(kind) => Err(ReadError::StreamEvent {
            kind: Label::of(kind),
        }),
        None => Ok(()),
    }
}
