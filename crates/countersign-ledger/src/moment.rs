//! Time as a ledger records it.

use std::time::Duration;

use countersign_contract::{MAX_UNIX_SECONDS, UtcSecond};

/// A point in time by the ledger's own clock: milliseconds since 1970-01-01T00:00:00Z, up to the year 9999.
///
/// Only a ledger reads that clock, and only once it holds the lock under which it writes: a caller's clock never decides
/// whether a lease or an approval still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

/// The last millisecond that has a portable form.
const MAX_MILLISECONDS: u64 = MAX_UNIX_SECONDS * 1000 + 999;

impl Moment {
    /// The end of recorded time.
    pub const MAX: Self = Self(MAX_MILLISECONDS);

    /// Takes milliseconds since the epoch, when they can be recorded.
    #[must_use]
    pub const fn from_milliseconds(milliseconds: u64) -> Option<Self> {
        if milliseconds <= MAX_MILLISECONDS {
            Some(Self(milliseconds))
        } else {
            None
        }
    }

    /// The first millisecond of a second.
    #[must_use]
    pub fn of_second(second: UtcSecond) -> Self {
        Self(second.as_unix_seconds() * 1000)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_milliseconds(self) -> u64 {
        self.0
    }

    /// The second it lies in.
    #[must_use]
    pub fn second(self) -> UtcSecond {
        UtcSecond::new(self.0 / 1000).unwrap_or(UtcSecond::MAX)
    }

    /// So much later, at most the end of recorded time.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(milliseconds).min(MAX_MILLISECONDS))
    }

    /// How long ago an earlier moment was; nothing for a later one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}
