//! Whether a file is whole, as SQLite sees it.

use rusqlite::Connection;

use countersign_dispatch::ledger::Error;

use crate::error::Classify;

/// Checks every page, index and row constraint, and every foreign key. It reads the whole file.
pub(crate) fn integrity(connection: &Connection) -> Result<(), Error> {
    // One finding is enough; its text holds names and numbers that are no concern of the user's.
    let finding: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .classify()?;
    if finding != "ok" {
        return Err(Error::Damaged("a page, an index or a row is not whole"));
    }
    let is_broken = connection
        .prepare("PRAGMA foreign_key_check")
        .classify()?
        .exists([])
        .classify()?;
    if is_broken {
        return Err(Error::Damaged("a row refers to one that is missing"));
    }
    Ok(())
}
