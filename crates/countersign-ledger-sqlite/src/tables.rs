//! The tables of the ledger within one transaction.

pub(crate) mod decode;
mod read;
mod write;

use countersign_contract::{Scope, TenantId};
use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::Moment;
use rusqlite::{Connection, Row};

use crate::error::Classify;
use crate::keys::{self, Key};

/// The tables, in the transaction that the connection is in.
///
/// INVARIANT: what it remembers stays true, because nobody else writes during the transaction: in one that writes, the lock
/// is held; one that reads has a snapshot.
#[derive(Debug)]
pub(crate) struct SqliteTables<'c> {
    connection: &'c Connection,
    now: Moment,
    /// The operation that was looked for last: most of a transaction is about one.
    last: Option<(Key, Option<i64>)>,
    /// The call identity that was looked for last, where nothing is bound to it.
    unbound: Option<Key>,
    /// The tenant whose last audit entry was asked for last, and that entry's number.
    head: Option<(TenantId, u64)>,
}

impl<'c> SqliteTables<'c> {
    pub(crate) fn new(connection: &'c Connection, now: Moment) -> Self {
        Self {
            connection,
            now,
            last: None,
            unbound: None,
            head: None,
        }
    }

    /// The number of a scope's operation.
    ///
    /// Statements take it as a value: one that looks it up by itself counts as writing many rows, and SQLite prepares for
    /// undoing half of it.
    fn id(&mut self, scope: &Scope) -> Result<Option<i64>, Error> {
        let key = keys::of_scope(scope);
        if let Some((last, id)) = self.last
            && last == key
        {
            return Ok(id);
        }
        let id = self.find("SELECT id FROM operation WHERE scope = ?1", [key], |row| {
            row.get(0).classify()
        })?;
        self.last = Some((key, id));
        Ok(id)
    }

    /// The number of an operation that has to be there.
    fn id_of_present(&mut self, scope: &Scope, otherwise: &'static str) -> Result<i64, Error> {
        self.id(scope)?.ok_or(Error::Damaged(otherwise))
    }

    /// The row that a statement finds, if it finds one.
    fn find<T>(
        &self,
        statement: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let mut statement = self.connection.prepare_cached(statement).classify()?;
        let mut rows = statement.query(parameters).classify()?;
        rows.next().classify()?.map(read).transpose()
    }

    /// All rows that a statement finds. Each statement has its own limit.
    fn list<T>(
        &self,
        statement: &str,
        parameters: impl rusqlite::Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut statement = self.connection.prepare_cached(statement).classify()?;
        let mut rows = statement.query(parameters).classify()?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().classify()? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Hands rows over until somebody has enough.
    fn until(
        &self,
        statement: &str,
        parameters: impl rusqlite::Params,
        mut has_enough: impl FnMut(&Row<'_>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(statement).classify()?;
        let mut rows = statement.query(parameters).classify()?;
        while let Some(row) = rows.next().classify()? {
            if has_enough(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Changes rows; tells how many.
    fn change(&self, statement: &str, parameters: impl rusqlite::Params) -> Result<usize, Error> {
        self.connection
            .prepare_cached(statement)
            .classify()?
            .execute(parameters)
            .classify()
    }

    /// Changes exactly one row; anything else contradicts what was read before.
    fn change_one(
        &self,
        statement: &str,
        parameters: impl rusqlite::Params,
        otherwise: &'static str,
    ) -> Result<(), Error> {
        match self.change(statement, parameters)? {
            1 => Ok(()),
            _ => Err(Error::Damaged(otherwise)),
        }
    }
}

/// A number for a column.
fn stored(number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| Error::Unavailable(Cause::Fault))
}

/// A moment for a column. It ends with the year 9999.
fn stored_moment(moment: Moment) -> i64 {
    i64::try_from(moment.as_milliseconds()).unwrap_or(i64::MAX)
}

/// A limit for a statement.
fn stored_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
