use std::hash::{Hash, Hasher};

/// A JSON number: an exact integer of any size, or a finite double.
///
/// `1` and `1.0` are different numbers, and so are `0.0` and `-0.0`: two
/// numbers are equal exactly when they are encoded alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(Repr);

/// What a [`Number`] holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberKind<'a> {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// The exact decimal text of an integer beyond 64 bits, without leading zeros.
    BigInteger(&'a str),
    /// A finite double.
    Float(f64),
}

// INVARIANT: `Big` is beyond `i64` and has no leading zero; `Float` is finite.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Repr {
    Integer(i64),
    Big(Box<str>),
    Float(Finite),
}

/// A finite double that is compared by its bits.
#[derive(Debug, Clone, Copy)]
struct Finite(f64);

impl Number {
    /// Makes a number of a double, or nothing of a NaN or an infinity.
    pub fn from_f64(value: f64) -> Option<Self> {
        value
            .is_finite()
            .then_some(Self(Repr::Float(Finite(value))))
    }

    /// Makes an integer of decimal text the parser has checked: an optional
    /// minus sign and digits without a leading zero.
    pub(crate) fn from_decimal(text: &str) -> Self {
        match text.parse() {
            Ok(integer) => Self(Repr::Integer(integer)),
            Err(_) => Self(Repr::Big(text.into())),
        }
    }

    /// What the number holds.
    pub fn kind(&self) -> NumberKind<'_> {
        match &self.0 {
            Repr::Integer(value) => NumberKind::Integer(*value),
            Repr::Big(text) => NumberKind::BigInteger(text),
            Repr::Float(value) => NumberKind::Float(value.0),
        }
    }

    /// The integer, if it is one and fits 64 bits. A float never is.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Integer(value) => Some(value),
            Repr::Big(_) | Repr::Float(_) => None,
        }
    }

    /// The double, if the number was written as a float.
    pub fn as_f64(&self) -> Option<f64> {
        match self.0 {
            Repr::Float(value) => Some(value.0),
            Repr::Integer(_) | Repr::Big(_) => None,
        }
    }

    /// Whether it is an integer of any size.
    pub fn is_integer(&self) -> bool {
        !matches!(self.0, Repr::Float(_))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Repr::Integer(value))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(integer) => Self(Repr::Integer(integer)),
            Err(_) => Self(Repr::Big(value.to_string().into())),
        }
    }
}

impl PartialEq for Finite {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Finite {}

impl Hash for Finite {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}
