//! Changes of a ledger file past the ledger, one column or a few bytes at a time.

use std::fmt::Write as _;
use std::path::Path;

use countersign_ledger_suite::Part;
use rusqlite::Connection;

use crate::stage::raw;

/// Every column but the keys that lead from row to row: whoever changes those moves a whole row.
const COLUMNS: &[(Part, &str, &[&str])] = &[
    (
        Part::Operation,
        "operation",
        &[
            "tenant_id = 'tenant-b'",
            "subject_id = 'subject-b'",
            "tool = 'other'",
            "key = key || 'x'",
            "status_ref = 'status_' || hex(zeroblob(16))",
            "status_ref = 'status_?'",
            "state = 'failed'",
            "state = 'executing', holder = 'host-1'",
            "due_at = 5",
            "expires_at = 5",
            "opened_at = opened_at + 1",
            "changed_at = changed_at - 1",
            "is_dead_letter = 1",
        ],
    ),
    (Part::Proposal, "proposal", &[]),
    (Part::Receipt, "receipt", &[]),
    (Part::Intent, "intent", &["generation = 1"]),
    (
        Part::Grant,
        "standing_grant",
        &[
            "name = 'other'",
            "tenant_id = 'tenant-b'",
            "subject_id = 'subject-b'",
            "tool = 'other'",
            "expires_at = expires_at + 1",
            "is_open = 0",
        ],
    ),
    (Part::Audit, "audit", &["sequence = 7"]),
];

/// How many bytes of a document are changed, one in each change.
const BYTES: usize = 16;

/// Applies the so-manieth change of a part, and tells which it is.
pub(crate) fn apply(ledger: &Path, part: Part, number: usize) -> Option<String> {
    let (_, table, columns) = COLUMNS.iter().find(|(named, _, _)| *named == part)?;
    let statement = match columns.get(number) {
        Some(column) => format!("UPDATE {table} SET {column}"),
        None if part == Part::Intent => return None,
        None => document(&raw(ledger), table, number - columns.len())?,
    };
    let statement = format!("{statement} WHERE rowid = (SELECT max(rowid) FROM {table})");
    let statement = match part {
        // Without rows that have numbers.
        Part::Intent => statement.split_once(" WHERE").unwrap().0.to_owned(),
        Part::Operation | Part::Proposal | Part::Receipt | Part::Grant | Part::Audit => statement,
    };
    let changed = raw(ledger).execute(&statement, []).unwrap();
    assert_eq!(changed, 1, "{statement}");
    Some(statement)
}

/// A changed byte of the document, a changed digest, or both taken from elsewhere.
fn document(connection: &Connection, table: &str, number: usize) -> Option<String> {
    let set = match number {
        0 => "digest = zeroblob(32)".to_owned(),
        1 => "document = x''".to_owned(),
        2 => "document = CAST(document || x'20' AS BLOB)".to_owned(),
        3 => "document = CAST('{}' AS BLOB), digest = \
              x'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'"
            .to_owned(),
        _ => {
            let select = format!("SELECT document FROM {table} ORDER BY rowid DESC LIMIT 1");
            let document: Vec<u8> = connection.query_row(&select, [], |row| row.get(0)).unwrap();
            let at = (number - 4) * document.len() / BYTES;
            let mut changed = document;
            *changed.get_mut(at)? ^= 1;
            let mut hex = String::new();
            for byte in changed {
                write!(hex, "{byte:02x}").unwrap();
            }
            format!("document = x'{hex}'")
        }
    };
    Some(format!("UPDATE {table} SET {set}"))
}
