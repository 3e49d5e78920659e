//! Why the ledger could not do something, in the user's terms: never with SQL, a path or a stored value.

use std::io::{self, ErrorKind};

use countersign_dispatch::ledger::{Cause, Error};
use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::file::Refusal;

/// Why a ledger was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The file must not be used as it is.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It is a file of some other kind.
    #[error("the file is not a ledger, or its beginning is damaged")]
    NotALedger,
    /// A newer program has written it.
    #[error(
        "the ledger has version {found}, and this program knows versions up to {known}: use the newer program"
    )]
    Newer {
        /// The file's version.
        found: u32,
        /// The last version known here.
        known: u32,
    },
    /// It could not be read or prepared.
    #[error(transparent)]
    Ledger(#[from] Error),
}

impl OpenError {
    /// INVARIANT: before the first page was read as ours, "not a database" says that the file is none of ours.
    pub(crate) fn at_first_read(error: &rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
            return Self::NotALedger;
        }
        Self::Ledger(of_sqlite(error))
    }
}

/// What an error from below means to whoever asked.
pub trait Classify<T> {
    /// Gives the error its meaning.
    fn classify(self) -> Result<T, Error>;
}

impl<T> Classify<T> for rusqlite::Result<T> {
    fn classify(self) -> Result<T, Error> {
        self.map_err(|error| of_sqlite(&error))
    }
}

impl<T> Classify<T> for io::Result<T> {
    fn classify(self) -> Result<T, Error> {
        self.map_err(|error| of_io(error.kind()))
    }
}

fn of_sqlite(error: &rusqlite::Error) -> Error {
    use rusqlite::Error as Sqlite;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum is rusqlite's and open; whatever is not named is a fault of this program"
    )]
    match error {
        Sqlite::SqliteFailure(failure, _) => of_code(*failure),
        Sqlite::FromSqlConversionFailure(..)
        | Sqlite::IntegralValueOutOfRange(..)
        | Sqlite::InvalidColumnType(..)
        | Sqlite::Utf8Error(..) => Error::Damaged("a stored value does not have its form"),
        _ => Error::Unavailable(Cause::Fault),
    }
}

fn of_io(kind: ErrorKind) -> Error {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum is the standard library's and open; the rest is a failure below us"
    )]
    Error::Unavailable(match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Cause::DiskFull,
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Cause::ReadOnly,
        ErrorKind::OutOfMemory => Cause::Resources,
        _ => Cause::Io,
    })
}

fn of_code(failure: ffi::Error) -> Error {
    match failure.extended_code {
        ffi::SQLITE_READONLY_DBMOVED => return Error::Unavailable(Cause::Moved),
        ffi::SQLITE_IOERR_CORRUPTFS => return Error::Damaged("the file system reports damage"),
        ffi::SQLITE_IOERR_NOMEM => return Error::Unavailable(Cause::Resources),
        _ => {}
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum is rusqlite's and open; whatever is not named is a fault of this program"
    )]
    match failure.code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => Error::Busy,
        ErrorCode::DatabaseCorrupt => Error::Damaged("a page does not have its form"),
        ErrorCode::NotADatabase => Error::Damaged("its beginning is not a ledger's"),
        ErrorCode::DiskFull => Error::Unavailable(Cause::DiskFull),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Error::Unavailable(Cause::ReadOnly),
        ErrorCode::SystemIoFailure => Error::Unavailable(Cause::Io),
        ErrorCode::CannotOpen => Error::Unavailable(Cause::Files),
        ErrorCode::OutOfMemory => Error::Unavailable(Cause::Resources),
        _ => Error::Unavailable(Cause::Fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> rusqlite::Error {
        let text = "SELECT secret FROM /home/somebody/ledger.db";
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned()))
    }

    #[test]
    fn each_code_has_its_meaning() {
        let cases = [
            (ffi::SQLITE_BUSY, Error::Busy),
            (ffi::SQLITE_BUSY_RECOVERY, Error::Busy),
            (ffi::SQLITE_LOCKED, Error::Busy),
            (ffi::SQLITE_PROTOCOL, Error::Busy),
            (ffi::SQLITE_FULL, Error::Unavailable(Cause::DiskFull)),
            (ffi::SQLITE_READONLY, Error::Unavailable(Cause::ReadOnly)),
            (
                ffi::SQLITE_READONLY_DBMOVED,
                Error::Unavailable(Cause::Moved),
            ),
            (ffi::SQLITE_IOERR_FSYNC, Error::Unavailable(Cause::Io)),
            (
                ffi::SQLITE_IOERR_NOMEM,
                Error::Unavailable(Cause::Resources),
            ),
            (ffi::SQLITE_CANTOPEN, Error::Unavailable(Cause::Files)),
            (
                ffi::SQLITE_CONSTRAINT_UNIQUE,
                Error::Unavailable(Cause::Fault),
            ),
            (ffi::SQLITE_MISUSE, Error::Unavailable(Cause::Fault)),
        ];
        for (code, expected) in cases {
            assert_eq!(of_sqlite(&failure(code)), expected, "code {code}");
        }
        for code in [
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_CORRUPT_INDEX,
            ffi::SQLITE_NOTADB,
        ] {
            assert!(matches!(of_sqlite(&failure(code)), Error::Damaged(_)));
        }
    }

    #[test]
    fn no_text_of_sqlite_gets_through() {
        for code in 0..30 {
            let text = of_sqlite(&failure(code)).to_string();
            assert!(!text.contains("secret") && !text.contains('/'), "{text}");
        }
    }
}
