use std::collections::BTreeSet;

use crate::{
    Limits, Object, ParseError, ParseErrorKind, Value,
    cursor::{Cursor, NumberToken},
    depth_scan::first_too_deep,
    parse_error::Fault,
};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads one strict JSON document.
///
/// Strict: UTF-8 without a byte order mark, nothing behind the value, unique
/// keys, no lone surrogates, no control characters in strings, neither NaN nor
/// infinities. `-0` is the integer 0; a fraction or an exponent makes a float.
///
/// # Errors
///
/// The length of the input comes first, then its UTF-8, then its nesting, even
/// behind an error of syntax; all other errors come in the order of the text.
/// A float beyond all doubles is an error only of a document without any other.
pub fn parse(input: &[u8], limits: &Limits) -> Result<Value, ParseError> {
    let at = |kind, offset| ParseError::at(kind, input, offset);
    if input.len() > limits.bytes {
        let limit = limits.bytes;
        return Err(at(ParseErrorKind::TooManyBytes { limit }, limit));
    }
    let text = str::from_utf8(input)
        .map_err(|error| at(ParseErrorKind::InvalidUtf8, error.valid_up_to()))?;
    Parser::new(text, limits).document().map_err(|fault| {
        match first_too_deep(input, limits.effective_depth()) {
            Some(offset) => at(ParseErrorKind::too_deep(limits), offset),
            None => at(fault.kind, fault.offset),
        }
    })
}

struct Parser<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
    limits: &'a Limits,
    depth: usize,
    nodes: usize,
    open: Vec<Container>,
    // Where the keys of all open objects start, innermost last.
    key_offsets: Vec<usize>,
    overflow: Option<usize>,
}

/// A container whose end has not been seen.
enum Container {
    Array(Vec<Value>),
    Object(OpenObject),
}

/// An object whose end has not been seen, and whose last key waits for its value.
struct OpenObject {
    members: Vec<(String, Value)>,
    key: String,
    // The index in `key_offsets` of the object's first key.
    first_key: usize,
    ascending: bool,
}

/// What follows a token.
enum Step {
    /// A value is complete.
    Complete(Value),
    /// A container is open and its first or next value is due.
    ValueDue,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, limits: &'a Limits) -> Self {
        Self {
            text,
            cursor: Cursor::new(text),
            limits,
            depth: limits.effective_depth(),
            nodes: 0,
            open: Vec::new(),
            key_offsets: Vec::new(),
            overflow: None,
        }
    }

    fn document(mut self) -> Result<Value, Fault> {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            return Err(self.cursor.fault(ParseErrorKind::ByteOrderMark));
        }
        let value = self.root()?;
        if self.cursor.peek_token().is_some() {
            return Err(self.cursor.fault(ParseErrorKind::TrailingText));
        }
        match self.overflow {
            None => Ok(value),
            Some(offset) => Err(Fault {
                kind: ParseErrorKind::FloatOverflow,
                offset,
            }),
        }
    }

    fn root(&mut self) -> Result<Value, Fault> {
        loop {
            let mut step = self.begin_value()?;
            while let Step::Complete(value) = step {
                step = match self.open.last_mut() {
                    None => return Ok(value),
                    Some(Container::Array(items)) => {
                        items.push(value);
                        let held = items.len();
                        self.after_item(held)?
                    }
                    Some(Container::Object(object)) => {
                        object.complete(value);
                        let held = object.members.len();
                        self.after_member(held)?
                    }
                };
            }
        }
    }

    /// Reads a whole scalar or an empty container, or opens a container.
    fn begin_value(&mut self) -> Result<Step, Fault> {
        let byte = self.cursor.peek_token();
        if self.nodes >= self.limits.nodes {
            let limit = self.limits.nodes;
            return Err(self.cursor.fault(ParseErrorKind::TooManyNodes { limit }));
        }
        self.nodes += 1;
        let value = match byte {
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'[') => return self.begin_array(),
            Some(b'{') => return self.begin_object(),
            Some(b't') => self.cursor.literal("true").map(|()| Value::Bool(true))?,
            Some(b'f') => self.cursor.literal("false").map(|()| Value::Bool(false))?,
            Some(b'n') => self.cursor.literal("null").map(|()| Value::Null)?,
            Some(_) | None => return Err(self.cursor.no_value()),
        };
        Ok(Step::Complete(value))
    }

    fn begin_array(&mut self) -> Result<Step, Fault> {
        self.enter()?;
        if self.cursor.peek_token() == Some(b']') {
            self.cursor.advance();
            return Ok(Step::Complete(Value::Array(Vec::new())));
        }
        self.room_for_more(0)?;
        self.open.push(Container::Array(Vec::new()));
        Ok(Step::ValueDue)
    }

    fn begin_object(&mut self) -> Result<Step, Fault> {
        self.enter()?;
        if self.cursor.peek_token() == Some(b'}') {
            self.cursor.advance();
            return Ok(Step::Complete(Value::Object(Object::new())));
        }
        self.room_for_more(0)?;
        let first_key = self.key_offsets.len();
        let key = self.key()?;
        self.open.push(Container::Object(OpenObject {
            members: Vec::new(),
            key,
            first_key,
            ascending: true,
        }));
        Ok(Step::ValueDue)
    }

    fn after_item(&mut self, held: usize) -> Result<Step, Fault> {
        match self.cursor.peek_token() {
            Some(b',') => {
                self.cursor.advance();
                self.room_for_more(held)?;
                Ok(Step::ValueDue)
            }
            Some(b']') => {
                self.cursor.advance();
                self.close()
            }
            Some(_) | None => Err(self.cursor.fault(ParseErrorKind::ExpectedCommaOrBracket)),
        }
    }

    fn after_member(&mut self, held: usize) -> Result<Step, Fault> {
        match self.cursor.peek_token() {
            Some(b',') => {
                self.cursor.advance();
                self.room_for_more(held)?;
                let key = self.key()?;
                if let Some(Container::Object(object)) = self.open.last_mut() {
                    object.key = key;
                }
                Ok(Step::ValueDue)
            }
            Some(b'}') => {
                self.cursor.advance();
                self.close()
            }
            Some(_) | None => Err(self.cursor.fault(ParseErrorKind::ExpectedCommaOrBrace)),
        }
    }

    /// Completes the innermost container.
    fn close(&mut self) -> Result<Step, Fault> {
        let value = match self.open.pop() {
            // INVARIANT: a container is open wherever its end can be read.
            None => Value::Null,
            Some(Container::Array(items)) => Value::Array(items),
            Some(Container::Object(object)) => {
                let first_key = object.first_key;
                let Some(object) = object.close() else {
                    return Err(self.duplicate_key(first_key));
                };
                self.key_offsets.truncate(first_key);
                Value::Object(object)
            }
        };
        Ok(Step::Complete(value))
    }

    /// Reads a name and the colon behind it.
    fn key(&mut self) -> Result<String, Fault> {
        if self.cursor.peek_token() != Some(b'"') {
            return Err(self.cursor.fault(ParseErrorKind::ExpectedKey));
        }
        self.key_offsets.push(self.cursor.offset());
        let key = self.string()?;
        if self.cursor.peek_token() != Some(b':') {
            return Err(self.cursor.fault(ParseErrorKind::ExpectedColon));
        }
        self.cursor.advance();
        Ok(key)
    }

    fn string(&mut self) -> Result<String, Fault> {
        let offset = self.cursor.offset();
        let text = self.cursor.string()?;
        let limit = self.limits.string_chars;
        if text.len() > limit && text.chars().count() > limit {
            let kind = ParseErrorKind::StringTooLong { limit };
            return Err(Fault { kind, offset });
        }
        Ok(text)
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let offset = self.cursor.offset();
        match self.cursor.number()? {
            NumberToken::Finite(number) => Ok(Value::Number(number)),
            NumberToken::Overflow => {
                self.overflow.get_or_insert(offset);
                Ok(Value::Null)
            }
        }
    }

    /// Steps over an opening bracket.
    fn enter(&mut self) -> Result<(), Fault> {
        if self.open.len() >= self.depth {
            return Err(self.cursor.fault(ParseErrorKind::too_deep(self.limits)));
        }
        self.cursor.advance();
        Ok(())
    }

    fn room_for_more(&mut self, held: usize) -> Result<(), Fault> {
        let limit = self.limits.members;
        if held >= limit {
            self.cursor.peek_token();
            return Err(self.cursor.fault(ParseErrorKind::TooManyMembers { limit }));
        }
        Ok(())
    }

    /// Finds the first key that repeats one of its object, by reading the keys again.
    #[cold]
    fn duplicate_key(&self, first_key: usize) -> Fault {
        let mut seen = BTreeSet::new();
        let offsets = self.key_offsets.get(first_key..).unwrap_or_default();
        let repeated = offsets.iter().copied().find(|offset| {
            let key = Cursor::at(self.text, *offset).string();
            key.is_ok_and(|key| !seen.insert(key))
        });
        Fault {
            kind: ParseErrorKind::DuplicateKey,
            offset: repeated.unwrap_or(self.cursor.offset()),
        }
    }
}

impl OpenObject {
    fn complete(&mut self, value: Value) {
        let key = std::mem::take(&mut self.key);
        self.ascending &= self.members.last().is_none_or(|last| last.0 < key);
        self.members.push((key, value));
    }

    /// The finished object, unless two members have the same key.
    fn close(self) -> Option<Object> {
        let mut members = self.members;
        if !self.ascending {
            members.sort_unstable_by(|left, right| left.0.cmp(&right.0));
            if !members.is_sorted_by(|left, right| left.0 < right.0) {
                return None;
            }
        }
        Some(Object::from_sorted(members))
    }
}
