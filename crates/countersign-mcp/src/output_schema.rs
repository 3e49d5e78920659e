//! Whether a tool's answer is what its pinned schema says.

mod extent;

use std::fmt;

use countersign_canonical::{NumberKind, Utf8, Value, encode};
use jsonschema::{PatternOptions, Validator};

/// The longest schema, in bytes of its canonical form.
pub const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// How far a regular expression of a schema may backtrack, and how large it may become.
const MAX_BACKTRACKING: usize = 100_000;
const MAX_REGEX_BYTES: usize = 1 << 20;

/// A pinned output schema, ready to judge.
///
/// JSON Schema 2020-12 where it names no other dialect. It is never completed from the network or from files (2026-07-28, Base
/// Protocol, `$ref` Resolution). For the judgement alone, integers beyond 64 bits are taken for the nearest double; what is
/// passed on is never made of that.
pub struct OutputSchema {
    validator: Validator,
}

/// Why a schema cannot judge. Its text is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputSchemaError {
    /// It is longer than allowed.
    #[error("the output schema is longer than {MAX_SCHEMA_BYTES} bytes")]
    TooLong,
    /// Its references multiply, or stand too deep within each other.
    #[error("the output schema is too much once its references are followed")]
    TooMuch,
    /// It is no schema of its dialect, or refers to something outside of itself.
    #[error("the output schema is not valid by itself")]
    Invalid,
}

/// Why an answer is not what was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputFault {
    /// There has to be `structuredContent`, and there is none.
    #[error("the answer has no structuredContent, which the tool's output schema demands")]
    Missing,
    /// It is not what the schema says.
    #[error("the answer's structuredContent is not what the tool's output schema says")]
    Broken,
}

impl OutputSchema {
    /// Prepares a schema; nothing where the tool has none.
    pub fn compile(schema: &Value) -> Result<Option<Self>, OutputSchemaError> {
        if schema.is_null() {
            return Ok(None);
        }
        if encode::<Utf8>(schema).len() > MAX_SCHEMA_BYTES {
            return Err(OutputSchemaError::TooLong);
        }
        if !extent::is_bounded(schema) {
            return Err(OutputSchemaError::TooMuch);
        }
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_BACKTRACKING)
            .size_limit(MAX_REGEX_BYTES)
            .dfa_size_limit(MAX_REGEX_BYTES);
        let built = jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(&foreign(schema));
        built
            .map(|validator| Some(Self { validator }))
            .map_err(|_| OutputSchemaError::Invalid)
    }

    /// Judges a result. One that says it is an error is not held against the schema.
    pub fn judge(&self, result: &Value) -> Result<(), OutputFault> {
        if is_error(result) {
            return Ok(());
        }
        let content = result
            .get("structuredContent")
            .ok_or(OutputFault::Missing)?;
        if self.validator.is_valid(&foreign(content)) {
            Ok(())
        } else {
            Err(OutputFault::Broken)
        }
    }
}

/// Whether a tool's result says that the tool failed.
#[must_use]
pub fn is_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool) == Some(true)
}

/// The value for the validator's eyes.
fn foreign(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match number.kind() {
            NumberKind::Integer(integer) => integer.into(),
            NumberKind::Float(float) => float.into(),
            NumberKind::BigInteger(digits) => match digits.parse::<u64>() {
                Ok(integer) => integer.into(),
                Err(_) => digits.parse::<f64>().unwrap_or(f64::MAX).into(),
            },
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(foreign).collect(),
        Value::Object(object) => {
            let members = object
                .iter()
                .map(|(name, value)| (name.to_owned(), foreign(value)));
            serde_json::Value::Object(members.collect())
        }
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OutputSchema")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};

    use super::*;

    fn json(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::passthrough()).unwrap()
    }

    #[test]
    fn answers_are_judged_by_their_structured_content() {
        let schema =
            json(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#);
        let schema = OutputSchema::compile(&schema).unwrap().unwrap();
        for (result, verdict) in [
            (r#"{"content":[],"structuredContent":{"n":1}}"#, Ok(())),
            (
                r#"{"content":[],"structuredContent":{"n":123456789012345678901234567890}}"#,
                Ok(()),
            ),
            (
                r#"{"content":[],"structuredContent":{"n":"1"}}"#,
                Err(OutputFault::Broken),
            ),
            (
                r#"{"content":[],"structuredContent":null}"#,
                Err(OutputFault::Broken),
            ),
            (r#"{"content":[{"n":1}]}"#, Err(OutputFault::Missing)),
            (r#"{"content":[],"isError":true}"#, Ok(())),
            (
                r#"{"content":[],"isError":"true"}"#,
                Err(OutputFault::Missing),
            ),
        ] {
            assert_eq!(schema.judge(&json(result)), verdict, "{result}");
        }
        assert!(OutputSchema::compile(&Value::Null).unwrap().is_none());
    }

    #[test]
    fn nothing_is_fetched() {
        for schema in [
            r#"{"$ref":"http://127.0.0.1:1/x.json"}"#,
            r#"{"$ref":"file:///etc/passwd"}"#,
            r#"{"$ref":"other.json"}"#,
            r#"{"type":"no such type"}"#,
            r#"{"$schema":"https://example.com/dialect"}"#,
        ] {
            let compiled = OutputSchema::compile(&json(schema));
            assert_eq!(compiled.err(), Some(OutputSchemaError::Invalid), "{schema}");
        }
        let within = r##"{"$defs":{"a":{"type":"string"}},"$ref":"#/$defs/a"}"##;
        assert!(OutputSchema::compile(&json(within)).unwrap().is_some());
        let long = format!(r#"{{"title":"{}"}}"#, "a".repeat(MAX_SCHEMA_BYTES));
        assert_eq!(
            OutputSchema::compile(&json(&long)).err(),
            Some(OutputSchemaError::TooLong)
        );
    }

    #[test]
    fn a_regular_expression_does_not_run_away() {
        let schema = json(r#"{"type":"string","pattern":"^(a+)+(?=b)$"}"#);
        let schema = OutputSchema::compile(&schema).unwrap().unwrap();
        let result = format!(r#"{{"structuredContent":"{}"}}"#, "a".repeat(60));
        assert_eq!(schema.judge(&json(&result)), Err(OutputFault::Broken));
    }
}
