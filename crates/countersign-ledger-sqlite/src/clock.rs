//! The store's time, and how long something takes.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{BootId, LedgerClock, Moment, Steady, SteadyClock};
use rustix::time::{ClockId, clock_gettime};

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

/// The time since this machine was started, sleep included. All its processes see the same.
impl SteadyClock for MachineClock {
    fn steady(&self) -> Option<Steady> {
        // A process does not outlive the start that it runs in.
        static BOOT: OnceLock<Option<BootId>> = OnceLock::new();
        let time = clock_gettime(ClockId::Boottime);
        let passed = Duration::new(
            u64::try_from(time.tv_sec).ok()?,
            u32::try_from(time.tv_nsec).ok()?,
        );
        let read = || BootId::new(std::fs::read_to_string(BOOT_ID).ok()?.trim());
        let boot = BOOT.get_or_init(read).clone()?;
        Some(Steady { boot, passed })
    }
}

/// Where Linux says which start of the machine this is. Elsewhere there is no steady clock.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The running time by which waits are bounded. It never reaches a stored value.
pub(crate) fn running_time() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "the bounds of real waits for real locks; no decision and no stored value depends on it"
    )]
    Instant::now()
}
