//! Copies of a ledger: complete, checked and durable before they have their name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use countersign_dispatch::ledger::{Cause, Error};

use crate::check;
use crate::connection;
use crate::error::{Classify, OpenError};
use crate::file::{LedgerFile, Place, Refusal};
use crate::schema::Schema;

/// How many pages are copied at a time: 4 MiB.
const PAGES_AT_ONCE: i32 = 1024;
/// How many times in a row a locked source is tried.
const MOST_TRIES: usize = 100;

/// Makes a new ledger of a backup.
///
/// # Errors
/// What is not whole, of another kind or of a newer version is refused, and so is a place where something stands.
pub fn restore(backup: &Path, to: &Path, schema: &Schema) -> Result<(), OpenError> {
    let backup = LedgerFile::existing(backup)?;
    let from = connection::open_unprepared(&backup)?;
    schema.recognize(&from)?;
    copy(&from, to, schema)
}

/// Copies to a file that does not exist, under a name that it gets at the end.
pub(crate) fn copy(from: &Connection, to: &Path, schema: &Schema) -> Result<(), OpenError> {
    let target = Place::of(to)?;
    if target.is_taken() {
        return Err(Refusal::Exists.into());
    }
    let partial = Partial::create(&target)?;
    let mut connection = open_target(partial.place.path())?;
    copy_pages(from, &mut connection)?;
    settle(&connection, schema)?;
    drop(connection);
    partial.name(&target)
}

/// A copy that does not count yet. Dropped, it is gone.
struct Partial {
    place: Place,
    is_named: bool,
}

impl Partial {
    fn create(target: &Place) -> Result<Self, OpenError> {
        let mut suffix = OsString::from(".partial-");
        suffix.push(std::process::id().to_string());
        let place = target.with_suffix(suffix);
        if place.is_taken() {
            return Err(Refusal::Exists.into());
        }
        place.create()?;
        Ok(Self {
            place,
            is_named: false,
        })
    }

    fn name(mut self, target: &Place) -> Result<(), OpenError> {
        File::open(self.place.path())
            .and_then(|file| file.sync_all())
            .classify()?;
        let from = self.place.path();
        match renameat_with(CWD, from, CWD, target.path(), RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(Refusal::Exists.into()),
            Err(errno) => Err(std::io::Error::from(errno)).classify()?,
        }
        self.is_named = true;
        target.sync_directory()?;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_named {
            // Whoever sees it left over sees by its name that it is not whole.
            for name in self.place.all_names() {
                let _ = fs::remove_file(name);
            }
        }
    }
}

fn open_target(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Connection::open_with_flags(path, flags).classify()
}

fn copy_pages(from: &Connection, to: &mut Connection) -> Result<(), Error> {
    // One snapshot for all steps: writers go on, and the copy does not start again.
    from.execute_batch("BEGIN DEFERRED; SELECT count(*) FROM sqlite_schema")
        .classify()?;
    let copied = copy_steps(from, to);
    from.execute_batch("ROLLBACK").classify()?;
    copied
}

fn copy_steps(from: &Connection, to: &mut Connection) -> Result<(), Error> {
    let backup = Backup::new(from, to).classify()?;
    let mut tries = 0;
    while tries < MOST_TRIES {
        match backup.step(PAGES_AT_ONCE).classify()? {
            StepResult::Done => return Ok(()),
            StepResult::More => tries = 0,
            // SQLite has waited before it says so.
            StepResult::Busy | StepResult::Locked => tries += 1,
            _ => return Err(Error::Unavailable(Cause::Fault)),
        }
    }
    Err(Error::Busy)
}

/// Makes one file of it, which can be read where nothing can be written, and checks it.
fn settle(copy: &Connection, schema: &Schema) -> Result<(), OpenError> {
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))
        .classify()?;
    schema.recognize(copy)?;
    check::integrity(copy)?;
    Ok(())
}
