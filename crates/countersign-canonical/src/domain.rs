use std::fmt;

use crate::{Number, NumberKind, Value};

const MAX_DEPTH: usize = 32;
const MAX_INTEGER: u64 = (1 << 53) - 1;
const MAX_STRING_CHARS: usize = 65_536;
const MAX_MEMBERS: usize = 1_024;
const MAX_PATH_KEY_CHARS: usize = 64;

/// The proof that a value is in the Tool Result v2 domain, and with it its
/// encoding in the form [`ToolResult`](crate::ToolResult).
///
/// The domain: no value and no key deeper than 32 levels (keys count as one
/// level below their object), integers within ±(2^53 - 1), strings and keys of
/// at most 65,536 code points, arrays and objects of at most 1,024 members.
#[derive(Debug, Clone, Copy)]
pub struct InDomain<'a> {
    value: &'a Value,
    // The level of the deepest value or key below `value`.
    height: usize,
}

/// What is outside the Tool Result v2 domain, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {kind}")]
pub struct DomainError {
    path: String,
    kind: DomainErrorKind,
}

/// Why something is outside the Tool Result v2 domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainErrorKind {
    /// Below 32 levels.
    #[error("is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Beyond what every JSON implementation keeps exact.
    #[error("is an integer beyond {MAX_INTEGER}, which not every JSON reader keeps exact")]
    UnsafeInteger,
    /// More than 65,536 code points.
    #[error("is a string of more than {MAX_STRING_CHARS} characters")]
    StringTooLong,
    /// More than 1,024 items.
    #[error("is an array of more than {MAX_MEMBERS} items")]
    ArrayTooLong,
    /// More than 1,024 members.
    #[error("is an object of more than {MAX_MEMBERS} members")]
    ObjectTooLarge,
}

impl<'a> InDomain<'a> {
    /// Checks a value that stands by itself.
    pub fn check(value: &'a Value) -> Result<Self, DomainError> {
        Self::check_at(value, 0)
    }

    /// Checks a value that is to stand `depth` levels below a document's root.
    pub fn check_at(value: &'a Value, depth: usize) -> Result<Self, DomainError> {
        let deepest = check_value(value, depth)?;
        Ok(Self {
            value,
            height: deepest - depth,
        })
    }

    /// The checked value.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Whether the value may also stand `depth` levels below a document's root.
    pub(crate) fn fits_at(&self, depth: usize) -> Result<(), DomainError> {
        check_depth(depth.saturating_add(self.height))
    }
}

impl DomainError {
    /// Where it is, as `$.key[index]`. Long keys are cut.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Why it is outside.
    pub fn kind(&self) -> DomainErrorKind {
        self.kind
    }

    fn within(mut self, segment: &dyn fmt::Display) -> Self {
        let below = self.path.strip_prefix('$').unwrap_or_default();
        self.path = format!("${segment}{below}");
        self
    }
}

impl From<DomainErrorKind> for DomainError {
    fn from(kind: DomainErrorKind) -> Self {
        Self {
            path: "$".to_owned(),
            kind,
        }
    }
}

/// Returns the level of the deepest value or key.
fn check_value(value: &Value, depth: usize) -> Result<usize, DomainError> {
    check_depth(depth)?;
    match value {
        Value::Null | Value::Bool(_) => Ok(depth),
        Value::Number(number) => check_number(number, depth).map(|()| depth),
        Value::String(text) => check_text(text, depth).map(|()| depth),
        Value::Array(items) => {
            if items.len() > MAX_MEMBERS {
                return Err(DomainErrorKind::ArrayTooLong.into());
            }
            let mut deepest = depth;
            for (index, item) in items.iter().enumerate() {
                let below = check_value(item, depth + 1)
                    .map_err(|error| error.within(&format_args!("[{index}]")))?;
                deepest = deepest.max(below);
            }
            Ok(deepest)
        }
        Value::Object(object) => {
            if object.len() > MAX_MEMBERS {
                return Err(DomainErrorKind::ObjectTooLarge.into());
            }
            let mut deepest = depth;
            for (key, item) in object.iter() {
                check_text(key, depth + 1).map_err(|error| error.within(&".<key>"))?;
                let below =
                    check_value(item, depth + 1).map_err(|error| error.within(&PathKey(key)))?;
                deepest = deepest.max(below);
            }
            Ok(deepest)
        }
    }
}

pub(crate) fn check_depth(depth: usize) -> Result<(), DomainError> {
    if depth > MAX_DEPTH {
        return Err(DomainErrorKind::TooDeep.into());
    }
    Ok(())
}

pub(crate) fn check_number(number: &Number, depth: usize) -> Result<(), DomainError> {
    match number.kind() {
        NumberKind::Integer(value) => check_integer(value, depth),
        NumberKind::BigInteger(_) => Err(DomainErrorKind::UnsafeInteger.into()),
        NumberKind::Float(_) => check_depth(depth),
    }
}

pub(crate) fn check_integer(value: i64, depth: usize) -> Result<(), DomainError> {
    check_depth(depth)?;
    if value.unsigned_abs() > MAX_INTEGER {
        return Err(DomainErrorKind::UnsafeInteger.into());
    }
    Ok(())
}

pub(crate) fn check_text(text: &str, depth: usize) -> Result<(), DomainError> {
    check_depth(depth)?;
    if text.len() > MAX_STRING_CHARS && text.chars().count() > MAX_STRING_CHARS {
        return Err(DomainErrorKind::StringTooLong.into());
    }
    Ok(())
}

/// A key as a path shows it: cut, and without control characters.
struct PathKey<'a>(&'a str);

impl fmt::Display for PathKey<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        formatter.write_str(".")?;
        for character in characters.by_ref().take(MAX_PATH_KEY_CHARS) {
            write!(formatter, "{}", character.escape_debug())?;
        }
        if characters.next().is_some() {
            formatter.write_str("…")?;
        }
        Ok(())
    }
}
