//! The audit trail of one operation, out of that of its tenant.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{AuditEntry, Inspection, MAX_PAGE, Record};

/// The most entries of a tenant that are looked through for those of one operation.
const MAX_LOOKED_THROUGH: u64 = 100_000;
/// So many entries before the time at which it was asked for are looked through too: clocks may jump.
const MARGIN: u64 = 1000;

/// The entries about an operation, and whether more may follow that were not looked for.
pub(crate) fn trail_of(
    ledger: &(impl Inspection + ?Sized),
    record: &Record,
) -> Result<(Vec<AuditEntry>, bool), Error> {
    let tenant = &record.scope.tenant_id;
    let status_ref = record.terms.status_ref.to_string();
    let is_about = |entry: &AuditEntry| {
        let operation = entry.value.get("operation");
        operation.and_then(|operation| operation.get("status_ref")?.as_str()) == Some(&status_ref)
    };
    let mut entries = Vec::new();
    let mut after = first_since(ledger, record)?.saturating_sub(MARGIN);
    let end = after.saturating_add(MAX_LOOKED_THROUGH);
    while after < end {
        let page = ledger.audit(tenant, after, MAX_PAGE)?;
        let Some(last) = page.last() else {
            return Ok((entries, true));
        };
        after = last.sequence;
        entries.extend(page.into_iter().filter(is_about));
    }
    Ok((entries, false))
}

/// A number before which all entries are older than the operation: sought in halves, since a trail may be very long.
fn first_since(ledger: &(impl Inspection + ?Sized), record: &Record) -> Result<u64, Error> {
    let tenant = &record.scope.tenant_id;
    let is_older = |after: u64| -> Result<bool, Error> {
        let entry = ledger.audit(tenant, after, 1)?.pop();
        Ok(entry.is_some_and(|entry| entry.at < record.opened_at))
    };
    let mut beyond: u64 = 1;
    while is_older(beyond)? {
        beyond = beyond.saturating_mul(2);
    }
    let mut before = beyond / 2;
    while before + 1 < beyond {
        let middle = before.midpoint(beyond);
        if is_older(middle)? {
            before = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(before)
}
