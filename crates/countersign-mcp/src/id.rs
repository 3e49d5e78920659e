//! A request's id, exactly as its sender wrote it.

use std::fmt;

use countersign_canonical::{NumberKind, Utf8, Value, encode};

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 1024;

/// The id of a request: an integer or a text, of at most 1024 bytes. `1` and `"1"` are two ids.
///
/// MCP has no other kinds (2025-11-25, Base Protocol, Requests: "a string or integer ID", never null).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// An integer, as its decimal digits.
    Integer(Box<str>),
    /// A text.
    Text(Box<str>),
}

impl RequestId {
    /// The id that a value is; nothing where it is none.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let id = Self::of_any_length(value)?;
        let (Self::Integer(text) | Self::Text(text)) = &id;
        (text.len() <= MAX_ID_BYTES).then_some(id)
    }

    fn of_any_length(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.as_str().into())),
            Value::Number(number) => match number.kind() {
                NumberKind::Integer(integer) => Some(Self::Integer(integer.to_string().into())),
                NumberKind::BigInteger(digits) => Some(Self::Integer(digits.into())),
                NumberKind::Float(_) => None,
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The id as it stands in a message.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Integer(digits) => digits.to_string(),
            Self::Text(text) => json_text(text),
        }
    }
}

/// A text as a JSON string.
pub(crate) fn json_text(text: &str) -> String {
    let bytes = encode::<Utf8>(&Value::from(text));
    String::from_utf8(bytes).unwrap_or_default()
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_json())
    }
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};

    use super::*;

    #[test]
    fn ids_are_exact() {
        for (json, known) in [
            ("1", true),
            ("-7", true),
            ("123456789012345678901234567890", true),
            ("\"1\"", true),
            ("\"\\u0000\\n\"", true),
            ("1.0", false),
            ("1e2", false),
            ("null", false),
            ("true", false),
            ("[1]", false),
        ] {
            let value = parse(json.as_bytes(), &Limits::passthrough()).unwrap();
            let id = RequestId::from_value(&value);
            assert_eq!(id.is_some(), known, "{json}");
            if let Some(id) = id {
                let again = parse(id.to_json().as_bytes(), &Limits::passthrough()).unwrap();
                assert_eq!(again, value, "{json}");
            }
        }
        for (bytes, known) in [(MAX_ID_BYTES, true), (MAX_ID_BYTES + 1, false)] {
            let long = Value::from("x".repeat(bytes));
            assert_eq!(RequestId::from_value(&long).is_some(), known);
        }
        let number = RequestId::Integer("1".into());
        assert_ne!(number, RequestId::Text("1".into()));
    }
}
