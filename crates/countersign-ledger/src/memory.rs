//! A back-end in memory: for tests, demonstrations and simulations. It forgets everything when it is dropped.

mod journal;
mod rows;
mod tables;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_dispatch::ledger::Error;

use self::tables::MemoryTables;
use crate::backend::{Backend, Version};
use crate::moment::Moment;
use crate::tables::{Rows, Tables};

/// Tells a back-end the time.
pub trait LedgerClock: Send + Sync {
    /// Now; an error where the clock shows a time that cannot be recorded.
    fn now(&self) -> Result<Moment, Error>;
}

impl<C: LedgerClock + ?Sized> LedgerClock for Arc<C> {
    fn now(&self) -> Result<Moment, Error> {
        (**self).now()
    }
}

/// A [`Backend`] in memory. One transaction at a time; a clone shares the same tables.
#[derive(Clone)]
pub struct MemoryBackend {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Box<dyn LedgerClock>,
    tables: Mutex<MemoryTables>,
    has_changed: Condvar,
}

impl MemoryBackend {
    /// Empty tables with a clock.
    pub fn new(clock: impl LedgerClock + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                clock: Box::new(clock),
                tables: Mutex::default(),
                has_changed: Condvar::new(),
            }),
        }
    }

    /// INVARIANT: a transaction that panicked is rolled back by the next one, before anything is read.
    fn tables(&self) -> Result<MutexGuard<'_, MemoryTables>, Error> {
        let tables = self.shared.tables.lock();
        let mut tables = tables.unwrap_or_else(PoisonError::into_inner);
        tables.roll_back();
        tables.set_now(self.shared.clock.now()?);
        Ok(tables)
    }
}

impl Backend for MemoryBackend {
    fn write<T, F>(&self, _: &'static str, mut body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
    {
        let mut tables = self.tables()?;
        let answer = body(&mut *tables);
        if answer.is_ok() {
            tables.commit();
            self.shared.has_changed.notify_all();
        } else {
            tables.roll_back();
        }
        answer
    }

    fn read<T, F>(&self, _: &'static str, body: F) -> Result<T, Error>
    where
        F: FnOnce(&mut dyn Rows) -> Result<T, Error>,
    {
        body(&mut *self.tables()?)
    }

    fn version(&self) -> Version {
        let tables = self.shared.tables.lock();
        tables.unwrap_or_else(PoisonError::into_inner).version()
    }

    fn wait(&self, since: Version, at_most: Duration) -> Version {
        let tables = self.shared.tables.lock();
        let tables = tables.unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .shared
            .has_changed
            .wait_timeout_while(tables, at_most, |tables| tables.version() <= since);
        let (tables, _) = waited.unwrap_or_else(PoisonError::into_inner);
        tables.version()
    }
}

impl std::fmt::Debug for MemoryBackend {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("MemoryBackend")
            .finish_non_exhaustive()
    }
}
