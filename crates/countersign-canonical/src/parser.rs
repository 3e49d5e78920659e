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
    Object {
        members: Vec<(String, Value)>,
        key: String,
        first_key: usize,
        ascending: bool,
    },
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
                let Some(container) = self.open.pop() else {
                    return Ok(value);
                };
                step = match container {
                    Container::Array(items) => self.after_item(items, value)?,
                    Container::Object {
                        members,
                        key,
                        first_key,
                        ascending,
                    } => self.after_member(members, (key, value), first_key, ascending)?,
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
        self.open.push(Container::Array(Vec::new()));
        Ok(Step::ValueDue)
    }

    fn begin_object(&mut self) -> Result<Step, Fault> {
        self.enter()?;
        if self.cursor.peek_token() == Some(b'}') {
            self.cursor.advance();
            return Ok(Step::Complete(Value::Object(Object::new())));
        }
        let first_key = self.key_offsets.len();
        let key = self.key()?;
        self.open.push(Container::Object {
            members: Vec::new(),
            key,
            first_key,
            ascending: true,
        });
        Ok(Step::ValueDue)
    }

    fn after_item(&mut self, mut items: Vec<Value>, item: Value) -> Result<Step, Fault> {
        items.push(item);
        match self.cursor.peek_token() {
            Some(b',') => {
                self.cursor.advance();
                self.more_members(items.len())?;
                self.open.push(Container::Array(items));
                Ok(Step::ValueDue)
            }
            Some(b']') => {
                self.cursor.advance();
                Ok(Step::Complete(Value::Array(items)))
            }
            Some(_) | None => Err(self.cursor.fault(ParseErrorKind::ExpectedCommaOrBracket)),
        }
    }

    fn after_member(
        &mut self,
        mut members: Vec<(String, Value)>,
        member: (String, Value),
        first_key: usize,
        ascending: bool,
    ) -> Result<Step, Fault> {
        let ascending = ascending && members.last().is_none_or(|last| last.0 < member.0);
        members.push(member);
        match self.cursor.peek_token() {
            Some(b',') => {
                self.cursor.advance();
                self.more_members(members.len())?;
                let key = self.key()?;
                self.open.push(Container::Object {
                    members,
                    key,
                    first_key,
                    ascending,
                });
                Ok(Step::ValueDue)
            }
            Some(b'}') => {
                self.cursor.advance();
                if !ascending {
                    self.sort(&mut members, first_key)?;
                }
                self.key_offsets.truncate(first_key);
                Ok(Step::Complete(Value::Object(Object::from_sorted(members))))
            }
            Some(_) | None => Err(self.cursor.fault(ParseErrorKind::ExpectedCommaOrBrace)),
        }
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

    fn more_members(&mut self, held: usize) -> Result<(), Fault> {
        let limit = self.limits.members;
        if held >= limit {
            self.cursor.peek_token();
            return Err(self.cursor.fault(ParseErrorKind::TooManyMembers { limit }));
        }
        Ok(())
    }

    fn sort(&self, members: &mut [(String, Value)], first_key: usize) -> Result<(), Fault> {
        members.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        if members.is_sorted_by(|left, right| left.0 < right.0) {
            Ok(())
        } else {
            Err(self.duplicate_key(first_key))
        }
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
