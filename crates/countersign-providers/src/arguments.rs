use countersign_canonical::{ErrorClass, Object, Value, parse};

use crate::{Refusal, limits::ARGUMENT_LIMITS};

/// Reads arguments that the protocol carries as JSON text.
///
/// Exactly those characters are parsed. Text that ends early is refused, never completed.
pub(crate) fn from_text(value: Option<Value>) -> Result<Object, Refusal> {
    let Some(Value::String(text)) = value else {
        return Err(Refusal::ArgumentsForm);
    };
    match parse(text.as_bytes(), &ARGUMENT_LIMITS) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => Err(Refusal::ArgumentsNotObject),
        Err(error) => Err(match error.class() {
            ErrorClass::Limit | ErrorClass::Depth => Refusal::ArgumentsTooLarge,
            ErrorClass::Parse | ErrorClass::Domain => Refusal::ArgumentsNotJson,
        }),
    }
}

/// Reads arguments that the protocol carries as an object.
///
/// A string is refused even when it holds JSON: what a string means is the
/// tool's business, and an object in it was never an object.
pub(crate) fn from_object(value: Option<Value>) -> Result<Object, Refusal> {
    match value {
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(Value::Array(_)) => Err(Refusal::ArgumentsNotObject),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
            Err(Refusal::ArgumentsForm)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_parsed_as_it_stands() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for (text, expected) in [
            ("{}", Ok(0)),
            (" {\"a\": 1, \"b\": 2}\n", Ok(2)),
            ("{\"id\": 12345678901234567890123}", Ok(1)),
            ("", Err(Refusal::ArgumentsNotJson)),
            ("{\"a\": 1", Err(Refusal::ArgumentsNotJson)),
            ("{\"a\": 1}}", Err(Refusal::ArgumentsNotJson)),
            ("{\"a\": 1, \"a\": 2}", Err(Refusal::ArgumentsNotJson)),
            ("{\"a\": NaN}", Err(Refusal::ArgumentsNotJson)),
            ("{'a': 1}", Err(Refusal::ArgumentsNotJson)),
            ("[1]", Err(Refusal::ArgumentsNotObject)),
            ("null", Err(Refusal::ArgumentsNotObject)),
            ("\"{}\"", Err(Refusal::ArgumentsNotObject)),
            (deep.as_str(), Err(Refusal::ArgumentsTooLarge)),
        ] {
            let read = from_text(Some(Value::from(text))).map(|arguments| arguments.len());
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn neither_form_is_taken_for_the_other() {
        let object = || Some(Value::Object(Object::new()));
        let text = || Some(Value::from("{}"));
        assert_eq!(from_text(object()), Err(Refusal::ArgumentsForm));
        assert_eq!(from_object(text()), Err(Refusal::ArgumentsForm));
        assert_eq!(from_object(object()), Ok(Object::new()));
        assert_eq!(from_object(None), Err(Refusal::ArgumentsForm));
    }
}
