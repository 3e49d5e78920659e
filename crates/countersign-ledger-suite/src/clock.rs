//! A clock that stands still until it is told otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_dispatch::ledger::Error;
use countersign_ledger::{BootId, LedgerClock, Moment, Steady, SteadyClock};

/// Where it begins: 2026-07-19T00:00:00Z.
const START: u64 = 1_784_419_200_000;

/// The clock on a machine's wall, and the one that nobody sets. They stand still until they are told otherwise; a clone is the
/// same machine's.
#[derive(Clone, Debug)]
pub struct SettableClock(Arc<Machine>);

#[derive(Debug)]
struct Machine {
    wall: AtomicU64,
    passed: AtomicU64,
    starts: AtomicU64,
}

impl Default for SettableClock {
    fn default() -> Self {
        Self(Arc::new(Machine {
            wall: AtomicU64::new(START),
            passed: AtomicU64::new(0),
            starts: AtomicU64::new(1),
        }))
    }
}

impl SettableClock {
    /// The time on the wall.
    pub fn moment(&self) -> Moment {
        Moment::from_milliseconds(self.0.wall.load(Ordering::SeqCst)).unwrap_or(Moment::MAX)
    }

    /// Lets time pass, by both clocks.
    pub fn advance(&self, duration: Duration) {
        self.set(self.moment().after(duration));
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let passed = self.0.passed.load(Ordering::SeqCst);
        let passed = passed.saturating_add(milliseconds);
        self.0.passed.store(passed, Ordering::SeqCst);
    }

    /// Sets the clock on the wall, forth or back.
    pub fn set(&self, moment: Moment) {
        let wall = moment.as_milliseconds();
        self.0.wall.store(wall, Ordering::SeqCst);
    }

    /// Starts the machine anew: what had passed before cannot be told any more.
    pub fn restart(&self) {
        self.0.starts.fetch_add(1, Ordering::SeqCst);
        self.0.passed.store(0, Ordering::SeqCst);
    }
}

impl LedgerClock for SettableClock {
    fn now(&self) -> Result<Moment, Error> {
        Ok(self.moment())
    }
}

impl SteadyClock for SettableClock {
    fn steady(&self) -> Option<Steady> {
        let starts = self.0.starts.load(Ordering::SeqCst);
        Some(Steady {
            boot: BootId::new(&format!("start-{starts}"))?,
            passed: Duration::from_millis(self.0.passed.load(Ordering::SeqCst)),
        })
    }
}
