//! The clock that nobody sets: how long something is ago, whatever is done to the clock on the wall.

use std::sync::Arc;
use std::time::Duration;

use crate::names::BootId;

/// A point in time that only compares within one start of one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steady {
    /// Which start.
    pub boot: BootId,
    /// What has passed since then, sleep included.
    pub passed: Duration,
}

/// Shows steady time.
pub trait SteadyClock: Send + Sync {
    /// Now; nothing where the machine has no such clock. Without it nothing is ever sent again by itself.
    fn steady(&self) -> Option<Steady>;
}

impl<C: SteadyClock + ?Sized> SteadyClock for Arc<C> {
    fn steady(&self) -> Option<Steady> {
        (**self).steady()
    }
}

/// A machine without a steady clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoSteadyClock;

impl SteadyClock for NoSteadyClock {
    fn steady(&self) -> Option<Steady> {
        None
    }
}

/// An attempt by the steady clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadySpan {
    /// When the first attempt may have sent its first byte.
    pub first_sent: Steady,
    /// From when on nothing of this attempt can be under way any more.
    pub over_at: Steady,
}

impl Steady {
    pub(crate) fn after(&self, duration: Duration) -> Self {
        Self {
            boot: self.boot.clone(),
            passed: self.passed.saturating_add(duration),
        }
    }

    /// How long an earlier point is ago; nothing where that cannot be told.
    pub(crate) fn since(&self, earlier: &Self) -> Option<Duration> {
        if self.boot == earlier.boot {
            self.passed.checked_sub(earlier.passed)
        } else {
            None
        }
    }
}

impl SteadySpan {
    /// Tells whether nothing of the attempt can be under way: its time has passed, or the machine was started anew.
    pub(crate) fn is_over(&self, now: &Steady) -> bool {
        now.boot != self.over_at.boot || now.passed >= self.over_at.passed
    }
}
