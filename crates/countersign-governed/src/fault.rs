//! What is wrong with a document: every reason, each with its place.

use std::fmt;

use countersign_canonical::{Object, Value};

use crate::grammar::Grammar;
use crate::place::{Path, Place};

/// Most faults that are listed; the rest is counted.
pub const FAULTS_LISTED: usize = 64;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    place: Place,
    reason: Reason,
}

impl Fault {
    pub(crate) fn new(path: &Path<'_>, reason: impl Into<Reason>) -> Self {
        Self {
            place: path.place(),
            reason: reason.into(),
        }
    }

    /// Shows where.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Shows what.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.reason)
    }
}

/// Everything that is wrong with one document, in the order it was found; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    listed: Vec<Fault>,
    omitted: usize,
}

impl Faults {
    /// Lists the faults, the first [`FAULTS_LISTED`] of them.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.listed.iter()
    }

    /// Shows the listed faults as a JSON array of `{class, message, place}`.
    pub fn to_value(&self) -> Value {
        let fault = |fault: &Fault| {
            Value::Object(Object::from_iter([
                ("class".to_owned(), Value::from(fault.reason.class())),
                ("message".to_owned(), Value::from(fault.reason.to_string())),
                ("place".to_owned(), Value::from(fault.place.as_str())),
            ]))
        };
        Value::Array(self.listed.iter().map(fault).collect())
    }

    /// Counts the faults that are not listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self {
            listed: vec![fault],
            omitted: 0,
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.listed.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            fault.fmt(formatter)?;
        }
        if self.omitted > 0 {
            write!(formatter, "\nand {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Collects faults while a document is read.
#[derive(Default)]
pub(crate) struct Report {
    listed: Vec<Fault>,
    omitted: usize,
}

impl Report {
    pub(crate) fn add(&mut self, path: &Path<'_>, reason: impl Into<Reason>) {
        if self.listed.len() < FAULTS_LISTED {
            self.listed.push(Fault::new(path, reason));
        } else {
            self.omitted = self.omitted.saturating_add(1);
        }
    }

    pub(crate) fn keep<T>(&mut self, path: &Path<'_>, result: Result<T, Reason>) -> Option<T> {
        result.map_err(|reason| self.add(path, reason)).ok()
    }

    pub(crate) fn require(&mut self, path: &Path<'_>, holds: bool, reason: impl Into<Reason>) {
        if !holds {
            self.add(path, reason);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.listed.len().saturating_add(self.omitted)
    }

    /// Yields the value only when nothing was wrong.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Faults> {
        match value {
            Some(value) if self.listed.is_empty() => Ok(value),
            Some(_) | None => Err(self.into_faults()),
        }
    }

    fn into_faults(mut self) -> Faults {
        if self.listed.is_empty() {
            // INVARIANT: whoever yields no value has said why; if not, refuse all the same.
            self.add(&Path::ROOT, FieldReason::Missing);
        }
        Faults {
            listed: self.listed,
            omitted: self.omitted,
        }
    }
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The document cannot be read at all.
    #[error(transparent)]
    Document(#[from] DocumentReason),
    /// A field is absent, foreign or of another kind.
    #[error(transparent)]
    Field(#[from] FieldReason),
    /// A value breaks a bound or a grammar.
    #[error(transparent)]
    Value(#[from] ValueReason),
    /// A value does not belong to the others.
    #[error(transparent)]
    Binding(#[from] BindingReason),
    /// An approval is not one that may authorize this action.
    #[error(transparent)]
    Gate(#[from] GateReason),
    /// A time is out of order.
    #[error(transparent)]
    Time(#[from] TimeReason),
    /// A catalog or provenance shape is not well defined.
    #[error(transparent)]
    Definition(#[from] DefinitionReason),
}

impl Reason {
    /// Names the class of the reason; stable.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Document(_) => "document",
            Self::Field(_) => "field",
            Self::Value(_) => "value",
            Self::Binding(_) => "binding",
            Self::Gate(_) => "gate",
            Self::Time(_) => "time",
            Self::Definition(_) => "definition",
        }
    }
}

/// Why a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentReason {
    /// The bytes are not strict JSON, or beyond the reader's limits.
    #[error("not strict JSON: {0}")]
    NotStrictJson(String),
    /// The document has more bytes than allowed.
    #[error("larger than {maximum_bytes} bytes")]
    TooLarge {
        /// The bound, in bytes.
        maximum_bytes: usize,
    },
    /// The bytes differ from the document's canonical UTF-8 form and one newline.
    #[error("not the canonical UTF-8 JSON followed by one newline")]
    NotCanonical,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldReason {
    /// The field is required and absent.
    #[error("is missing")]
    Missing,
    /// The contract has no such field.
    #[error("is not a field of this contract")]
    Unknown,
    /// The value is of another JSON kind.
    #[error("must be {0}")]
    MustBe(Kind),
    /// The value must be exactly this text.
    #[error("must be {0:?}")]
    MustBeLiteral(&'static str),
    /// The value must be the number 1.
    #[error("must be the number 1")]
    MustBeOne,
    /// The value must be true.
    #[error("must be true")]
    MustBeTrue,
}

/// A kind of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    Text,
    /// A number written without fraction and exponent.
    Integer,
    /// A finite number.
    Number,
    /// `true` or `false`
    Boolean,
    /// A positive number of seconds since 1970.
    Epoch,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Text => "text",
            Self::Integer => "an integer, written without fraction or exponent",
            Self::Number => "a finite number",
            Self::Boolean => "true or false",
            Self::Epoch => "a positive, finite number of seconds since 1970",
        })
    }
}

/// What is wrong with a value of the right kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueReason {
    /// The text has too many code points.
    #[error("is longer than {maximum} characters")]
    TooLong {
        /// The bound, in code points.
        maximum: usize,
    },
    /// The text holds a character that the contract refuses there.
    #[error("holds a control character that is not allowed here")]
    ForbiddenCharacter,
    /// The text is empty or white space only.
    #[error("must not be empty or blank")]
    Blank,
    /// The text is not of the grammar.
    #[error("must be {0}")]
    NotOfGrammar(Grammar),
    /// The number is outside its range.
    #[error("must be from {minimum} to {maximum}")]
    OutOfRange {
        /// The smallest allowed number, as text.
        minimum: String,
        /// The largest allowed number, as text.
        maximum: String,
    },
    /// The integer does not fit in 63 bits and a sign.
    #[error("is an integer beyond 63 bits")]
    IntegerTooLarge,
    /// The text is none of the allowed ones.
    #[error("must be one of: {allowed}")]
    NotListed {
        /// The allowed texts, joined.
        allowed: String,
    },
    /// The list has too many elements.
    #[error("has more than {maximum} elements")]
    TooManyElements {
        /// The bound.
        maximum: usize,
    },
    /// The value holds too many values.
    #[error("holds more than {maximum} values")]
    TooManyNodes {
        /// The bound.
        maximum: usize,
    },
    /// The value is nested too deeply.
    #[error("is nested deeper than {maximum} levels")]
    TooDeep {
        /// The bound.
        maximum: usize,
    },
    /// The list is not in ascending order, or repeats itself.
    #[error("must be sorted, without repetitions")]
    NotSorted,
}

/// What does not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindingReason {
    /// A digest is not that of what it stands for.
    #[error("is not the digest of {of}")]
    DigestMismatch {
        /// What was hashed.
        of: &'static str,
    },
    /// A value is not derived as the contract says.
    #[error("is not derived from {from}")]
    NotDerived {
        /// What it derives from.
        from: &'static str,
    },
    /// A value differs from the one it must repeat.
    #[error("differs from {from}")]
    Differs {
        /// Where the other value is.
        from: &'static str,
    },
    /// The catalog has no such tool.
    #[error("is not a tool of this catalog")]
    UnknownTool,
    /// The call carries no identity of its own.
    #[error("is empty, so every call of this tool would share one key")]
    NoCallIdentity,
}

/// Why an approval does not authorize an action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateReason {
    /// There is not exactly one gate receipt.
    #[error("must hold exactly one gate receipt, and holds {found}")]
    NotExactlyOne {
        /// How many there are.
        found: usize,
    },
    /// The evidence has the fields of no registered shape.
    #[error("has exactly the fields of no registered provenance shape{nearest}")]
    UnknownShape {
        /// A hint at the nearest shape, or nothing.
        nearest: String,
    },
    /// The binding method belongs to another shape.
    #[error("is a binding method of another provenance shape")]
    ForeignBindingMethod,
    /// A standing grant can never authorize this tool.
    #[error("can never be authorized by a standing grant")]
    NotGrantable,
    /// A standing grant cannot authorize a tool that the catalog does not know.
    #[error("is not a tool of this catalog, so a standing grant cannot authorize it")]
    GrantForUnknownTool,
    /// The approval, or the grant behind it, has expired.
    #[error("has expired")]
    Expired,
}

/// What is wrong with a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeReason {
    /// The time lies too far ahead.
    #[error("lies more than 30 seconds in the future")]
    InFuture,
    /// The time is not after the one it must follow.
    #[error("must be after {0}")]
    NotAfter(&'static str),
    /// The time has passed.
    #[error("has passed")]
    Passed,
    /// The life is too long.
    #[error("is more than {maximum_seconds} seconds after {after}")]
    LifetimeTooLong {
        /// The bound, in whole seconds.
        maximum_seconds: u32,
        /// The start of the life.
        after: &'static str,
    },
}

/// What is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionReason {
    /// A count is outside its bounds.
    #[error("must have from {minimum} to {maximum} members")]
    Count {
        /// The least.
        minimum: usize,
        /// The most.
        maximum: usize,
    },
    /// A range is empty.
    #[error("must not be less than the minimum")]
    EmptyRange,
    /// A list repeats an element.
    #[error("repeats an earlier element")]
    Repeated,
    /// A required argument cannot have a default.
    #[error("must not be given for a required argument")]
    DefaultOfRequired,
    /// A default breaks the rule of its own argument.
    #[error("does not satisfy its own argument's rule: {0}")]
    BadDefault(String),
    /// The braces of a template do not match.
    #[error("has a brace without its partner; write {{{{ or }}}} for a brace itself")]
    UnbalancedBrace,
    /// A template shows an argument that does not exist.
    #[error("shows an argument that this tool does not have")]
    UnknownPlaceholder,
    /// A template shows an argument that may be absent.
    #[error("shows an argument that is neither required nor has a default")]
    PlaceholderMayBeAbsent,
    /// A template shows an argument that has no one-line form.
    #[error("shows an argument that has no one-line form")]
    PlaceholderNotScalar,
    /// A shape's fields equal, contain or are contained in those of another.
    #[error("has fields that equal, contain or are contained in those of shape {0:?}")]
    ShapeOverlaps(String),
    /// A shape claims a binding method that another shape owns or carries.
    #[error("claims a binding method that is reserved")]
    ReservedBindingMethod,
    /// A shape of this name exists.
    #[error("is already registered")]
    AlreadyRegistered,
    /// A shape repeats a field that every shape has.
    #[error("is a field that every shape has")]
    CommonField,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_a_bounded_number_and_counts_the_rest() {
        let mut report = Report::default();
        for _ in 0..FAULTS_LISTED + 3 {
            report.add(&Path::ROOT, FieldReason::Missing);
        }
        let faults = report.finish(Some(())).unwrap_err();
        assert_eq!(faults.iter().count(), FAULTS_LISTED);
        assert_eq!(faults.omitted(), 3);
        assert!(faults.to_string().ends_with("and 3 more"));
        let first = faults
            .to_value()
            .as_array()
            .and_then(<[Value]>::first)
            .cloned()
            .unwrap();
        assert_eq!(first.get("class"), Some(&Value::from("field")));
    }

    #[test]
    fn no_value_is_never_acceptance() {
        assert!(Report::default().finish::<()>(None).is_err());
    }
}
