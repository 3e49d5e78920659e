//! When the write-ahead log is brought into the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;

/// The frames (pages of 4 KiB) after which the log is copied into the file.
const COPY_AFTER: u32 = 1_000;
/// The frames after which readers are waited for, shortly, so that the log starts anew: 64 MiB.
const RESTART_AFTER: u32 = 16_000;

/// Watches the log's length.
///
/// The writer's thread copies after it has answered, so that no caller waits for it. Readers that hold the log back let
/// it grow; each further thousand frames it tries again.
#[derive(Debug)]
pub(super) struct Checkpoints {
    length: Arc<AtomicU32>,
    next: u32,
}

impl Checkpoints {
    pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<Self> {
        let length = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&length);
        connection.wal_hook(Some(move |_: &mut _, frames| {
            seen.store(u32::try_from(frames).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            length,
            next: COPY_AFTER,
        })
    }

    pub(super) fn after_commit(&mut self, connection: &Connection) {
        let length = self.length.load(Ordering::Relaxed);
        if length < COPY_AFTER {
            // The log has started anew.
            self.next = COPY_AFTER;
        }
        if length < self.next {
            return;
        }
        if length < RESTART_AFTER {
            copy(connection, "PRAGMA wal_checkpoint(PASSIVE)");
        } else {
            copy(connection, "PRAGMA wal_checkpoint(RESTART)");
        }
        self.next = length.saturating_add(COPY_AFTER);
    }

    pub(super) fn at_close(&self, connection: &Connection) {
        if self.length.load(Ordering::Relaxed) > 0 {
            copy(connection, "PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

/// What is not copied now stays in the log, as durable as before; whoever comes next copies it.
fn copy(connection: &Connection, statement: &str) {
    let copied = connection
        .prepare_cached(statement)
        .and_then(|mut pragma| pragma.query_row([], |_| Ok(())));
    // A full or failing disk fails the next commit as well, and that is told to its callers.
    drop(copied);
}
