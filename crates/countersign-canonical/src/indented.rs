use crate::{Utf8, Value, encode::write_value, sink::Sink, text::write_text};

const INDENT: &[u8] = b"  ";

/// Writes a value for people: sorted keys, two spaces a level, text as it is.
///
/// The same bytes as Python's `json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)`. Never hashed.
pub fn indented(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_indented(value, 0, &mut bytes);
    bytes
}

fn write_indented(value: &Value, depth: usize, bytes: &mut Vec<u8>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let mut before: &[u8] = b"[";
            for item in items {
                start_line(before, depth + 1, bytes);
                write_indented(item, depth + 1, bytes);
                before = b",";
            }
            start_line(b"", depth, bytes);
            bytes.write(b"]");
        }
        Value::Object(object) if !object.is_empty() => {
            let mut before: &[u8] = b"{";
            for (key, member) in object.iter() {
                start_line(before, depth + 1, bytes);
                write_text::<Utf8, _>(key, bytes);
                bytes.write(b": ");
                write_indented(member, depth + 1, bytes);
                before = b",";
            }
            start_line(b"", depth, bytes);
            bytes.write(b"}");
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => write_value::<Utf8, _>(value, bytes),
    }
}

fn start_line(end_of_last: &[u8], depth: usize, bytes: &mut Vec<u8>) {
    bytes.write(end_of_last);
    bytes.write(b"\n");
    for _ in 0..depth {
        bytes.write(INDENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, parse};

    #[test]
    fn writes_what_python_writes() {
        let value = parse(
            r#"{"b":[1,[],{}],"a":{"é":"x\n"},"c":null}"#.as_bytes(),
            &Limits::tool_result(),
        );
        let text = String::from_utf8(indented(&value.unwrap())).unwrap();
        assert_eq!(
            text,
            "{\n  \"a\": {\n    \"é\": \"x\\n\"\n  },\n  \"b\": [\n    1,\n    [],\n    {}\n  ],\n  \"c\": null\n}"
        );
    }
}
