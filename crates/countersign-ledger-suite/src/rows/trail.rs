//! The audit trail.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{AuditRow, Backend};

use crate::build::Build;
use crate::plain::{document, read, try_write};
use crate::sample::tenant;

fn row(of: &str, sequence: u64) -> AuditRow {
    AuditRow {
        tenant_id: tenant(of),
        sequence,
        document: document(7),
    }
}

fn append<B: Backend>(backend: &B, of: &str, sequence: u64) -> Result<(), Error> {
    let row = row(of, sequence);
    try_write(backend, move |tables| tables.audit_append(&row))
}

/// Numbers follow each other within a tenant, and nothing else is taken.
pub fn the_trail_has_no_gap<B: Build>(build: &B) {
    let backend = build.open();
    let head = |of: &str| read(&build.open(), |rows| rows.audit_head(&tenant(of)));
    assert_eq!(head("tenant-a"), 0);
    for wrong in [0, 2] {
        assert!(append(&backend, "tenant-a", wrong).is_err(), "{wrong}");
    }
    for number in 1..=3 {
        append(&backend, "tenant-a", number).unwrap();
        assert_eq!(head("tenant-a"), number);
    }
    for wrong in [0, 1, 3, 5] {
        let appended = append(&backend, "tenant-a", wrong);
        assert!(matches!(appended, Err(Error::Damaged(_))), "{wrong}");
    }
    assert_eq!(head("tenant-b"), 0);
    append(&backend, "tenant-b", 1).unwrap();
    assert_eq!((head("tenant-a"), head("tenant-b")), (3, 1));
}

/// Entries come in their order, from behind a number, of one tenant only.
pub fn the_trail_is_read_in_order<B: Build>(build: &B) {
    let backend = build.open();
    for number in 1..=12 {
        append(&backend, "tenant-a", number).unwrap();
    }
    append(&backend, "tenant-b", 1).unwrap();
    let numbers = |of: &str, after, limit| {
        let rows = read(&backend, |rows| rows.audit(&tenant(of), after, limit));
        for found in &rows {
            assert_eq!(*found, row(of, found.sequence));
        }
        rows.iter().map(|row| row.sequence).collect::<Vec<_>>()
    };
    assert_eq!(numbers("tenant-a", 0, 100), (1..=12).collect::<Vec<_>>());
    assert_eq!(numbers("tenant-a", 9, 2), [10, 11]);
    assert_eq!(numbers("tenant-a", 12, 2), [0; 0]);
    assert_eq!(numbers("tenant-a", u64::MAX, 2), [0; 0]);
    assert_eq!(numbers("tenant-a", 0, 0), [0; 0]);
    assert_eq!(numbers("tenant-b", 0, 2), [1]);
}
