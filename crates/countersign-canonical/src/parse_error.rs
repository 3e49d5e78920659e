use std::fmt;

use crate::Limits;

/// Why a document was refused, and where.
///
/// The message never repeats what the document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    kind: ParseErrorKind,
    offset: usize,
    line: usize,
    column: usize,
}

/// What is wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The input is longer than allowed.
    #[error("the document is longer than {limit} bytes")]
    TooManyBytes {
        /// The bound, in bytes.
        limit: usize,
    },
    /// The input is not UTF-8.
    #[error("the document is not valid UTF-8")]
    InvalidUtf8,
    /// The input starts with a byte order mark.
    #[error("the document starts with a byte order mark")]
    ByteOrderMark,
    /// The input ends inside of a value, or before one.
    #[error("the document ends too early")]
    UnexpectedEnd,
    /// Something else stands where a value is due.
    #[error("a value is due here")]
    ExpectedValue,
    /// Something else stands where a member's name is due.
    #[error("a name in double quotes is due here")]
    ExpectedKey,
    /// Something else stands where a colon is due.
    #[error("a colon is due here")]
    ExpectedColon,
    /// Something else stands where an item has ended.
    #[error("a comma or a closing bracket is due here")]
    ExpectedCommaOrBracket,
    /// Something else stands where a member has ended.
    #[error("a comma or a closing brace is due here")]
    ExpectedCommaOrBrace,
    /// There is more behind the value.
    #[error("there is text behind the end of the document")]
    TrailingText,
    /// A number is not written as JSON writes them.
    #[error("this is not a number as JSON writes it")]
    InvalidNumber,
    /// An integer is longer than any reader must take.
    #[error(
        "this integer has more than {} digits",
        ParseErrorKind::MAX_INTEGER_DIGITS
    )]
    IntegerTooLong,
    /// NaN or an infinity, which JSON does not have.
    #[error("JSON has neither NaN nor infinities")]
    NonFiniteConstant,
    /// A number that no double holds.
    #[error("this number is too large for a double")]
    FloatOverflow,
    /// A control character stands in a string without being escaped.
    #[error("a control character in a string must be escaped")]
    ControlCharacter,
    /// A backslash is followed by something that is no escape.
    #[error("this is not an escape that JSON has")]
    InvalidEscape,
    /// An escaped surrogate is not one of a pair.
    #[error("this escape is one half of a surrogate pair")]
    LoneSurrogate,
    /// An object has two members of the same name.
    #[error("this name appears twice in its object")]
    DuplicateKey,
    /// Containers are nested deeper than allowed.
    #[error("the document is nested deeper than {limit} levels")]
    TooDeep {
        /// The bound, in containers open at once.
        limit: usize,
    },
    /// The document has more values than allowed.
    #[error("the document has more than {limit} values")]
    TooManyNodes {
        /// The bound, in values.
        limit: usize,
    },
    /// A string or name is longer than allowed.
    #[error("this string is longer than {limit} characters")]
    StringTooLong {
        /// The bound, in code points.
        limit: usize,
    },
    /// An array or object has more members than allowed.
    #[error("there are more than {limit} members here")]
    TooManyMembers {
        /// The bound, in members.
        limit: usize,
    },
}

/// The kinds of errors that callers answer differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The input is not strict JSON.
    Parse,
    /// The input is nested too deeply, whether it is JSON or not.
    Depth,
    /// The input is JSON, but one of its numbers has no value.
    Domain,
    /// The input exceeds another limit of the caller.
    Limit,
}

/// An error before its line and column are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) kind: ParseErrorKind,
    pub(crate) offset: usize,
}

impl ParseError {
    pub(crate) fn at(kind: ParseErrorKind, input: &[u8], offset: usize) -> Self {
        let before = input.get(..offset).unwrap_or(input);
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        Self {
            kind,
            offset,
            line: before.split(|byte| *byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(in_line).chars().count(),
        }
    }

    /// What is wrong.
    pub fn kind(&self) -> ParseErrorKind {
        self.kind
    }

    /// The class that callers tell apart.
    pub fn class(&self) -> ErrorClass {
        self.kind.class()
    }

    /// Bytes before the error.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The line of the error, from 1. Lines end with a line feed.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the error in code points, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind, line, column, ..
        } = self;
        write!(formatter, "{kind} (line {line}, column {column})")
    }
}

impl std::error::Error for ParseError {}

impl ParseErrorKind {
    /// The digits an integer may have, as in Python since 3.11.
    pub const MAX_INTEGER_DIGITS: usize = 4_300;

    /// The class that callers tell apart.
    pub fn class(self) -> ErrorClass {
        match self {
            Self::InvalidUtf8
            | Self::ByteOrderMark
            | Self::UnexpectedEnd
            | Self::ExpectedValue
            | Self::ExpectedKey
            | Self::ExpectedColon
            | Self::ExpectedCommaOrBracket
            | Self::ExpectedCommaOrBrace
            | Self::TrailingText
            | Self::InvalidNumber
            | Self::IntegerTooLong
            | Self::NonFiniteConstant
            | Self::ControlCharacter
            | Self::InvalidEscape
            | Self::LoneSurrogate
            | Self::DuplicateKey => ErrorClass::Parse,
            Self::TooDeep { .. } => ErrorClass::Depth,
            Self::FloatOverflow => ErrorClass::Domain,
            Self::TooManyBytes { .. }
            | Self::TooManyNodes { .. }
            | Self::StringTooLong { .. }
            | Self::TooManyMembers { .. } => ErrorClass::Limit,
        }
    }

    pub(crate) fn too_deep(limits: &Limits) -> Self {
        Self::TooDeep {
            limit: limits.effective_depth(),
        }
    }
}
