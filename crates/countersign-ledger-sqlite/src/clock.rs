//! The store's time, and how long something takes.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{LedgerClock, Moment};

/// The clock of this machine, which all processes on one file share.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineClock;

impl LedgerClock for MachineClock {
    fn now(&self) -> Result<Moment, Error> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the clock that the port stands for"
        )]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        since_epoch
            .ok()
            .and_then(|since| u64::try_from(since.as_millis()).ok())
            .and_then(Moment::from_milliseconds)
            .ok_or(Error::Unavailable(Cause::Clock))
    }
}

/// The running time by which waits are bounded. It never reaches a stored value.
pub(crate) fn running_time() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "the bounds of real waits for real locks; no decision and no stored value depends on it"
    )]
    Instant::now()
}
