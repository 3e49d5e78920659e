//! Real time and real threads, each with a bound.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use countersign_dispatch::ledger::Error;

/// The longest that anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

#[expect(
    clippy::disallowed_methods,
    reason = "tests of real waits read the running time"
)]
pub(crate) fn running_time() -> Instant {
    Instant::now()
}

/// Lets threads start together; gives back what each came to.
pub(crate) fn together<T: Send>(count: usize, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(count);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let (barrier, body) = (&barrier, &body);
                scope.spawn(move || {
                    barrier.wait();
                    body(number)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Does the same again while the ledger says that it is busy.
pub(crate) fn patiently<T>(mut body: impl FnMut() -> Result<T, Error>) -> T {
    let started = running_time();
    loop {
        match body() {
            Err(Error::Busy) if started.elapsed() < PATIENCE => {}
            answer => return answer.unwrap(),
        }
    }
}

/// Runs what may panic, quietly; nothing where it did.
pub(crate) fn survive<T>(body: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}
