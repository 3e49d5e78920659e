//! Broken: the ledger goes by the clock of whoever asks.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{LedgerClock, Moment};

use crate::clock::{Clocks, recorded};

/// Shows the time of the process that acts.
#[derive(Debug)]
pub(crate) struct CallersClock(pub(crate) Clocks);

impl LedgerClock for CallersClock {
    fn now(&self) -> Result<Moment, Error> {
        recorded(self.0.moment_of_caller())
    }
}
