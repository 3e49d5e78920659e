//! A bounded pool of connections that only read.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use countersign_dispatch::ledger::{Cause, Error};

use crate::clock::running_time;
use crate::connection;
use crate::error::Classify;
use crate::file::LedgerFile;
use crate::limits::Limits;

/// Reads beside the writer, each on one snapshot.
#[derive(Debug)]
pub(crate) struct Readers {
    file: LedgerFile,
    limits: Limits,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Connection>,
    // Those in use, too.
    open: usize,
    // To wake costs a system call even where nobody sleeps.
    waiting: usize,
}

/// A connection on loan. It returns with no transaction open, or is closed.
struct Loan<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Readers {
    pub(crate) fn new(file: LedgerFile, limits: Limits) -> Self {
        Self {
            file,
            limits,
            pool: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Runs a body on one consistent snapshot: whatever it reads was true at one time.
    pub(crate) fn read<T>(
        &self,
        body: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let loan = self.borrow()?;
        let Some(connection) = loan.connection.as_ref() else {
            return Err(Error::Unavailable(Cause::Closed));
        };
        if !connection::is_in_place(connection)? {
            return Err(Error::Unavailable(Cause::Moved));
        }
        connection
            .prepare_cached("BEGIN DEFERRED")
            .classify()?
            .execute([])
            .classify()?;
        let result = body(connection)?;
        connection
            .prepare_cached("COMMIT")
            .classify()?
            .execute([])
            .classify()?;
        Ok(result)
    }

    fn borrow(&self) -> Result<Loan<'_>, Error> {
        let started = running_time();
        let mut pool = self.pool();
        loop {
            if let Some(connection) = pool.idle.pop() {
                return Ok(Loan {
                    readers: self,
                    connection: Some(connection),
                });
            }
            if pool.open < self.limits.readers.max(1) {
                pool.open += 1;
                drop(pool);
                // Counted from here on, also where it cannot be opened.
                let mut loan = Loan {
                    readers: self,
                    connection: None,
                };
                loan.connection = Some(connection::open_reader(&self.file, &self.limits)?);
                return Ok(loan);
            }
            let Some(left) = self.limits.reader_wait.checked_sub(started.elapsed()) else {
                return Err(Error::Busy);
            };
            pool.waiting += 1;
            (pool, _) = self
                .returned
                .wait_timeout(pool, left)
                .unwrap_or_else(PoisonError::into_inner);
            pool.waiting -= 1;
        }
    }

    /// INVARIANT: nothing panics while the lock is held, so that a poisoned one guards a whole pool.
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let connection = self.connection.take().filter(|connection| {
            connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok()
        });
        let mut pool = self.readers.pool();
        match connection {
            Some(connection) => pool.idle.push(connection),
            None => pool.open = pool.open.saturating_sub(1),
        }
        let is_awaited = pool.waiting > 0;
        drop(pool);
        if is_awaited {
            self.readers.returned.notify_one();
        }
    }
}
