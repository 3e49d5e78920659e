//! The bounded queue in front of the writer.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_dispatch::ledger::{Cause, Error};

use super::job::Job;
use crate::clock::running_time;

/// Jobs that wait for the writer, in the order of their arrival.
#[derive(Debug)]
pub(super) struct Queue {
    capacity: usize,
    state: Mutex<State>,
    arrival: Condvar,
    place: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    closed: bool,
    // To wake costs a system call even where nobody sleeps.
    writer_sleeps: bool,
    callers_asleep: usize,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            state: Mutex::default(),
            arrival: Condvar::new(),
            place: Condvar::new(),
        }
    }

    /// Adds a job; waits for a place no longer than `limit`.
    pub(super) fn push(&self, job: Box<dyn Job>, limit: Duration) -> Result<(), Error> {
        let mut state = self.state();
        if state.jobs.len() >= self.capacity && !state.closed {
            state = self.wait_for_place(state, limit);
        }
        if state.closed {
            return Err(Error::Unavailable(Cause::Closed));
        }
        if state.jobs.len() >= self.capacity {
            return Err(Error::Busy);
        }
        state.jobs.push_back(job);
        let wake = std::mem::take(&mut state.writer_sleeps);
        drop(state);
        if wake {
            self.arrival.notify_one();
        }
        Ok(())
    }

    /// Waits for jobs and moves at most so many of them. `false` when the queue is closed and empty.
    pub(super) fn wait(&self, into: &mut VecDeque<Box<dyn Job>>, most: usize) -> bool {
        let mut state = self.state();
        while state.jobs.is_empty() {
            if state.closed {
                return false;
            }
            state.writer_sleeps = true;
            state = self
                .arrival
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.hand_over(state, into, most);
        true
    }

    /// Moves at most so many of the jobs that are there.
    pub(super) fn drain(&self, into: &mut VecDeque<Box<dyn Job>>, most: usize) {
        let state = self.state();
        if !state.jobs.is_empty() {
            self.hand_over(state, into, most);
        }
    }

    pub(super) fn length(&self) -> usize {
        self.state().jobs.len()
    }

    /// Takes no more jobs; those that are there are still done.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.arrival.notify_all();
        self.place.notify_all();
    }

    fn hand_over(
        &self,
        mut state: MutexGuard<'_, State>,
        into: &mut VecDeque<Box<dyn Job>>,
        most: usize,
    ) {
        state.writer_sleeps = false;
        let count = most.min(state.jobs.len());
        into.extend(state.jobs.drain(..count));
        let wake = state.callers_asleep > 0;
        drop(state);
        if wake {
            self.place.notify_all();
        }
    }

    fn wait_for_place<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        limit: Duration,
    ) -> MutexGuard<'a, State> {
        let started = running_time();
        state.callers_asleep += 1;
        while state.jobs.len() >= self.capacity && !state.closed {
            let Some(left) = limit.checked_sub(started.elapsed()) else {
                break;
            };
            (state, _) = self
                .place
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.callers_asleep -= 1;
        state
    }

    /// INVARIANT: nothing panics while the lock is held, so that a poisoned one guards a whole state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
