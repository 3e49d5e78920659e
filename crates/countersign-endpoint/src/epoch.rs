//! Points in time, as seconds since the Unix epoch.

use crate::number::Number;

/// A point in time: finite, positive seconds since the Unix epoch.
///
/// The crate has no clock; every function that judges time is given one of these.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct EpochSeconds(f64);

impl EpochSeconds {
    /// Takes seconds; `None` unless they are finite and positive.
    pub fn from_f64(seconds: f64) -> Option<Self> {
        (seconds.is_finite() && seconds > 0.0).then_some(Self(seconds))
    }

    /// The seconds.
    pub fn as_f64(self) -> f64 {
        self.0
    }

    /// The float that stands for this time in a document.
    pub(crate) fn to_number(self) -> Number {
        // INVARIANT: finite, so the fallback is never taken.
        Number::from_float(self.0).unwrap_or(Number::ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_positive_times_exist() {
        assert!(EpochSeconds::from_f64(f64::MIN_POSITIVE).is_some());
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(EpochSeconds::from_f64(bad), None, "{bad}");
        }
    }
}
