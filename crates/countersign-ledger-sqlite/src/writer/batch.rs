//! What the writer's thread does: batches of transactions, each batch one commit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{LedgerClock, Moment};
use rusqlite::Connection;

use super::checkpoint::Checkpoints;
use super::counts::Counters;
use super::job::Job;
use super::queue::Queue;
use crate::clock::running_time;
use crate::connection;
use crate::error::Classify;
use crate::watch::Changes;

/// How long one try to get the write lock lasts, before those who have waited long enough are told.
pub(super) const LOCK_TRY: Duration = Duration::from_millis(50);

/// The one who writes, on its own thread.
pub(super) struct Worker {
    pub(super) connection: Connection,
    pub(super) queue: Arc<Queue>,
    pub(super) clock: Arc<dyn LedgerClock>,
    pub(super) changes: Arc<Changes>,
    pub(super) counters: Arc<Counters>,
    pub(super) checkpoints: Checkpoints,
    pub(super) most_in_batch: usize,
    pub(super) lock_wait: Duration,
}

/// What became of one transaction of the batch.
enum Ran {
    /// It is part of the batch, or has undone itself.
    Whole,
    /// It has undone itself, and with it the transaction, which held nothing else.
    Alone,
    /// SQLite has undone the whole batch with it.
    BatchUndone(Error),
}

impl Worker {
    /// Works until the queue is closed and empty.
    pub(super) fn work(mut self) {
        let _end = EndOfWork(Arc::clone(&self.queue));
        let mut jobs = VecDeque::new();
        while !jobs.is_empty() || self.queue.wait(&mut jobs, self.most_in_batch) {
            self.batch(&mut jobs);
            self.checkpoints.after_commit(&self.connection);
        }
        self.checkpoints.at_close(&self.connection);
    }

    /// Runs the jobs, and those that arrive meanwhile, in one transaction; answers them all. What it leaves is not begun.
    fn batch(&mut self, jobs: &mut VecDeque<Box<dyn Job>>) {
        if !self.begin(jobs) {
            return;
        }
        // The lock is held: no other process' time is later and already written.
        let now = match self.clock.now() {
            Ok(now) => now,
            Err(error) => return self.cannot_tell_the_time(jobs, error),
        };
        let changed_before = self.connection.total_changes();
        let mut done = Vec::with_capacity(jobs.len());
        while let Some(mut job) = jobs.pop_front() {
            if job.begin() {
                let ran = if done.is_empty() {
                    self.run_first(job.as_mut(), now)
                } else {
                    self.run(job.as_mut(), now)
                };
                match ran {
                    Ran::Whole => done.push(job),
                    // What it has read is committed already. The others begin a transaction of their own.
                    Ran::Alone => return job.confirm(),
                    Ran::BatchUndone(error) => {
                        job.refuse(error);
                        // The others begin again without it. That ends: each time there is one less.
                        done.into_iter().rev().for_each(|job| jobs.push_front(job));
                        return;
                    }
                }
            }
            if jobs.is_empty() {
                self.queue
                    .drain(jobs, self.most_in_batch.saturating_sub(done.len()));
            }
        }
        let has_changed = self.connection.total_changes() != changed_before;
        self.commit(done, has_changed);
    }

    fn cannot_tell_the_time(&self, jobs: &mut VecDeque<Box<dyn Job>>, error: Error) {
        // Where this fails, the next batch tries it again before it begins.
        let _ = self.execute("ROLLBACK");
        jobs.drain(..).for_each(|job| job.refuse(error));
    }

    /// Takes the write lock. `false` when no job is left: all were answered, and nothing was written.
    fn begin(&self, jobs: &mut VecDeque<Box<dyn Job>>) -> bool {
        while !jobs.is_empty() {
            match self.try_begin() {
                Ok(()) => return true,
                Err(Error::Busy) => self.turn_away_the_patient(jobs),
                Err(error) => jobs.drain(..).for_each(|job| job.refuse(error)),
            }
        }
        false
    }

    fn try_begin(&self) -> Result<(), Error> {
        if !self.connection.is_autocommit() {
            // A rollback that failed earlier, because of a disk that is back now.
            self.execute("ROLLBACK")?;
        }
        if !connection::is_in_place(&self.connection)? {
            return Err(Error::Unavailable(Cause::Moved));
        }
        self.execute("BEGIN IMMEDIATE")
    }

    fn turn_away_the_patient(&self, jobs: &mut VecDeque<Box<dyn Job>>) {
        let now = running_time();
        let all = std::mem::take(jobs);
        for job in all {
            if now.duration_since(job.arrived()) >= self.lock_wait {
                job.refuse(Error::Busy);
            } else {
                jobs.push_back(job);
            }
        }
    }

    /// Runs the first of a batch, which needs no savepoint: there is nobody whom its end could harm.
    fn run_first(&self, job: &mut dyn Job, now: Moment) -> Ran {
        let end = job.run(&self.connection, now);
        if self.connection.is_autocommit() {
            // Undone by SQLite, or ended by the body itself, which it must not.
            return Ran::BatchUndone(end.err().unwrap_or(Error::Unconfirmed));
        }
        if end.is_ok() {
            return Ran::Whole;
        }
        match self.execute("ROLLBACK") {
            Ok(()) => Ran::Alone,
            Err(error) => Ran::BatchUndone(error),
        }
    }

    /// Runs one of several. A failing one undoes itself only.
    fn run(&self, job: &mut dyn Job, now: Moment) -> Ran {
        if let Err(error) = self.execute("SAVEPOINT request") {
            return self.undo_batch(error);
        }
        let end = match job.run(&self.connection, now) {
            Ok(()) => self.execute("RELEASE request"),
            // After damage SQLite undoes the savepoint and yet refuses the commit: the others go on without this one.
            Err(error @ Error::Damaged(_)) => Err(error),
            Err(Error::Full { .. } | Error::Busy | Error::Unavailable(_) | Error::Unconfirmed) => {
                self.execute("ROLLBACK TO request")
                    .and_then(|()| self.execute("RELEASE request"))
            }
        };
        match end {
            // The savepoint was there to the end, so the transaction around it is, too.
            Ok(()) => Ran::Whole,
            Err(error) => self.undo_batch(error),
        }
    }

    /// Some failures (a full disk, no memory) make SQLite roll the whole transaction back.
    fn undo_batch(&self, error: Error) -> Ran {
        if !self.connection.is_autocommit() {
            // Where this fails, too, the next batch tries it again before it begins.
            let _ = self.execute("ROLLBACK");
        }
        Ran::BatchUndone(error)
    }

    fn commit(&self, done: Vec<Box<dyn Job>>, has_changed: bool) {
        match self.execute("COMMIT") {
            Ok(()) => {
                self.counters.count(done.len());
                if has_changed {
                    self.changes.announce();
                }
                done.into_iter().for_each(Job::confirm);
            }
            Err(error) => {
                if !self.connection.is_autocommit() {
                    let _ = self.execute("ROLLBACK");
                }
                let answer = after_failed_commit(error);
                for job in done {
                    job.refuse(answer);
                }
            }
        }
    }

    fn execute(&self, statement: &str) -> Result<(), Error> {
        self.connection
            .prepare_cached(statement)
            .classify()?
            .execute([])
            .classify()?;
        Ok(())
    }
}

/// Leaves nobody waiting for a thread that has ended, be it by a panic.
struct EndOfWork(Arc<Queue>);

impl Drop for EndOfWork {
    fn drop(&mut self) {
        self.0.close();
        let mut jobs = VecDeque::new();
        self.0.drain(&mut jobs, usize::MAX);
        for job in jobs {
            job.refuse(Error::Unavailable(Cause::Closed));
        }
    }
}

/// What a failed commit tells its callers.
///
/// A full disk is known before the commit's last frame is written, and without that frame there is no commit, now or
/// after a crash. Any other failure may have come after it: a crash could bring the batch back.
fn after_failed_commit(error: Error) -> Error {
    match error {
        Error::Unavailable(Cause::DiskFull) => error,
        Error::Full { .. }
        | Error::Busy
        | Error::Damaged(_)
        | Error::Unavailable(_)
        | Error::Unconfirmed => Error::Unconfirmed,
    }
}
