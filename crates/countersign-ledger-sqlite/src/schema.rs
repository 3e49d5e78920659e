//! What a ledger file is: its mark, and the scripts that brought it to its version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use countersign_dispatch::ledger::{Cause, Error};

use crate::connection;
use crate::error::{Classify, OpenError};
use crate::file::LedgerFile;

/// The kind of a file: the mark in its header and its migrations.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// SQLite's application id, by which the file is known to be of this kind.
    pub mark: i32,
    /// The scripts in their order. New ones are appended; none is ever changed.
    pub migrations: &'static [Migration],
}

/// One step from a version to the next.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its name, for people.
    pub name: &'static str,
    /// What it does. It stands in one transaction with the change of version.
    pub script: &'static str,
}

/// A ledger's version, and what is to be done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The version that the file has. An empty file has 0.
    pub version: u32,
    /// The names of the migrations that it lacks.
    pub missing: Vec<&'static str>,
}

impl Schema {
    /// Tells what a ledger lacks, without changing it.
    pub fn pending(&self, path: &Path) -> Result<Pending, OpenError> {
        let file = LedgerFile::existing(path)?;
        let connection = connection::open_unprepared(&file)?;
        let version = self.recognize(&connection)?;
        let missing = self.missing(version).iter().map(|step| step.name);
        Ok(Pending {
            version,
            missing: missing.collect(),
        })
    }

    /// Tells the version of a file of this kind, or of an empty file.
    ///
    /// Nothing is written: a file of another kind stays as it is.
    pub(crate) fn recognize(&self, connection: &Connection) -> Result<u32, OpenError> {
        let (mark, version, is_empty) = connection
            .query_row(
                "SELECT (SELECT application_id FROM pragma_application_id),
                        (SELECT user_version FROM pragma_user_version),
                        NOT EXISTS (SELECT 1 FROM sqlite_schema)",
                [],
                |row| {
                    Ok((
                        row.get::<_, i32>(0)?,
                        row.get::<_, i64>(1)?,
                        row.get::<_, bool>(2)?,
                    ))
                },
            )
            .map_err(|error| OpenError::at_first_read(&error))?;
        let is_ours = mark == self.mark || (mark == 0 && version == 0 && is_empty);
        if !is_ours {
            return Err(OpenError::NotALedger);
        }
        let found = u32::try_from(version).map_err(|_| OpenError::NotALedger)?;
        let known = self.version();
        if found > known {
            return Err(OpenError::Newer { found, known });
        }
        Ok(found)
    }

    /// Brings a file to the last version. Of several processes that start at once, one does and the others find it done.
    pub(crate) fn migrate(&self, connection: &mut Connection) -> Result<(), OpenError> {
        if self.recognize(connection)? == self.version() {
            return Ok(());
        }
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .classify()?;
        // Read again: another process may have been here before the lock was ours.
        let found = self.recognize(&transaction)?;
        for step in self.missing(found) {
            transaction.execute_batch(step.script).classify()?;
        }
        transaction
            .pragma_update(None, "application_id", self.mark)
            .classify()?;
        transaction
            .pragma_update(None, "user_version", self.version())
            .classify()?;
        if transaction.is_autocommit() {
            // A script that commits by itself would leave half a migration behind.
            return Err(Error::Unavailable(Cause::Fault).into());
        }
        transaction.commit().classify()?;
        Ok(())
    }

    /// The version that all migrations lead to.
    pub fn version(&self) -> u32 {
        u32::try_from(self.migrations.len()).unwrap_or(u32::MAX)
    }

    fn missing(&self, version: u32) -> &'static [Migration] {
        usize::try_from(version)
            .ok()
            .and_then(|done| self.migrations.get(done..))
            .unwrap_or_default()
    }
}
