//! One open ledger file: its writer, its readers, and whoever waits for changes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_ledger::{LedgerClock, Moment, Version};
use rusqlite::Connection;

use countersign_dispatch::ledger::Error;

use crate::backup;
use crate::check;
use crate::connection;
use crate::error::OpenError;
use crate::file::LedgerFile;
use crate::limits::Limits;
use crate::readers::Readers;
use crate::schema::Schema;
use crate::watch::{Changes, Watch};
use crate::writer::{Counts, Writer};

/// An open ledger file. Several processes may have the same one open, and several threads share one engine.
///
/// Dropping it finishes what was accepted, and closes the file.
pub struct Engine {
    // INVARIANT: in the order in which they are dropped: of the connections the writer's is the last, and can bring the
    // log into the file.
    readers: Readers,
    _watch: Watch,
    writer: Writer,
    changes: Arc<Changes>,
    clock: Arc<dyn LedgerClock>,
    file: LedgerFile,
    schema: Schema,
    limits: Limits,
}

impl Engine {
    /// Opens a ledger, or makes a new one, and brings it to the schema's version.
    ///
    /// # Errors
    /// A file that is a link, has a second name, belongs to another user or is open to others is refused; so is one of
    /// another kind or of a newer version. None of them is changed.
    pub fn open(
        path: &Path,
        schema: Schema,
        limits: Limits,
        clock: Arc<dyn LedgerClock>,
    ) -> Result<Self, OpenError> {
        let file = LedgerFile::existing_or_new(path)?;
        Self::start(file, schema, limits, clock)
    }

    /// Opens a ledger that is there.
    pub fn open_existing(
        path: &Path,
        schema: Schema,
        limits: Limits,
        clock: Arc<dyn LedgerClock>,
    ) -> Result<Self, OpenError> {
        let file = LedgerFile::existing(path)?;
        Self::start(file, schema, limits, clock)
    }

    fn start(
        file: LedgerFile,
        schema: Schema,
        limits: Limits,
        clock: Arc<dyn LedgerClock>,
    ) -> Result<Self, OpenError> {
        let connection = connection::open_writer(&file, &schema, &limits)?;
        let changes = Arc::new(Changes::default());
        let watch = Watch::start(&file, Arc::clone(&changes), &limits)?;
        let readers = Readers::new(file.clone(), limits);
        let writer = Writer::start(
            connection,
            &limits,
            Arc::clone(&clock),
            Arc::clone(&changes),
        )?;
        Ok(Self {
            writer,
            readers,
            _watch: watch,
            changes,
            clock,
            file,
            schema,
            limits,
        })
    }

    /// Runs a body as one transaction, and answers when it is durable.
    ///
    /// Bodies run one after the other, in the order in which they were asked for, and see what earlier ones wrote. The
    /// time is the store's, read while the write lock is held. A body that fails or panics leaves nothing behind and harms
    /// no other. It may run twice, where another's failure has undone the first time; it must not end the transaction.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`]: it may be written or not. After any other error nothing was written.
    pub fn write<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&Connection, Moment) -> Result<T, Error> + Send + 'static,
    {
        self.writer.run(name, body)
    }

    /// Runs a body on one consistent snapshot, which holds all that was answered before. It can write nothing.
    pub fn read<T>(
        &self,
        body: impl FnOnce(&Connection, Moment) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.readers
            .read(|connection| body(connection, self.clock.now()?))
    }

    /// The ledger's version now; to be asked for before the read whose answer is waited for.
    pub fn version(&self) -> Version {
        self.changes.version()
    }

    /// Waits until any process has changed the ledger since that version, or for so long. Tells the version then.
    ///
    /// It may return early; whoever waits reads again.
    pub fn wait(&self, since: Version, at_most: Duration) -> Version {
        self.changes.wait(since, at_most)
    }

    /// Writes a copy of the ledger as it is at one moment, while others go on reading and writing.
    ///
    /// The copy gets its name only when it is complete, checked and on disk. Nothing is written over.
    pub fn back_up(&self, to: &Path) -> Result<(), OpenError> {
        let from = connection::open_reader(&self.file, &self.limits)?;
        backup::copy(&from, to, &self.schema)
    }

    /// Checks every page, index and row constraint of the file. It reads all of it.
    pub fn check(&self) -> Result<(), Error> {
        self.read(|connection, _| check::integrity(connection))
    }

    /// How many transactions wait for the writer now.
    pub fn queued(&self) -> usize {
        self.writer.queued()
    }

    /// What the writer has done since this ledger was opened here.
    pub fn counts(&self) -> Counts {
        self.writer.counts()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
