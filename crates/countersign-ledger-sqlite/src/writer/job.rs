//! One caller's transaction on its way through the writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_ledger::Moment;
use rusqlite::Connection;

use countersign_dispatch::ledger::{Cause, Error};

use crate::clock::running_time;

/// A transaction as the writer sees it.
///
/// INVARIANT: each is answered once, also where it is dropped.
pub(super) trait Job: Send + std::fmt::Debug {
    /// When it was asked for.
    fn arrived(&self) -> Instant;

    /// Marks that it may run from now on; `false` when its caller has gone without it.
    fn begin(&self) -> bool;

    /// Runs the body and keeps its result. After an error nothing of it may stay.
    fn run(&mut self, connection: &Connection, now: Moment) -> Result<(), Error>;

    /// Answers with the kept result: all that it rests on is durable.
    fn confirm(self: Box<Self>);

    /// Answers with an error in place of the result.
    fn refuse(self: Box<Self>, error: Error);
}

/// A transaction with its body.
pub(super) struct Task<T, F> {
    name: &'static str,
    arrived: Instant,
    body: F,
    result: Option<Result<T, Error>>,
    slot: Arc<Slot<T>>,
}

/// Where a caller waits for the answer.
#[derive(Debug)]
pub(super) struct Slot<T> {
    stage: Mutex<Stage<T>>,
    answered: Condvar,
}

#[derive(Debug)]
enum Stage<T> {
    Waiting,
    Begun,
    Answered(Result<T, Error>),
    /// The caller has gone, with or without its answer.
    Left,
}

impl<T, F> Task<T, F>
where
    T: Send,
    F: FnMut(&Connection, Moment) -> Result<T, Error> + Send,
{
    pub(super) fn new(name: &'static str, body: F) -> (Self, Arc<Slot<T>>) {
        let slot = Arc::new(Slot {
            stage: Mutex::new(Stage::Waiting),
            answered: Condvar::new(),
        });
        let task = Self {
            name,
            arrived: running_time(),
            body,
            result: None,
            slot: Arc::clone(&slot),
        };
        (task, slot)
    }
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnMut(&Connection, Moment) -> Result<T, Error> + Send,
{
    fn arrived(&self) -> Instant {
        self.arrived
    }

    fn begin(&self) -> bool {
        let mut stage = self.slot.stage();
        match *stage {
            Stage::Waiting | Stage::Begun => {
                *stage = Stage::Begun;
                true
            }
            Stage::Answered(_) | Stage::Left => false,
        }
    }

    fn run(&mut self, connection: &Connection, now: Moment) -> Result<(), Error> {
        let body = &mut self.body;
        // The savepoint undoes what a panicking body wrote; what it left in memory nobody but itself reads.
        let result = catch_unwind(AssertUnwindSafe(|| body(connection, now)))
            .unwrap_or(Err(Error::Unavailable(Cause::Fault)));
        let end = result.as_ref().map(|_| ()).map_err(|error| *error);
        self.result = Some(result);
        end
    }

    fn confirm(mut self: Box<Self>) {
        if let Some(result) = self.result.take() {
            self.slot.answer(result);
        }
    }

    fn refuse(self: Box<Self>, error: Error) {
        self.slot.answer(Err(error));
    }
}

impl<T, F> Drop for Task<T, F> {
    fn drop(&mut self) {
        // Nothing happens where the answer was given.
        self.slot.answer(Err(Error::Unconfirmed));
    }
}

impl<T, F> std::fmt::Debug for Task<T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Task").field(&self.name).finish()
    }
}

impl<T> Slot<T> {
    /// Waits for the answer, no longer than `limit`.
    ///
    /// Whoever leaves before the transaction began is told that it was not made; who leaves later cannot know.
    pub(super) fn wait(&self, limit: Duration) -> Result<T, Error> {
        let until = running_time() + limit;
        let mut stage = self.stage();
        loop {
            match std::mem::replace(&mut *stage, Stage::Left) {
                Stage::Answered(result) => return result,
                Stage::Left => return Err(Error::Unconfirmed),
                waiting @ (Stage::Waiting | Stage::Begun) => {
                    let left = until.saturating_duration_since(running_time());
                    if left.is_zero() {
                        return Err(match waiting {
                            Stage::Waiting => Error::Busy,
                            Stage::Begun | Stage::Answered(_) | Stage::Left => Error::Unconfirmed,
                        });
                    }
                    *stage = waiting;
                    (stage, _) = self
                        .answered
                        .wait_timeout(stage, left)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn answer(&self, result: Result<T, Error>) {
        let mut stage = self.stage();
        match *stage {
            Stage::Waiting | Stage::Begun => {
                *stage = Stage::Answered(result);
                drop(stage);
                self.answered.notify_one();
            }
            Stage::Answered(_) | Stage::Left => {}
        }
    }

    /// INVARIANT: nothing panics while the lock is held, so that a poisoned one guards a whole stage.
    fn stage(&self) -> MutexGuard<'_, Stage<T>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
