//! A ledger of one small table, in a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_dispatch::ledger::Error;
use countersign_ledger_sqlite::{
    Classify, Engine, Limits, MachineClock, Migration, OpenError, Schema,
};
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) const SCHEMA: Schema = Schema {
    mark: 0x7465_7374,
    migrations: &[Migration {
        name: "0001_notes",
        script: "CREATE TABLE note (
                     writer TEXT NOT NULL,
                     number INTEGER NOT NULL CHECK (number >= 0),
                     half INTEGER NOT NULL,
                     filler BLOB,
                     PRIMARY KEY (writer, number, half)
                 ) STRICT, WITHOUT ROWID;",
    }],
};

/// Short waits, so that a test of their end takes no long time.
pub(crate) const IMPATIENT: Limits = Limits {
    queued: 4,
    batch: 4,
    place_wait: Duration::from_millis(200),
    lock_wait: Duration::from_millis(300),
    answer_wait: Duration::from_secs(20),
    readers: 2,
    reader_wait: Duration::from_millis(200),
    writer_cache_kib: 256,
    reader_cache_kib: 64,
};

pub(crate) struct Stage {
    directory: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("ledger.db")
    }

    pub(crate) fn open(&self) -> Engine {
        open(&self.path(), Limits::default()).unwrap()
    }
}

pub(crate) fn open(path: &Path, limits: Limits) -> Result<Engine, OpenError> {
    Engine::open(path, SCHEMA, limits, Arc::new(MachineClock))
}

/// A connection past the engine, as another program would have it.
pub(crate) fn raw(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// Writes both halves of a note in one transaction.
pub(crate) fn write_note(engine: &Engine, writer: &str, number: i64) -> Result<(), Error> {
    let writer = writer.to_owned();
    engine.write("note", move |connection, _| {
        put(connection, &writer, number, 0)?;
        put(connection, &writer, number, 1)
    })
}

pub(crate) fn put(
    connection: &Connection,
    writer: &str,
    number: i64,
    half: i64,
) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT INTO note (writer, number, half) VALUES (?1, ?2, ?3)")
        .classify()?
        .execute((writer, number, half))
        .classify()?;
    Ok(())
}

pub(crate) fn count(engine: &Engine) -> i64 {
    engine
        .read(|connection, _| {
            connection
                .query_row("SELECT count(*) FROM note", [], |r| r.get(0))
                .classify()
        })
        .unwrap()
}

/// The numbers of a writer's notes, each of which must have both halves.
pub(crate) fn numbers(engine: &Engine, writer: &str) -> Vec<i64> {
    engine
        .read(|connection, _| {
            let mut select = connection.prepare(
                "SELECT number, count(*) FROM note WHERE writer = ?1 GROUP BY number ORDER BY number",
            ).classify()?;
            let rows = select.query_map([writer], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            }).classify()?;
            rows.map(|row| {
                let (number, halves) = row.classify()?;
                assert_eq!(halves, 2, "note {number} of {writer} is torn");
                Ok(number)
            })
            .collect()
        })
        .unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test of real waits reads the running time"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "real threads and processes are given real time"
)]
pub(crate) fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}
