//! Times as the contract carries them.

use countersign_canonical::{NumberKind, Value};

/// A finite, positive number of seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epoch(f64);

impl Epoch {
    /// Takes a number of seconds; nothing for zero, a negative or non-finite one.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        (seconds.is_finite() && seconds > 0.0).then_some(Self(seconds))
    }

    /// Reads a JSON number, integer or not; nothing for text and booleans.
    pub fn from_value(value: &Value) -> Option<Self> {
        let seconds = match value.as_number()?.kind() {
            #[expect(
                clippy::cast_precision_loss,
                reason = "rounds to nearest even, as the contract does"
            )]
            NumberKind::Integer(integer) => integer as f64,
            NumberKind::BigInteger(digits) => digits.parse().ok()?,
            NumberKind::Float(float) => float,
        };
        Self::from_seconds(seconds)
    }

    /// Shows the seconds.
    pub fn seconds(self) -> f64 {
        self.0
    }

    /// Tells whether this time lies more than the allowance after `now`.
    pub fn is_ahead_of(self, now: Self, allowance_seconds: f64) -> bool {
        self.0 > now.0 + allowance_seconds
    }

    /// Shows the seconds that passed since an earlier time; negative when it is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.0 - earlier.0
    }

    /// Shows how long a time lasts until another, in seconds; nothing when one of them is no time.
    ///
    /// Whole seconds are subtracted before they are rounded, since doubles beyond 2^53 run together.
    pub(crate) fn lifetime_seconds(start: &Value, end: &Value) -> Option<f64> {
        let rounded = Self::from_value(end)?.seconds_since(Self::from_value(start)?);
        let Some((start, end)) = start.as_i64().zip(end.as_i64()) else {
            return Some(rounded);
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "a difference that rounds is far beyond every limit"
        )]
        let exact = end.saturating_sub(start) as f64;
        Some(exact)
    }

    pub(crate) fn to_value(self) -> Value {
        countersign_canonical::Number::from_f64(self.0).map_or(Value::Null, Value::Number)
    }
}
