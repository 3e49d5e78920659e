//! Waking those who wait for a change, whichever process makes it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_ledger::Version;
use rusqlite::Connection;

use countersign_dispatch::ledger::{Cause, Error};

use crate::clock::running_time;
use crate::connection;
use crate::file::LedgerFile;
use crate::limits::Limits;

/// How often other processes' commits are looked for while somebody waits.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Counts changes, of this process at once and of others when they are seen.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    state: Mutex<State>,
    changed: Condvar,
    wanted: Condvar,
}

#[derive(Debug, Default)]
struct State {
    version: u64,
    waiters: usize,
    closed: bool,
}

/// Looks for other processes' commits, on a thread and a connection of its own.
///
/// The thread sleeps while nobody waits.
#[derive(Debug)]
pub(crate) struct Watch {
    changes: Arc<Changes>,
    thread: Option<JoinHandle<()>>,
}

impl Changes {
    /// The version now. Whoever reads after this misses no change by waiting for another version.
    pub(crate) fn version(&self) -> Version {
        Version(self.state().version)
    }

    /// Waits until the version is another one, or the time has come. Tells the version then.
    pub(crate) fn wait(&self, since: Version, at_most: Duration) -> Version {
        let until = running_time() + at_most;
        let mut state = self.state();
        state.waiters += 1;
        if state.waiters == 1 {
            self.wanted.notify_one();
        }
        while state.version == since.0 && !state.closed {
            let left = until.saturating_duration_since(running_time());
            if left.is_zero() {
                break;
            }
            (state, _) = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiters -= 1;
        Version(state.version)
    }

    /// Says that something has changed.
    pub(crate) fn announce(&self) {
        let mut state = self.state();
        state.version = state.version.wrapping_add(1);
        let is_awaited = state.waiters > 0;
        drop(state);
        if is_awaited {
            self.changed.notify_all();
        }
    }

    fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
        self.wanted.notify_all();
    }

    /// Waits until somebody waits, or `pause` has passed while somebody does. `false` when it is closed.
    fn wait_for_waiters(&self, pause: Duration) -> bool {
        let mut state = self.state();
        if state.waiters > 0 && !state.closed {
            (state, _) = self
                .wanted
                .wait_timeout(state, pause)
                .unwrap_or_else(PoisonError::into_inner);
        }
        while state.waiters == 0 && !state.closed {
            state = self
                .wanted
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed
    }

    /// INVARIANT: nothing panics while the lock is held, so that a poisoned one guards a whole state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    pub(crate) fn start(
        file: &LedgerFile,
        changes: Arc<Changes>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let connection = connection::open_reader(file, limits)?;
        let watched = Arc::clone(&changes);
        let thread = thread::Builder::new()
            .name("ledger-watch".to_owned())
            .spawn(move || look(&connection, &watched))
            .map_err(|_| Error::Unavailable(Cause::Resources))?;
        Ok(Self {
            changes,
            thread: Some(thread),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.changes.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn look(connection: &Connection, changes: &Changes) {
    let mut seen = None;
    while changes.wait_for_waiters(LOOK_EVERY) {
        let now = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut pragma| pragma.query_row([], |row| row.get::<_, i64>(0)));
        // What cannot be read now may have changed: waiters look for themselves, and are told what is wrong.
        let now = now.ok();
        if now.is_none() || now != seen {
            changes.announce();
        }
        seen = now;
    }
}
