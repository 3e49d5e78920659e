//! A program that only writes rows.

use std::path::Path;

use countersign_canonical::{Digest, Utf8};
use rusqlite::{Connection, Statement, params};
use sha2::{Digest as _, Sha256};

use crate::host::Host;

/// The documents of one dispatch.
pub(crate) struct Sample {
    operation: Vec<u8>,
    proposal: Vec<u8>,
    receipt: Vec<u8>,
    begun: Vec<u8>,
    succeeded: Vec<u8>,
}

/// Makes one dispatch, and takes its documents.
pub(crate) fn sample(path: &Path) -> Sample {
    let host = Host::open(path);
    let (call, approval) = host.call("1-1-1000");
    host.dispatch(&call, &approval);
    drop(host);
    let connection = Connection::open(path).expect("a file");
    let document = |from: &str| {
        let select = format!("SELECT document FROM {from}");
        connection
            .query_row(&select, [], |row| row.get(0))
            .expect("a document")
    };
    Sample {
        operation: document("operation"),
        proposal: document("proposal"),
        receipt: document("receipt"),
        begun: document("audit WHERE sequence = 1"),
        succeeded: document("audit WHERE sequence = 2"),
    }
}

/// Puts finished operations into a ledger, without waiting for the disk.
pub(crate) fn fill(path: &Path, sample: &Sample, operations: u64) {
    let mut bare = Bare::open(path, sample, 0);
    bare.connection
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000; PRAGMA wal_autocheckpoint = 100000")
        .expect("pragmas");
    let mut left = operations;
    while left > 0 {
        let count = left.min(20_000);
        bare.dispatch(count);
        left -= count;
    }
}

pub(crate) struct Bare<'s> {
    connection: Connection,
    sample: &'s Sample,
    run: u64,
    next: u64,
    sequence: i64,
    operation: i64,
}

impl<'s> Bare<'s> {
    pub(crate) fn open(path: &Path, sample: &'s Sample, run: u64) -> Self {
        let connection = Connection::open(path).expect("a file");
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
                 PRAGMA cache_size = -32768",
            )
            .expect("pragmas");
        connection.set_prepared_statement_cache_capacity(64);
        let last = |select: &str| {
            connection
                .query_row(select, [], |row| row.get::<_, i64>(0))
                .expect("a number")
        };
        let sequence = last("SELECT coalesce(max(sequence), 0) FROM audit");
        let operation = last("SELECT coalesce(max(id), 0) FROM operation");
        Self {
            sequence,
            operation,
            connection,
            sample,
            run,
            next: 0,
        }
    }

    /// Writes what so many dispatches write, in two commits.
    pub(crate) fn dispatch(&mut self, count: u64) {
        self.execute("BEGIN IMMEDIATE");
        for number in self.next..self.next + count {
            self.reserve(number);
        }
        self.execute("COMMIT");
        self.execute("BEGIN IMMEDIATE");
        let first = self.operation - i64::try_from(count).expect("a count") + 1;
        for operation in first..=self.operation {
            self.settle(operation);
        }
        self.execute("COMMIT");
        self.next += count;
    }

    fn reserve(&mut self, number: u64) {
        let name = format!("{}-{number}", self.run);
        let key = |of: &str| -> [u8; 32] { Sha256::digest(format!("{of} {name}")).into() };
        let sample = self.sample;
        let digits = Digest::<Utf8>::from_bytes(key("status")).to_hex();
        let status_ref = format!("status_{}", &digits.as_str()[..32]);
        self.statement(
            "INSERT INTO operation (scope, tenant_id, subject_id, tool, key, status_ref, state, holder, due_at,
                 expires_at, opened_at, changed_at, is_dead_letter, document, digest)
             VALUES (?1, 'tenant-a', 'user-1', 'create_refund_draft', ?2, ?3, 'executing', 'host-1', NULL, NULL, ?4, ?4, 0, ?5, ?6)",
            |insert| {
                insert.execute(params![
                    key("scope"), format!("key-{name}"), status_ref, 1_784_419_200_000_i64, sample.operation, digest(&sample.operation)
                ])
            },
        );
        self.operation = self.connection.last_insert_rowid();
        let operation = self.operation;
        self.statement("INSERT INTO proposal VALUES (?1, ?2, ?3)", |insert| {
            insert.execute(params![
                operation,
                sample.proposal,
                digest(&sample.proposal)
            ])
        });
        self.statement("INSERT INTO call VALUES (?1, ?2, ?3)", |insert| {
            insert.execute(params![key("call"), key("fingerprint"), operation])
        });
        self.audit(&sample.begun);
        self.statement("INSERT INTO approval_use VALUES (?1, ?2, ?3)", |insert| {
            insert.execute(params![
                key("approval"),
                format!("approval-{name}"),
                operation
            ])
        });
        self.statement(
            "INSERT INTO instance VALUES ('host-1', ?1) ON CONFLICT DO UPDATE SET alive_until = ?1",
            |insert| insert.execute([1_784_419_215_000_i64]),
        );
    }

    fn settle(&mut self, operation: i64) {
        let sample = self.sample;
        self.statement("INSERT INTO receipt VALUES (?1, ?2, ?3)", |insert| {
            insert.execute(params![operation, sample.receipt, digest(&sample.receipt)])
        });
        self.statement(
            "UPDATE operation SET state = 'succeeded', holder = NULL, changed_at = ?2, document = ?3, digest = ?4
             WHERE id = ?1",
            |update| {
                let now = 1_784_419_200_001_i64;
                update.execute(params![operation, now, sample.operation, digest(&sample.operation)])
            },
        );
        self.audit(&sample.succeeded);
    }

    fn audit(&mut self, document: &[u8]) {
        self.sequence += 1;
        let sequence = self.sequence;
        self.statement(
            "INSERT INTO audit (tenant_id, sequence, document, digest) VALUES ('tenant-a', ?1, ?2, ?3)",
            |insert| insert.execute(params![sequence, document, digest(document)]),
        );
    }

    fn execute(&self, sql: &str) {
        self.statement(sql, |statement| statement.execute([]));
    }

    fn statement(
        &self,
        sql: &str,
        run: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<usize>,
    ) {
        let mut statement = self.connection.prepare_cached(sql).expect("a statement");
        run(&mut statement).expect("it is written");
    }
}

/// Stands for the digest that is stored; the bare program computes none.
fn digest(document: &[u8]) -> &[u8] {
    &document[..32]
}
