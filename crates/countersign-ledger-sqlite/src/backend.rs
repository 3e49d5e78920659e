//! The back-end of the durable ledger.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_dispatch::ledger::Error;
use countersign_ledger::{Backend, LedgerClock, Moment, Rows, Tables, Version};

use crate::clock::MachineClock;
use crate::engine::Engine;
use crate::error::OpenError;
use crate::inspect::{self, Checked};
use crate::limits::Limits;
use crate::prune;
use crate::schema::{Migration, Schema};
use crate::tables::SqliteTables;

/// The ledger's own kind of file.
pub const LEDGER: Schema = Schema {
    // "CSgn"
    mark: 0x4353_676E,
    migrations: &[
        Migration {
            name: "0001_ledger",
            script: include_str!("../migrations/0001_ledger.sql"),
        },
        Migration {
            name: "0002_grants",
            script: include_str!("../migrations/0002_grants.sql"),
        },
    ],
};

/// Keeps the ledger's tables in one SQLite file.
#[derive(Debug)]
pub struct SqliteBackend {
    engine: Engine,
}

impl SqliteBackend {
    /// Opens a ledger, or makes a new one, by this machine's clock and with the usual limits.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_with(path, Limits::default(), Arc::new(MachineClock))
    }

    /// Opens a ledger, or makes a new one.
    pub fn open_with(
        path: &Path,
        limits: Limits,
        clock: Arc<dyn LedgerClock>,
    ) -> Result<Self, OpenError> {
        let engine = Engine::open(path, LEDGER, limits, clock)?;
        Ok(Self { engine })
    }

    /// Opens a ledger that is there.
    pub fn open_existing(path: &Path) -> Result<Self, OpenError> {
        let clock = Arc::new(MachineClock);
        let engine = Engine::open_existing(path, LEDGER, Limits::default(), clock)?;
        Ok(Self { engine })
    }

    /// Checks the whole file: pages, indexes and references as SQLite sees them, then every document, every column that
    /// a document knows, and that no audit entry is missing.
    pub fn check(&self) -> Result<Checked, Error> {
        self.engine.read(|connection, _| inspect::all(connection))
    }

    /// Removes operations that are proven to have had no effect and last changed before a moment, with their calls; tells
    /// how many.
    ///
    /// It removes nothing that is open or unknown, that acted, whose approval was consumed, or that an intent's next key
    /// is counted from. The audit trail stays. It may be stopped and repeated; others write meanwhile.
    pub fn prune(&self, changed_before: Moment) -> Result<u64, Error> {
        prune::prune(&self.engine, changed_before)
    }

    /// The file beneath: backups, checks of its pages, counts.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Backend for SqliteBackend {
    fn write<T, F>(&self, name: &'static str, mut body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
    {
        self.engine.write(name, move |connection, now| {
            body(&mut SqliteTables::new(connection, now))
        })
    }

    fn read<T, F>(&self, _: &'static str, body: F) -> Result<T, Error>
    where
        F: FnOnce(&mut dyn Rows) -> Result<T, Error>,
    {
        self.engine
            .read(|connection, now| body(&mut SqliteTables::new(connection, now)))
    }

    fn version(&self) -> Version {
        self.engine.version()
    }

    fn wait(&self, since: Version, at_most: Duration) -> Version {
        self.engine.wait(since, at_most)
    }
}
