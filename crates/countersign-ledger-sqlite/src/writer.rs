//! The one writer of this process: callers' transactions in batches, one commit for each batch.

mod batch;
mod checkpoint;
mod counts;
mod job;
mod queue;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{LedgerClock, Moment};
use rusqlite::Connection;

pub use self::counts::Counts;

use self::batch::{LOCK_TRY, Worker};
use self::checkpoint::Checkpoints;
use self::counts::Counters;
use self::job::Task;
use self::queue::Queue;
use crate::connection;
use crate::error::Classify;
use crate::limits::Limits;
use crate::watch::Changes;

/// Runs transactions one after the other, and commits them together.
///
/// A caller is answered only after the commit that holds its transaction is on disk. The commit takes in whatever
/// arrived while it was prepared: the more callers, the larger the batch.
///
/// Dropping it finishes what was accepted, and ends the thread.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Arc<Queue>,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<()>>,
    place_wait: Duration,
    answer_wait: Duration,
}

impl Writer {
    /// Starts the thread that owns the connection from now on.
    pub(crate) fn start(
        mut connection: Connection,
        limits: &Limits,
        clock: Arc<dyn LedgerClock>,
        changes: Arc<Changes>,
    ) -> Result<Self, Error> {
        connection::wait_for_locks(&mut connection, LOCK_TRY)?;
        let queue = Arc::new(Queue::new(limits.queued.max(1)));
        let counters = Arc::new(Counters::default());
        let worker = Worker {
            checkpoints: Checkpoints::watch(&mut connection).classify()?,
            connection,
            queue: Arc::clone(&queue),
            clock,
            changes,
            counters: Arc::clone(&counters),
            most_in_batch: limits.batch.max(1),
            lock_wait: limits.lock_wait,
        };
        let thread = thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn(move || worker.work())
            .map_err(|_| Error::Unavailable(Cause::Resources))?;
        Ok(Self {
            queue,
            counters,
            thread: Some(thread),
            place_wait: limits.place_wait,
            answer_wait: limits.answer_wait,
        })
    }

    /// Runs a body as one transaction, and answers when it is durable.
    ///
    /// The time is the store's, read while the write lock is held. A body that fails or panics leaves nothing behind and
    /// harms no other; its error is the answer. It may run twice, where another's failure has undone the first time, and
    /// it must not end the transaction that it runs in.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`]: it may be written or not. Any other error of this method: nothing was written.
    pub(crate) fn run<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&Connection, Moment) -> Result<T, Error> + Send + 'static,
    {
        let (task, slot) = Task::new(name, body);
        self.queue.push(Box::new(task), self.place_wait)?;
        slot.wait(self.answer_wait)
    }

    pub(crate) fn queued(&self) -> usize {
        self.queue.length()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counters.read()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A body that holds the last reference drops it on the writer's own thread, which then ends by itself.
        if thread.thread().id() != thread::current().id() {
            // Its callers have been told of whatever went wrong.
            let _ = thread.join();
        }
    }
}
