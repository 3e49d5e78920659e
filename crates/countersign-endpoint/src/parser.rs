//! The endpoint's strict JSON parser.
//!
//! It accepts one document and nothing around it, checks every limit while
//! reading, and never recovers: what it returns is what is validated and hashed.

use crate::grammar::{exceeds_chars, plain_run};
use crate::number::Number;
use crate::value::{Members, Value};

/// The longest execution request, in bytes.
pub const REQUEST_MAX_BYTES: usize = 32 * 1024;

/// The longest canonical ASCII form of a request, in bytes.
///
/// One byte of a request (U+007F) grows to at most six.
pub const STORED_REQUEST_MAX_BYTES: usize = 6 * REQUEST_MAX_BYTES;

/// The most values and keys of a document, together.
pub const NODES_MAX: usize = 1024;

/// The deepest value; the root is at depth 0.
pub const DEPTH_MAX: usize = 16;

/// The longest text or key, in code points.
pub const TEXT_MAX_CHARS: usize = 16_000;

/// Parses a request body: at most [`REQUEST_MAX_BYTES`], and all the other limits of this module.
pub fn parse(input: &[u8]) -> Result<Value, ParseError> {
    parse_within(input, REQUEST_MAX_BYTES)
}

/// Parses text that is already known to belong to a request, in whatever spelling.
///
/// Escapes make the same document up to six times as long, so the bound is
/// [`STORED_REQUEST_MAX_BYTES`]; all other limits are those of [`parse`].
pub fn parse_respelled(input: &[u8]) -> Result<Value, ParseError> {
    parse_within(input, STORED_REQUEST_MAX_BYTES)
}

/// Why and where a document was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct ParseError {
    kind: ParseErrorKind,
    offset: usize,
}

impl ParseError {
    /// What is wrong.
    pub fn kind(&self) -> ParseErrorKind {
        self.kind
    }

    /// The byte offset at which it was noticed.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

/// What made a document unacceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// More bytes than allowed.
    #[error("the document is too long")]
    TooManyBytes,
    /// Bytes that are not UTF-8.
    #[error("the document is not UTF-8")]
    NotUtf8,
    /// A byte order mark in front.
    #[error("a byte order mark is not allowed")]
    ByteOrderMark,
    /// The document stops too early.
    #[error("the document ends too early")]
    UnexpectedEnd,
    /// A character that cannot stand here.
    #[error("unexpected character")]
    UnexpectedCharacter,
    /// Something after the document.
    #[error("text after the document")]
    TrailingText,
    /// Digits that are no JSON number.
    #[error("malformed number")]
    MalformedNumber,
    /// A number beyond the range of doubles.
    #[error("the number is not finite")]
    NumberNotFinite,
    /// An integer whose magnitude exceeds `2^63 - 1`.
    #[error("the integer has more than 63 bits")]
    IntegerTooLarge,
    /// An unknown or cut-off escape sequence.
    #[error("malformed escape sequence")]
    MalformedEscape,
    /// A control character that must be escaped.
    #[error("unescaped control character")]
    ControlCharacter,
    /// U+0000 in a text.
    #[error("the text contains U+0000")]
    NulCharacter,
    /// Half of a surrogate pair.
    #[error("lone surrogate")]
    LoneSurrogate,
    /// A text or key with too many code points.
    #[error("the text is too long")]
    TextTooLong,
    /// A key that the object already has.
    #[error("the key occurs twice")]
    DuplicateKey,
    /// Too many values and keys.
    #[error("the document has too many values")]
    TooManyNodes,
    /// Too many containers around a value.
    #[error("the document is nested too deeply")]
    TooDeep,
}

fn parse_within(input: &[u8], bytes_maximum: usize) -> Result<Value, ParseError> {
    let fail = |kind, offset| Err(ParseError { kind, offset });
    if input.len() > bytes_maximum {
        return fail(ParseErrorKind::TooManyBytes, bytes_maximum);
    }
    let text = match std::str::from_utf8(input) {
        Ok(text) => text,
        Err(error) => return fail(ParseErrorKind::NotUtf8, error.valid_up_to()),
    };
    if text.starts_with('\u{feff}') {
        return fail(ParseErrorKind::ByteOrderMark, 0);
    }
    let mut parser = Parser {
        text,
        at: 0,
        nodes: 0,
    };
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return fail(ParseErrorKind::TrailingText, parser.at);
    }
    Ok(value)
}

struct Parser<'input> {
    text: &'input str,
    // INVARIANT: a character boundary of `text` between any two tokens.
    at: usize,
    nodes: usize,
}

impl Parser<'_> {
    /// Recursion is bounded by [`DEPTH_MAX`].
    fn value(&mut self, depth: usize) -> Result<Value, ParseError> {
        self.skip_space();
        if depth > DEPTH_MAX {
            return self.fail(ParseErrorKind::TooDeep);
        }
        self.count_node()?;
        match self.peek() {
            Some(b'{') => self.object(depth).map(Value::Object),
            Some(b'[') => self.array(depth).map(Value::Array),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(_) | None => self.fail_here(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Members, ParseError> {
        self.at += 1;
        let mut members = Members::new();
        self.skip_space();
        if self.take_if(b'}') {
            return Ok(members);
        }
        loop {
            self.skip_space();
            let key_at = self.at;
            if self.peek() != Some(b'"') {
                return self.fail_here();
            }
            self.count_node()?;
            let key = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            if !members.insert_new(key, value) {
                return Err(ParseError {
                    kind: ParseErrorKind::DuplicateKey,
                    offset: key_at,
                });
            }
            self.skip_space();
            if self.take_if(b'}') {
                return Ok(members);
            }
            self.expect(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Value>, ParseError> {
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.take_if(b']') {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take_if(b']') {
                return Ok(values);
            }
            self.expect(b',')?;
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, ParseError> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        self.fail(ParseErrorKind::UnexpectedCharacter)
    }

    fn number(&mut self) -> Result<Number, ParseError> {
        let start = self.at;
        let fail = |kind| {
            Err(ParseError {
                kind,
                offset: start,
            })
        };
        self.take_if(b'-');
        // A leading zero stands alone; what follows it is refused by whoever reads on.
        if !self.take_if(b'0') && self.skip_digits() == 0 {
            return fail(ParseErrorKind::MalformedNumber);
        }
        let mut integral = true;
        if self.take_if(b'.') {
            integral = false;
            if self.skip_digits() == 0 {
                return fail(ParseErrorKind::MalformedNumber);
            }
        }
        if self.take_if(b'e') || self.take_if(b'E') {
            integral = false;
            if !self.take_if(b'+') {
                self.take_if(b'-');
            }
            if self.skip_digits() == 0 {
                return fail(ParseErrorKind::MalformedNumber);
            }
        }
        let written = self.text.get(start..self.at).unwrap_or_default();
        if integral {
            let number = written.parse().ok().and_then(Number::from_integer);
            return number.map_or_else(|| fail(ParseErrorKind::IntegerTooLarge), Ok);
        }
        let number = written.parse().ok().and_then(Number::from_float);
        number.map_or_else(|| fail(ParseErrorKind::NumberNotFinite), Ok)
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let run = self.rest();
            let length = plain_run(run.as_bytes(), |byte| {
                byte >= 0x20 && byte != b'"' && byte != b'\\'
            });
            text.push_str(run.get(..length).unwrap_or_default());
            self.at += length;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.fail(ParseErrorKind::ControlCharacter),
                None => return self.fail(ParseErrorKind::UnexpectedEnd),
            }
        }
        self.at += 1;
        if exceeds_chars(&text, TEXT_MAX_CHARS) {
            return Err(ParseError {
                kind: ParseErrorKind::TextTooLong,
                offset: start,
            });
        }
        Ok(text)
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else {
            return self.fail(ParseErrorKind::UnexpectedEnd);
        };
        let character = match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode_escape(start);
            }
            _ => {
                return Err(ParseError {
                    kind: ParseErrorKind::MalformedEscape,
                    offset: start,
                });
            }
        };
        self.at += 1;
        Ok(character)
    }

    /// Reads after `\u`: one unit, or the two halves of a surrogate pair.
    fn unicode_escape(&mut self, start: usize) -> Result<char, ParseError> {
        let fail = |kind| {
            Err(ParseError {
                kind,
                offset: start,
            })
        };
        let high = self.hex_unit(start)?;
        if high == 0 {
            return fail(ParseErrorKind::NulCharacter);
        }
        let scalar = if (0xd800..0xdc00).contains(&high) {
            if !self.rest().starts_with("\\u") {
                return fail(ParseErrorKind::LoneSurrogate);
            }
            self.at += 2;
            let low = self.hex_unit(start)?;
            if !(0xdc00..0xe000).contains(&low) {
                return fail(ParseErrorKind::LoneSurrogate);
            }
            0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
        } else {
            high
        };
        // What is left here is a low half that no high half preceded.
        char::from_u32(scalar).map_or_else(|| fail(ParseErrorKind::LoneSurrogate), Ok)
    }

    fn hex_unit(&mut self, start: usize) -> Result<u32, ParseError> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        // `from_str_radix` alone would take a sign.
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ParseError {
                kind: ParseErrorKind::MalformedEscape,
                offset: start,
            });
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| ParseError {
            kind: ParseErrorKind::MalformedEscape,
            offset: start,
        })
    }

    fn count_node(&mut self) -> Result<(), ParseError> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return self.fail(ParseErrorKind::TooManyNodes);
        }
        Ok(())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn skip_digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.take_if(byte) {
            Ok(())
        } else {
            self.fail_here()
        }
    }

    fn take_if(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail_here<T>(&self) -> Result<T, ParseError> {
        self.fail(match self.peek() {
            Some(_) => ParseErrorKind::UnexpectedCharacter,
            None => ParseErrorKind::UnexpectedEnd,
        })
    }

    fn fail<T>(&self, kind: ParseErrorKind) -> Result<T, ParseError> {
        Err(ParseError {
            kind,
            offset: self.at,
        })
    }
}

#[cfg(test)]
mod tests;
