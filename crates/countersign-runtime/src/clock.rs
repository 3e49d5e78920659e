//! What time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_contract::UtcSecond;

/// Tells the time.
pub trait Clock {
    /// Now; nothing where the clock shows a time without a portable form.
    fn now(&self) -> Option<UtcSecond>;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Option<UtcSecond> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the clock that the port stands for"
        )]
        let now = SystemTime::now();
        let since_epoch = now.duration_since(UNIX_EPOCH).ok()?;
        UtcSecond::new(since_epoch.as_secs())
    }
}

/// A clock that stands still.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(pub UtcSecond);

impl Clock for FixedClock {
    fn now(&self) -> Option<UtcSecond> {
        Some(self.0)
    }
}
