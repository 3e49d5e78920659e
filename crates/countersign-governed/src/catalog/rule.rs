//! What one argument of a tool may be.

use countersign_canonical::Value;

use crate::contract::IDENTIFIER_MAX_CHARS;
use crate::fault::{FieldReason, Kind, Report, ValueReason};
use crate::place::Path;
use crate::scalars::{
    BOUNDED_JSON, bounded_identifier, bounded_integer, bounded_number, bounded_text, check_nested,
    enum_text,
};

/// An exact rule for one argument's value.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentRule {
    /// Text without NUL; not blank unless empty text is allowed.
    Text {
        /// The most code points.
        maximum_chars: usize,
        /// Whether empty and blank text is allowed.
        allow_empty: bool,
    },
    /// An identifier of at most 256 characters.
    Identifier,
    /// An integer, written as one.
    Integer {
        /// The smallest allowed.
        minimum: i64,
        /// The largest allowed.
        maximum: i64,
    },
    /// A finite number.
    Number {
        /// The smallest allowed; exact in a double, also as an integer.
        minimum: f64,
        /// The largest allowed; exact in a double, also as an integer.
        maximum: f64,
    },
    /// One of some texts.
    Choice {
        /// The allowed texts, in the order in which they are shown.
        values: Vec<String>,
    },
    /// `true` or `false`.
    Boolean,
    /// A list of values of one scalar rule.
    List {
        /// The rule of every element; never a list or an object.
        element: Box<ArgumentRule>,
        /// The most elements.
        maximum_elements: usize,
    },
    /// An object with bounded JSON in it.
    Object,
}

impl ArgumentRule {
    pub(crate) fn check(&self, value: &Value, path: &Path<'_>, report: &mut Report) {
        match self {
            Self::Text {
                maximum_chars,
                allow_empty,
            } => {
                report.keep(path, bounded_text(value, *maximum_chars, *allow_empty));
            }
            Self::Identifier => {
                report.keep(path, bounded_identifier(value));
            }
            Self::Integer { minimum, maximum } => {
                report.keep(path, bounded_integer(value, *minimum, *maximum));
            }
            Self::Number { minimum, maximum } => {
                report.keep(path, bounded_number(value, *minimum, *maximum));
            }
            Self::Choice { values } => {
                report.keep(path, enum_text(value, values));
            }
            Self::Boolean => report.require(
                path,
                value.as_bool().is_some(),
                FieldReason::MustBe(Kind::Boolean),
            ),
            Self::List {
                element,
                maximum_elements,
            } => {
                let Some(elements) = value.as_array() else {
                    report.add(path, FieldReason::MustBe(Kind::Array));
                    return;
                };
                if elements.len() > *maximum_elements {
                    report.add(
                        path,
                        ValueReason::TooManyElements {
                            maximum: *maximum_elements,
                        },
                    );
                    return;
                }
                for (index, value) in elements.iter().enumerate() {
                    element.check(value, &path.element(index), report);
                }
            }
            Self::Object => {
                if value.as_object().is_some() {
                    check_nested(value, BOUNDED_JSON, path, report);
                } else {
                    report.add(path, FieldReason::MustBe(Kind::Object));
                }
            }
        }
    }

    /// Tells whether a value of this rule can be shown within one line.
    pub(crate) fn is_scalar(&self) -> bool {
        match self {
            Self::Text { .. }
            | Self::Identifier
            | Self::Integer { .. }
            | Self::Number { .. }
            | Self::Choice { .. }
            | Self::Boolean => true,
            Self::List { .. } | Self::Object => false,
        }
    }

    /// Shows the rule in words, for the model and for whoever reads a catalog.
    pub fn describe(&self) -> String {
        match self {
            Self::Text {
                maximum_chars,
                allow_empty: true,
            } => format!("text of 0 to {maximum_chars} characters"),
            Self::Text {
                maximum_chars,
                allow_empty: false,
            } => format!("text of 1 to {maximum_chars} characters"),
            Self::Identifier => format!("identifier of at most {IDENTIFIER_MAX_CHARS} characters"),
            Self::Integer { minimum, maximum } => format!("integer from {minimum} to {maximum}"),
            Self::Number { minimum, maximum } => format!("number from {minimum} to {maximum}"),
            Self::Choice { values } => format!("one of {}", values.join(", ")),
            Self::Boolean => "true or false".to_owned(),
            Self::List {
                element,
                maximum_elements,
            } => {
                format!(
                    "at most {maximum_elements} elements, each {}",
                    element.describe()
                )
            }
            Self::Object => "object with bounded JSON".to_owned(),
        }
    }
}
