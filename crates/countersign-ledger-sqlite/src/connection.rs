//! How connections to a ledger are opened, and what always holds on them.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, FileControl, MAIN_DB, OpenFlags};

use countersign_dispatch::ledger::{Cause, Error};

use crate::clock::running_time;
use crate::error::{Classify, OpenError};
use crate::file::LedgerFile;
use crate::limits::Limits;
use crate::schema::Schema;

/// How long opening and migrating wait for other processes.
const OPEN_WAIT: Duration = Duration::from_secs(10);
/// The first pause before a lock is tried again; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
/// The most prepared statements that a connection keeps: more than there are different ones in the program.
const STATEMENTS: usize = 256;

/// Opens the connection that writes, on a ledger brought to its last version.
pub(crate) fn open_writer(
    file: &LedgerFile,
    schema: &Schema,
    limits: &Limits,
) -> Result<Connection, OpenError> {
    let opened = try_open_writer(file, schema, limits);
    let files = OpenError::Ledger(Error::Unavailable(Cause::Files));
    if opened.as_ref().err() == Some(&files) && !file.is_writable() {
        // SQLite cannot make the log, and does not say why.
        return Err(Error::Unavailable(Cause::ReadOnly).into());
    }
    opened
}

fn try_open_writer(
    file: &LedgerFile,
    schema: &Schema,
    limits: &Limits,
) -> Result<Connection, OpenError> {
    let mut connection = open_unprepared(file)?;
    // Before anything is written: the file is ours, or empty.
    schema.recognize(&connection)?;
    if connection.is_readonly(MAIN_DB).classify()? {
        return Err(Error::Unavailable(Cause::ReadOnly).into());
    }
    use_write_ahead_log(&connection)?;
    prepare(&connection, limits.writer_cache_kib)?;
    // The writer checkpoints by itself, between two commits.
    connection
        .pragma_update(None, "wal_autocheckpoint", 0)
        .classify()?;
    schema.migrate(&mut connection)?;
    wait_for_locks(&mut connection, limits.lock_wait)?;
    Ok(connection)
}

/// Opens a connection that only reads, on a ledger that a writer has opened before.
pub(crate) fn open_reader(file: &LedgerFile, limits: &Limits) -> Result<Connection, Error> {
    let mut connection = open(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    wait_for_locks(&mut connection, limits.lock_wait)?;
    prepare(&connection, limits.reader_cache_kib)?;
    connection
        .pragma_update(None, "query_only", true)
        .classify()?;
    Ok(connection)
}

/// Opens a connection on a file of which nothing is known yet.
pub(crate) fn open_unprepared(file: &LedgerFile) -> Result<Connection, OpenError> {
    let mut connection = open(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    wait_for_locks(&mut connection, OPEN_WAIT)?;
    Ok(connection)
}

/// Tells whether the file that the connection has open still stands under its name.
pub(crate) fn is_in_place(connection: &Connection) -> Result<bool, Error> {
    let mut moved = 0;
    connection
        .file_control(Some(MAIN_DB), FileControl::HasMoved(&mut moved))
        .classify()?;
    Ok(moved == 0)
}

fn open(file: &LedgerFile, mode: OpenFlags) -> Result<Connection, Error> {
    // One thread uses a connection at a time, so SQLite needs no lock of its own for it.
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let opened = Connection::open_with_flags(file.path(), flags);
    if !file.is_in_place() {
        return Err(Error::Unavailable(Cause::Moved));
    }
    let connection = opened.classify()?;
    if !is_in_place(&connection)? {
        return Err(Error::Unavailable(Cause::Moved));
    }
    Ok(connection)
}

/// Switches to the write-ahead log, where the file does not have it.
///
/// Of several processes that switch at once all but one are turned away without a wait, so they try again here.
fn use_write_ahead_log(connection: &Connection) -> Result<(), Error> {
    let started = running_time();
    for attempt in 0.. {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |row| {
            row.get::<_, String>(0)
        });
        match switched {
            Ok(mode) if mode == "wal" => return Ok(()),
            // SQLite answers with the old mode where the file system has no shared memory.
            Ok(_) => return Err(Error::Unavailable(Cause::Files)),
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && started.elapsed() < OPEN_WAIT =>
            {
                pause(attempt);
            }
            Err(error) => return Err(error).classify(),
        }
    }
    Err(Error::Busy)
}

fn prepare(connection: &Connection, cache_kib: u32) -> Result<(), Error> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)
        .classify()?;
    // Without it a statement is prepared again for other values, as if they could make another plan better.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .classify()?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)
        .classify()?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)
        .classify()?;
    connection
        .pragma_update(None, "synchronous", "FULL")
        .classify()?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .classify()?;
    connection
        .pragma_update(None, "trusted_schema", false)
        .classify()?;
    connection
        .pragma_update(None, "cell_size_check", true)
        .classify()?;
    // What a savepoint keeps for its undoing stays in memory.
    connection
        .pragma_update(None, "temp_store", "MEMORY")
        .classify()?;
    connection
        .pragma_update(None, "cache_size", -i64::from(cache_kib))
        .classify()?;
    Ok(())
}

/// Lets every statement of the connection wait so long for other processes' locks.
pub(crate) fn wait_for_locks(connection: &mut Connection, limit: Duration) -> Result<(), Error> {
    let mut since: Option<Instant> = None;
    connection
        .busy_handler(Some(move |attempt: i32| {
            let now = running_time();
            let started = match since {
                Some(started) if attempt > 0 => started,
                _ => *since.insert(now),
            };
            if now.duration_since(started) >= limit {
                return false;
            }
            pause(attempt);
            true
        }))
        .classify()?;
    Ok(())
}

/// SQLite's own pauses grow to 100 ms, in which a busy neighbour commits a hundred times.
fn pause(attempt: i32) {
    let doublings = u32::try_from(attempt).unwrap_or(0).min(16);
    let pause = FIRST_PAUSE
        .saturating_mul(1 << doublings)
        .min(LONGEST_PAUSE);
    #[expect(
        clippy::disallowed_methods,
        reason = "SQLite's lock belongs to another process: there is nothing to be woken by"
    )]
    thread::sleep(pause);
}
