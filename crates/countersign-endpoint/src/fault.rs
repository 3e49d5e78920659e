//! What is wrong with a request, as values that never carry the request's own text.

use std::fmt;

use crate::parser::ParseError;

/// Why a request body was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The body is not a strict JSON document within the limits.
    #[error("the request is not acceptable JSON: {0}")]
    Document(#[from] ParseError),
    /// The document breaks the contract.
    #[error("the request breaks the contract: {0}")]
    Contract(Faults),
}

/// The faults of a document, in the order of the contract's fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn new(found: Vec<Fault>) -> Self {
        Self(found)
    }

    /// All faults.
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("; ")?;
            }
            fault.fmt(formatter)?;
        }
        Ok(())
    }
}

/// One fault: where, and what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {kind}")]
pub struct Fault {
    location: Location,
    kind: FaultKind,
}

impl Fault {
    pub(crate) fn new(location: Location, kind: FaultKind) -> Self {
        Self { location, kind }
    }

    /// Where the fault is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// What the fault is.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }
}

/// A place in an execution request.
///
/// Only names of the contract and the catalog appear, never a key that a stranger chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// The document as a whole.
    Document,
    /// A member of the document.
    Field(&'static str),
    /// A member of `approval`.
    ApprovalField(&'static str),
    /// An argument that the catalog knows.
    Argument(String),
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => formatter.write_str("document"),
            Self::Field(name) => formatter.write_str(name),
            Self::ApprovalField(name) => write!(formatter, "approval.{name}"),
            Self::Argument(name) => write!(formatter, "args.{name}"),
        }
    }
}

/// What is wrong at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Not an object.
    #[error("must be an object")]
    NotAnObject,
    /// A required member is absent.
    #[error("is required")]
    Missing,
    /// A member that the contract does not know.
    #[error("has a field that the contract does not know")]
    UnknownField,
    /// Not a text.
    #[error("must be text")]
    NotText,
    /// Too many code points.
    #[error("must have at most {maximum} characters")]
    TooLong {
        /// The most code points allowed.
        maximum: usize,
    },
    /// U+0000 in a text.
    #[error("contains a forbidden character")]
    ForbiddenCharacter,
    /// Nothing but white space.
    #[error("must not be blank")]
    Blank,
    /// Outside the identifier grammar.
    #[error("is not a canonical identifier")]
    NotAnIdentifier,
    /// Not one of the values listed.
    #[error("is not one of the allowed values")]
    NotAllowed,
    /// Not an integer; a float or a boolean is none.
    #[error("must be an integer")]
    NotAnInteger,
    /// Not a number; a boolean is none.
    #[error("must be a number")]
    NotANumber,
    /// Not a boolean.
    #[error("must be true or false")]
    NotABoolean,
    /// Outside the range of the argument.
    #[error("is outside its allowed range")]
    OutOfRange,
    /// Too many values, or nested too deeply.
    #[error("has too many values or is nested too deeply")]
    TooComplex,
    /// Another schema.
    #[error("names another schema")]
    WrongSchema,
    /// Neither `1` nor `1.0`.
    #[error("must be the number 1")]
    NotOne,
    /// Not 64 lower-case hexadecimal digits.
    #[error("must be 64 lower-case hexadecimal digits")]
    NotADigest,
    /// Not the digest of what it stands for.
    #[error("is not the digest of what was sent")]
    DigestMismatch,
    /// Not a canonical version 4 UUID.
    #[error("must be a canonical version 4 UUID")]
    NotAnActionId,
    /// Another action than the path names.
    #[error("differs from the action that the path names")]
    OtherAction,
    /// Not an intent id.
    #[error("is not an intent id")]
    NotAnIntentId,
    /// Not an approval id.
    #[error("is not an approval id")]
    NotAnApprovalId,
    /// A tool that the catalog does not have.
    #[error("names a tool that is not in the catalog")]
    UnknownTool,
    /// Zero or below.
    #[error("must be above zero")]
    NotPositive,
    /// The approval's lifetime is not positive or exceeds a day.
    #[error("must be later than decided_at by at most 86400 seconds")]
    Lifetime,
}
