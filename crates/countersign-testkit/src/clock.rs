//! Virtual time: what really passes, what the ledger's clock shows, and what each process's own clock shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use countersign_contract::UtcSecond;
use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{BootId, LedgerClock, Moment, Steady, SteadyClock};

/// 2026-12-01T00:00:00Z, in milliseconds.
const BEGINNING: u64 = 1_796_083_200_000;

/// The clocks of one world. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Clocks(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// What has really passed, in milliseconds: what a monotonic clock shows.
    passed: AtomicU64,
    /// By how much the ledger's clock is ahead, in milliseconds.
    ledger_ahead: AtomicI64,
    /// By how much the clock of the process that acts now is ahead, in milliseconds.
    caller_ahead: AtomicI64,
}

impl Clocks {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared {
            passed: AtomicU64::new(0),
            ledger_ahead: AtomicI64::new(0),
            caller_ahead: AtomicI64::new(0),
        }))
    }

    /// What has passed.
    pub(crate) fn passed(&self) -> Duration {
        Duration::from_millis(self.0.passed.load(Ordering::Relaxed))
    }

    pub(crate) fn pass(&self, time: Duration) {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.passed.fetch_add(milliseconds, Ordering::Relaxed);
    }

    pub(crate) fn set_ledger_ahead(&self, milliseconds: i64) {
        self.0.ledger_ahead.store(milliseconds, Ordering::Relaxed);
    }

    pub(crate) fn set_caller_ahead(&self, milliseconds: i64) {
        self.0.caller_ahead.store(milliseconds, Ordering::Relaxed);
    }

    /// The ledger's time, whoever acts.
    pub(crate) fn of_ledger(&self) -> Moment {
        self.shown(&self.0.ledger_ahead)
    }

    /// The time of the process that acts.
    pub(crate) fn of_caller(&self) -> UtcSecond {
        self.moment_of_caller().second()
    }

    pub(crate) fn moment_of_caller(&self) -> Moment {
        self.shown(&self.0.caller_ahead)
    }

    fn shown(&self, ahead: &AtomicI64) -> Moment {
        let true_time = BEGINNING + self.0.passed.load(Ordering::Relaxed);
        let shown = true_time.saturating_add_signed(ahead.load(Ordering::Relaxed));
        Moment::from_milliseconds(shown).unwrap_or(Moment::MAX)
    }
}

impl LedgerClock for Clocks {
    fn now(&self) -> Result<Moment, Error> {
        recorded(self.of_ledger())
    }
}

impl SteadyClock for Clocks {
    fn steady(&self) -> Option<Steady> {
        Some(Steady {
            boot: BootId::new("boot-1")?,
            passed: self.passed(),
        })
    }
}

/// A time that can be recorded.
pub(crate) fn recorded(shown: Moment) -> Result<Moment, Error> {
    if shown == Moment::MAX {
        return Err(Error::Unavailable(Cause::Clock));
    }
    Ok(shown)
}
