//! Rules of a tool contract: what one argument or output member may be.

use std::collections::BTreeMap;

use countersign_canonical::{NumberKind, Value};
use regex::Regex;

use crate::blank::strip;
use crate::fault::{FaultCollector, Faults, Path, Problem};

/// The members of an object, exactly: required ones are there, optional ones may be, others are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(pub(crate) BTreeMap<String, MemberRule>);

/// What one member may be.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberRule {
    /// What its value may be.
    pub rule: Rule,
    /// Whether it may be absent.
    pub optional: bool,
    /// The argument it has to repeat; only in outputs.
    pub equals_argument: Option<String>,
}

/// What one value may be. A value of another JSON type is never converted.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// A string.
    String(StringRule),
    /// A number written without fraction or exponent.
    Integer {
        /// The smallest, inclusive.
        minimum: Option<i64>,
        /// The largest, inclusive.
        maximum: Option<i64>,
    },
    /// Any number.
    Number {
        /// The smallest, inclusive.
        minimum: Option<f64>,
        /// The largest, inclusive.
        maximum: Option<f64>,
    },
    /// True or false.
    Boolean,
    /// A list of values of one rule.
    Array {
        /// What each item may be.
        items: Box<Rule>,
        /// The fewest items.
        min_items: Option<usize>,
        /// The most items.
        max_items: Option<usize>,
    },
    /// An object with exact members.
    Object(Members),
}

/// What a string may be. Lengths count code points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StringRule {
    /// The fewest; in arguments counted without leading and trailing space.
    pub min_length: Option<usize>,
    /// The most.
    pub max_length: Option<usize>,
    /// The only texts allowed.
    pub one_of: Option<Vec<String>>,
    /// What the whole text has to match.
    pub pattern: Option<Pattern>,
}

/// A regular expression that a whole text has to match, in linear time.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    regex: Regex,
}

/// Compiled patterns may take this much memory, so that a contract cannot exhaust the host.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

impl Pattern {
    /// Compiles the expression.
    #[must_use]
    pub fn new(source: &str) -> Option<Self> {
        let compile = |source: &str| {
            regex::RegexBuilder::new(source)
                .size_limit(MAX_PATTERN_BYTES)
                .build()
                .ok()
        };
        // Alone first: `a)(b` must not become valid inside the group.
        compile(source)?;
        let regex = compile(&format!(r"\A(?:{source})\z"))?;
        Some(Self {
            source: source.to_owned(),
            regex,
        })
    }

    /// The expression as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Which side of a call a rule judges; they count a string's least length differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Space around the text does not count towards its least length.
    Arguments,
    /// Every code point counts.
    Output,
}

impl Members {
    /// The members by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &MemberRule)> {
        self.0.iter().map(|(name, rule)| (name.as_str(), rule))
    }

    /// The rule of one member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&MemberRule> {
        self.0.get(name)
    }

    pub(crate) fn check(
        &self,
        value: &Value,
        side: Side,
        path: &Path,
        faults: &mut FaultCollector,
    ) {
        let Some(object) = value.as_object() else {
            return faults.push(path.clone(), Problem::NotAnObject);
        };
        for (name, member) in &self.0 {
            match object.get(name) {
                Some(value) => member
                    .rule
                    .check(value, side, &|| path.member(name), faults),
                None if member.optional => {}
                None => faults.push(path.clone(), Problem::Missing(name.clone())),
            }
        }
        for (name, _) in object.iter() {
            if !self.0.contains_key(name) {
                faults.push(
                    path.member(name),
                    Problem::Expected("absent: the contract does not define it"),
                );
            }
        }
    }
}

impl Rule {
    /// Holds one argument against the rule alone.
    pub fn check_argument(&self, value: &Value) -> Result<(), Faults> {
        let mut faults = FaultCollector::new();
        self.check(value, Side::Arguments, &Path::root, &mut faults);
        faults.finish()
    }

    fn check(
        &self,
        value: &Value,
        side: Side,
        path: &dyn Fn() -> Path,
        faults: &mut FaultCollector,
    ) {
        let problem = match (self, value) {
            (Self::String(rule), Value::String(text)) => rule.problem(text, side),
            (Self::Integer { minimum, maximum }, Value::Number(number)) => match number.kind() {
                NumberKind::Integer(integer)
                    if within(&integer, minimum.as_ref(), maximum.as_ref()) =>
                {
                    None
                }
                NumberKind::Integer(_) | NumberKind::BigInteger(_) | NumberKind::Float(_) => Some(
                    Problem::ExpectedThat(range("an integer", *minimum, *maximum)),
                ),
            },
            (Self::Number { minimum, maximum }, Value::Number(number)) => {
                let inside = match number.kind() {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "the domain's integers are exact as doubles"
                    )]
                    NumberKind::Integer(integer) => {
                        within(&(integer as f64), minimum.as_ref(), maximum.as_ref())
                    }
                    NumberKind::Float(float) => within(&float, minimum.as_ref(), maximum.as_ref()),
                    NumberKind::BigInteger(_) => false,
                };
                (!inside).then(|| Problem::ExpectedThat(range("a number", *minimum, *maximum)))
            }
            (Self::Boolean, Value::Bool(_)) => None,
            (
                Self::Array {
                    items,
                    min_items,
                    max_items,
                },
                Value::Array(values),
            ) => {
                for (index, value) in values.iter().enumerate() {
                    if faults.is_full() {
                        break;
                    }
                    items.check(value, side, &|| path().index(index), faults);
                }
                let inside = within(&values.len(), min_items.as_ref(), max_items.as_ref());
                (!inside).then(|| {
                    Problem::ExpectedThat(range(
                        "a list with a number of items",
                        *min_items,
                        *max_items,
                    ))
                })
            }
            (Self::Object(members), Value::Object(_)) => {
                members.check(value, side, &path(), faults);
                None
            }
            (
                Self::String(_)
                | Self::Integer { .. }
                | Self::Number { .. }
                | Self::Boolean
                | Self::Array { .. }
                | Self::Object(_),
                _,
            ) => Some(Problem::Expected(self.kind())),
        };
        if let Some(problem) = problem {
            faults.push(path(), problem);
        }
    }

    /// The kind of value, as a message names it.
    fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Integer { .. } => "an integer",
            Self::Number { .. } => "a number",
            Self::Boolean => "true or false",
            Self::Array { .. } => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl StringRule {
    fn problem(&self, text: &str, side: Side) -> Option<Problem> {
        if let Some(minimum) = self.min_length {
            let counted = match side {
                Side::Arguments => strip(text),
                Side::Output => text,
            };
            if counted.chars().count() < minimum {
                return Some(Problem::ExpectedThat(format!(
                    "at least {minimum} characters long"
                )));
            }
        }
        if let Some(maximum) = self.max_length
            && text.len() > maximum
            && text.chars().count() > maximum
        {
            return Some(Problem::ExpectedThat(format!(
                "at most {maximum} characters long"
            )));
        }
        if let Some(texts) = &self.one_of
            && !texts.iter().any(|allowed| allowed == text)
        {
            return Some(Problem::ExpectedThat(format!(
                "one of {}",
                texts.join(", ")
            )));
        }
        if let Some(pattern) = &self.pattern
            && !pattern.matches(text)
        {
            return Some(Problem::ExpectedThat(format!(
                "a text that matches {}",
                pattern.as_str()
            )));
        }
        None
    }
}

fn within<T: PartialOrd>(value: &T, minimum: Option<&T>, maximum: Option<&T>) -> bool {
    minimum.is_none_or(|minimum| value >= minimum) && maximum.is_none_or(|maximum| value <= maximum)
}

fn range<T: std::fmt::Display>(what: &str, minimum: Option<T>, maximum: Option<T>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("{what} from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("{what} of at least {minimum}"),
        (None, Some(maximum)) => format!("{what} of at most {maximum}"),
        (None, None) => what.to_owned(),
    }
}
