//! New ledger files whose clock is that of a fixture: for scenarios and the demonstration.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::bail;
use countersign_contract::UtcSecond;
use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{DurableLedger, LedgerClock, Lifetimes, Moment};
use countersign_ledger_sqlite::{Limits, SqliteBackend};

use crate::host_ledger::{FileLedger, new_instance};
use crate::ledger_advice::unopened;

/// A clock that stands where a fixture puts it.
#[derive(Debug)]
pub(crate) struct FixtureClock(AtomicU64);

impl FixtureClock {
    pub(crate) fn set(&self, now: UtcSecond) {
        let milliseconds = Moment::of_second(now).as_milliseconds();
        self.0.store(milliseconds, Ordering::Release);
    }
}

impl LedgerClock for FixtureClock {
    fn now(&self) -> Result<Moment, Error> {
        let milliseconds = self.0.load(Ordering::Acquire);
        Moment::from_milliseconds(milliseconds).ok_or(Error::Unavailable(Cause::Clock))
    }
}

/// Makes a new ledger, where no file is yet, with a clock at a time.
///
/// Its waiting writes do not expire and are never too many: a fixture's steps may lie years apart, and its summaries do not
/// depend on what keeps them.
pub(crate) fn new_fixture_ledger(
    file: &Path,
    now: UtcSecond,
) -> anyhow::Result<(FileLedger, Arc<FixtureClock>)> {
    if file.symlink_metadata().is_ok() {
        bail!("this needs a new ledger, and there is a file already: name one that is not there");
    }
    let clock = Arc::new(FixtureClock(AtomicU64::new(0)));
    clock.set(now);
    let backend = SqliteBackend::open_with(file, Limits::default(), Arc::clone(&clock) as _);
    let backend = backend.map_err(|error| unopened(&error))?;
    let lifetimes = Lifetimes {
        approval_wait: Duration::MAX,
        cool_down: Duration::ZERO,
        max_waiting: usize::MAX,
        ..Lifetimes::default()
    };
    let ledger = DurableLedger::new(backend, new_instance()?, lifetimes);
    Ok((ledger, clock))
}
