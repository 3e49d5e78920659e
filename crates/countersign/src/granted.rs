//! Approving a call that waits under a grant that was given beforehand.

use countersign_contract::Scope;
use countersign_ledger::Grants as _;
use uuid::Uuid;

use crate::host_ledger::FileLedger;
use crate::ledger_advice::failed;

/// Approves what waits under a scope where a grant covers it, and tells whether one did. That takes one use of it.
pub(crate) fn is_granted(ledger: &FileLedger, scope: &Scope) -> anyhow::Result<bool> {
    let nonce = Uuid::new_v4().as_u128();
    let granted = ledger.grant_use(scope, nonce, &|_| true).map_err(failed)?;
    Ok(granted.is_some())
}
