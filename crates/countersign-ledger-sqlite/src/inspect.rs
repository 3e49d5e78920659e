//! Whether everything in a ledger is as it was written.

use std::fmt;

use countersign_dispatch::ledger::Error;
use countersign_ledger::{AuditEntry, Grant, Record, StateKind};
use rusqlite::{Connection, Row};

use crate::check;
use crate::error::Classify;
use crate::keys::{self, Key};
use crate::tables::decode::{self, grant_columns, operation_columns};

/// The most findings that are listed; a check ends with the last of them.
pub const MAX_FINDINGS: usize = 100;

/// What a check has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many operations.
    pub operations: u64,
    /// How many audit entries.
    pub audit_entries: u64,
    /// How many standing approvals.
    pub grants: u64,
    /// What is not as it was written.
    pub findings: Vec<Finding>,
}

/// Something that is not as it was written, by the number of its row: never with what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub what: &'static str,
    /// The table, and the row in it, where one row is to blame.
    pub place: Option<(&'static str, i64)>,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.what)?;
        match self.place {
            Some((table, row)) => write!(formatter, " ({table}, row {row})"),
            None => Ok(()),
        }
    }
}

/// Checks everything. An error is a file that cannot be read; what is wrong in one that can is a finding.
pub(crate) fn all(connection: &Connection) -> Result<Checked, Error> {
    let mut checked = Checked::default();
    if let Err(Error::Damaged(what)) = sound(check::integrity(connection))? {
        // Where pages are broken, what is read from them says nothing.
        checked.findings.push(Finding { what, place: None });
        return Ok(checked);
    }
    operations(connection, &mut checked)?;
    hanging(
        connection,
        &mut checked,
        "proposal",
        "a proposal is not what was written",
    )?;
    hanging(
        connection,
        &mut checked,
        "receipt",
        "a receipt is not what was written",
    )?;
    grants(connection, &mut checked)?;
    audit(connection, &mut checked)?;
    Ok(checked)
}

/// Parts damage, which is a finding, from whatever keeps the check from going on.
fn sound<T>(result: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(damage @ Error::Damaged(_)) => Ok(Err(damage)),
        Err(
            error @ (Error::Full { .. } | Error::Busy | Error::Unavailable(_) | Error::Unconfirmed),
        ) => Err(error),
    }
}

fn operations(connection: &Connection, checked: &mut Checked) -> Result<(), Error> {
    let select = concat!(
        "SELECT ",
        operation_columns!(),
        ", o.scope, EXISTS (SELECT 1 FROM proposal p WHERE p.operation = o.id),
           EXISTS (SELECT 1 FROM receipt r WHERE r.operation = o.id)
         FROM operation o NOT INDEXED ORDER BY o.id"
    );
    each(
        connection,
        select,
        14,
        "operation",
        checked,
        |checked, row| {
            checked.operations += 1;
            let operation = decode::operation(row)?;
            Record::from_row(&operation)?;
            let key: Key = row.get(15).classify()?;
            if key != keys::of_scope(&operation.scope) {
                return Err(Error::Damaged("an operation is not found by its own key"));
            }
            if !row.get::<_, bool>(16).classify()? {
                return Err(Error::Damaged("a proposal is missing"));
            }
            let has_receipt: bool = row.get(17).classify()?;
            match (operation.state, has_receipt) {
                (StateKind::Succeeded, false) => Err(Error::Damaged("a receipt is missing")),
                (StateKind::Succeeded | StateKind::ResolvedCommitted, _) | (_, false) => Ok(()),
                (_, true) => Err(Error::Damaged(
                    "there is a receipt for what did not succeed",
                )),
            }
        },
    )
}

fn hanging(
    connection: &Connection,
    checked: &mut Checked,
    table: &'static str,
    what: &'static str,
) -> Result<(), Error> {
    let select = format!("SELECT document, digest, operation FROM {table} ORDER BY operation");
    each(connection, &select, 2, table, checked, |_, row| {
        decode::document(row, 0)?.read(what).map(drop)
    })
}

fn grants(connection: &Connection, checked: &mut Checked) -> Result<(), Error> {
    let select = concat!(
        "SELECT ",
        grant_columns!(),
        ", id FROM standing_grant ORDER BY id"
    );
    each(
        connection,
        select,
        8,
        "standing_grant",
        checked,
        |checked, row| {
            checked.grants += 1;
            Grant::from_row(&decode::grant(row)?).map(drop)
        },
    )
}

fn audit(connection: &Connection, checked: &mut Checked) -> Result<(), Error> {
    let select =
        "SELECT tenant_id, sequence, document, digest, id FROM audit ORDER BY tenant_id, sequence";
    let mut last = None;
    each(connection, select, 4, "audit", checked, |checked, row| {
        checked.audit_entries += 1;
        let entry = decode::audit(row)?;
        let expected = match last.take() {
            Some((tenant, sequence)) if tenant == entry.tenant_id => sequence + 1,
            _ => 1,
        };
        last = Some((entry.tenant_id.clone(), entry.sequence));
        AuditEntry::from_row(&entry)?;
        if entry.sequence != expected {
            return Err(Error::Damaged("audit entries before this one are missing"));
        }
        Ok(())
    })
}

/// Looks at each row; what is wrong with one is a finding at its number, which stands in a column.
fn each(
    connection: &Connection,
    select: &str,
    number: usize,
    table: &'static str,
    checked: &mut Checked,
    mut look: impl FnMut(&mut Checked, &Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut select = connection.prepare(select).classify()?;
    let mut rows = select.query([]).classify()?;
    while checked.findings.len() < MAX_FINDINGS {
        let Some(row) = rows.next().classify()? else {
            break;
        };
        if let Err(Error::Damaged(what)) = sound(look(checked, row))? {
            let place = Some((table, row.get(number).classify()?));
            checked.findings.push(Finding { what, place });
        }
    }
    Ok(())
}
