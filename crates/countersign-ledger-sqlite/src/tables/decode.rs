//! Rows as they come out of the file. Whatever does not have its form was not written by this program.

use countersign_contract::{
    CallFingerprint, IdempotencyKey, Scope, StatusRef, SubjectId, TenantId, ToolName,
};
use countersign_dispatch::ledger::Error;
use countersign_ledger::{
    AuditRow, Document, GrantId, GrantRow, InstanceId, Moment, OperationRow, StateKind,
};
use rusqlite::Row;
use rusqlite::types::FromSql;

use crate::error::Classify;
use crate::keys::{self, Key};

/// The columns of an operation's row, in the order in which [`operation`] reads them. The table is `o`.
macro_rules! operation_columns {
    () => {
        "o.tenant_id, o.subject_id, o.tool, o.key, o.status_ref, o.state, o.holder, o.due_at, o.expires_at, \
         o.opened_at, o.changed_at, o.is_dead_letter, o.document, o.digest, o.id"
    };
}
pub(crate) use operation_columns;

/// The columns of a grant's row, in the order in which [`grant`] reads them.
macro_rules! grant_columns {
    () => {
        "name, tenant_id, subject_id, tool, expires_at, is_open, document, digest"
    };
}
pub(crate) use grant_columns;

const DAMAGED: Error = Error::Damaged("a stored value does not have its form");

pub(crate) fn operation(row: &Row<'_>) -> Result<OperationRow, Error> {
    Ok(OperationRow {
        scope: scope(row)?,
        status_ref: text(row, 4, StatusRef::parse)?,
        state: text(row, 5, StateKind::parse)?,
        holder: optional_text(row, 6, InstanceId::new)?,
        due_at: optional_moment(row, 7)?,
        expires_at: optional_moment(row, 8)?,
        opened_at: moment(row, 9)?,
        changed_at: moment(row, 10)?,
        is_dead_letter: column(row, 11)?,
        document: document(row, 12)?,
    })
}

/// A scope in the first four columns.
pub(super) fn scope(row: &Row<'_>) -> Result<Scope, Error> {
    Ok(Scope {
        tenant_id: text(row, 0, |text| TenantId::new(text).ok())?,
        subject_id: text(row, 1, |text| SubjectId::new(text).ok())?,
        tool: text(row, 2, |text| ToolName::new(text).ok())?,
        key: text(row, 3, |text| IdempotencyKey::new(text).ok())?,
    })
}

pub(crate) fn grant(row: &Row<'_>) -> Result<GrantRow, Error> {
    Ok(GrantRow {
        grant: text(row, 0, GrantId::new)?,
        tenant_id: text(row, 1, |text| TenantId::new(text).ok())?,
        subject_id: text(row, 2, |text| SubjectId::new(text).ok())?,
        tool: text(row, 3, |text| ToolName::new(text).ok())?,
        expires_at: moment(row, 4)?,
        is_open: column(row, 5)?,
        document: document(row, 6)?,
    })
}

pub(crate) fn audit(row: &Row<'_>) -> Result<AuditRow, Error> {
    Ok(AuditRow {
        tenant_id: text(row, 0, |text| TenantId::new(text).ok())?,
        sequence: number(row, 1)?,
        document: document(row, 2)?,
    })
}

pub(super) fn fingerprint(row: &Row<'_>, index: usize) -> Result<CallFingerprint, Error> {
    let key: Key = column(row, index)?;
    CallFingerprint::parse_hex(&keys::hex(key)).ok_or(DAMAGED)
}

/// A document in a column, with its digest in the next.
pub(crate) fn document(row: &Row<'_>, index: usize) -> Result<Document, Error> {
    Ok(Document::from_parts(
        column(row, index)?,
        column(row, index + 1)?,
    ))
}

pub(super) fn number(row: &Row<'_>, index: usize) -> Result<u64, Error> {
    u64::try_from(column::<i64>(row, index)?).map_err(|_| DAMAGED)
}

pub(super) fn moment(row: &Row<'_>, index: usize) -> Result<Moment, Error> {
    Moment::from_milliseconds(number(row, index)?).ok_or(DAMAGED)
}

pub(super) fn optional_moment(row: &Row<'_>, index: usize) -> Result<Option<Moment>, Error> {
    match column::<Option<i64>>(row, index)? {
        None => Ok(None),
        Some(_) => moment(row, index).map(Some),
    }
}

pub(super) fn text<T>(
    row: &Row<'_>,
    index: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Error> {
    optional_text(row, index, parse)?.ok_or(DAMAGED)
}

fn optional_text<T>(
    row: &Row<'_>,
    index: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, Error> {
    let text = row.get_ref(index).classify()?;
    let text = text.as_str_or_null().map_err(|_| DAMAGED)?;
    text.map(|text| parse(text).ok_or(DAMAGED)).transpose()
}

fn column<T: FromSql>(row: &Row<'_>, index: usize) -> Result<T, Error> {
    row.get(index).classify()
}
