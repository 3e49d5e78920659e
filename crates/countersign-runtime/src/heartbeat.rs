//! Says that this host is alive, for as long as it performs something.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use countersign_ledger::Work;

/// How many times a lease is renewed before it would run out.
const BEATS_PER_LEASE: u32 = 3;

/// Runs `body` while a thread of its own renews the lease; a renewal that fails is tried again at the next beat.
///
/// Without it, what takes longer than a lease would be taken for abandoned.
pub fn while_alive<T>(
    ledger: &(impl Work + Sync + ?Sized),
    lease: Duration,
    body: impl FnOnce() -> T,
) -> T {
    thread::scope(|scope| {
        let (done, is_done) = sync_channel::<()>(0);
        scope.spawn(move || {
            let interval = lease / BEATS_PER_LEASE;
            while is_done.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                // Whoever performs something learns from its own writes whether it still holds it.
                let _ = ledger.heartbeat();
            }
        });
        let answer = body();
        drop(done);
        answer
    })
}
