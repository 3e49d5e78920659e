//! The two canonical encodings: keys by code point, no white space, and two ways to write text.
//!
//! Both are on the wire for good. They differ only in how characters are escaped,
//! so each has its own function and its own digest type, and nothing is generic over them.

use sha2::{Digest as _, Sha256};

use crate::digest::{AsciiDigest, Utf8Digest};
use crate::grammar::plain_run;
use crate::value::{Members, Value};

/// Writes the ASCII-escaped canonical form: everything outside U+0020 to U+007E is escaped.
pub fn canonical_json_ascii(value: &Value) -> String {
    write_canonical(value, push_ascii_text)
}

/// Writes the UTF-8 canonical form: only controls below U+0020 are escaped.
pub fn canonical_json_utf8(value: &Value) -> String {
    write_canonical(value, push_utf8_text)
}

/// Digests the ASCII-escaped canonical form.
pub fn sha256_json_ascii(value: &Value) -> AsciiDigest {
    AsciiDigest::from_bytes(Sha256::digest(canonical_json_ascii(value)).into())
}

/// Digests the UTF-8 canonical form.
pub fn sha256_json_utf8(value: &Value) -> Utf8Digest {
    Utf8Digest::from_bytes(Sha256::digest(canonical_json_utf8(value)).into())
}

type PushText = fn(&mut Vec<u8>, &str);

/// A first guess that spares a typical request its reallocations.
const TYPICAL_BYTES: usize = 2048;

fn write_canonical(value: &Value, push_text: PushText) -> String {
    let mut out = Vec::with_capacity(TYPICAL_BYTES);
    push_value(&mut out, value, push_text);
    // Every piece pushed is whole UTF-8, so nothing is ever replaced.
    String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Recursion is as deep as the value; the parser and the effect check bound that.
fn push_value(out: &mut Vec<u8>, value: &Value, push_text: PushText) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => number.write(out),
        Value::Text(text) => push_text(out, text),
        Value::Array(values) => {
            out.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_value(out, value, push_text);
            }
            out.push(b']');
        }
        Value::Object(members) => push_members(out, members, push_text),
    }
}

fn push_members(out: &mut Vec<u8>, members: &Members, push_text: PushText) {
    out.push(b'{');
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_text(out, key);
        out.push(b':');
        push_value(out, value, push_text);
    }
    out.push(b'}');
}

fn push_ascii_text(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    push_escaped(out, text, is_plain, |out, character| {
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            push_unit_escape(out, *unit);
        }
    });
}

fn push_utf8_text(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    push_escaped(out, text, is_plain, |out, character| {
        push_unit_escape(out, character as u16);
    });
}

/// Copies runs of plain bytes and escapes the characters between them.
fn push_escaped(
    out: &mut Vec<u8>,
    text: &str,
    is_plain: impl Fn(u8) -> bool,
    push_other: impl Fn(&mut Vec<u8>, char),
) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let run = plain_run(rest.as_bytes(), &is_plain);
        let (plain, others) = rest.split_at_checked(run).unwrap_or((rest, ""));
        out.extend_from_slice(plain.as_bytes());
        let mut characters = others.chars();
        match characters.next() {
            None => break,
            Some('"') => out.extend_from_slice(b"\\\""),
            Some('\\') => out.extend_from_slice(b"\\\\"),
            Some('\n') => out.extend_from_slice(b"\\n"),
            Some('\r') => out.extend_from_slice(b"\\r"),
            Some('\t') => out.extend_from_slice(b"\\t"),
            Some('\u{8}') => out.extend_from_slice(b"\\b"),
            Some('\u{c}') => out.extend_from_slice(b"\\f"),
            Some(character) => push_other(out, character),
        }
        rest = characters.as_str();
    }
    out.push(b'"');
}

fn push_unit_escape(out: &mut Vec<u8>, unit: u16) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        let nibble = u32::from(unit >> shift & 0xf);
        let digit = char::from_digit(nibble, 16).unwrap_or('0');
        out.push(digit as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms_escape_differently() {
        let value = Value::from("a\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}/\u{7f}\u{80}é中😀\u{2028}");
        assert_eq!(
            canonical_json_ascii(&value),
            r#""a\"\\\n\r\t\b\f\u0001\u001f/\u007f\u0080\u00e9\u4e2d\ud83d\ude00\u2028""#
        );
        assert_eq!(
            canonical_json_utf8(&value),
            "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f/\u{7f}\u{80}é中😀\u{2028}\""
        );
    }

    #[test]
    fn documents_are_written_sorted_and_without_space() {
        let value = crate::parser::parse(
            br#" { "b" : [1, 1.0, -0, -0.0, {}], "": null, "a": true, "\u00e9": [] } "#,
        )
        .expect("strict JSON");
        assert_eq!(
            canonical_json_utf8(&value),
            r#"{"":null,"a":true,"b":[1,1.0,0,-0.0,{}],"é":[]}"#
        );
        assert_eq!(
            canonical_json_ascii(&value),
            r#"{"":null,"a":true,"b":[1,1.0,0,-0.0,{}],"\u00e9":[]}"#
        );
    }

    #[test]
    fn known_digests() {
        let empty = Value::Object(Members::new());
        let expected = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(sha256_json_ascii(&empty).to_string(), expected);
        assert_eq!(sha256_json_utf8(&empty).to_string(), expected);
    }
}
