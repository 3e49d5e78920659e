//! What people decided, for whoever waits for it: a grant given beforehand, and the reason of a denial.

use countersign_contract::{Scope, StatusRef};
use countersign_ledger::{Grants as _, Inspection as _, Note, State};
use uuid::Uuid;

use crate::host_ledger::FileLedger;
use crate::ledger_advice::failed;

/// Approves what waits under a scope where a grant covers it, and tells whether one did. That takes one use of it.
pub(crate) fn is_granted(ledger: &FileLedger, scope: &Scope) -> anyhow::Result<bool> {
    let nonce = Uuid::new_v4().as_u128();
    let granted = ledger.grant_use(scope, nonce).map_err(failed)?;
    Ok(granted.is_some())
}

/// Why a person said no, where one did and gave a reason.
pub(crate) fn denial(ledger: &FileLedger, status_ref: &StatusRef) -> anyhow::Result<Option<Note>> {
    let found = ledger.operation(status_ref).map_err(failed)?;
    Ok(match found.map(|found| found.record.state) {
        Some(State::Denied { reason, .. }) => reason,
        Some(_) | None => None,
    })
}
