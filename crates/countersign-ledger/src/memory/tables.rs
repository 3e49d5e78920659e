//! The tables, and the writes of a transaction.

use countersign_contract::{IntentDigest, Scope, StatusRef, TenantId};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;

use super::journal::Table;
use crate::backend::Version;
use crate::document::Document;
use crate::moment::Moment;
use crate::names::{GrantId, InstanceId};
use crate::tables::{ApprovalKey, AuditRow, CallRow, GrantRow, IntentRow, OperationRow, Tables};

/// The most rows of each table.
const CAPACITY: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct MemoryTables {
    now: Option<Moment>,
    version: Version,
    pub(super) calls: Table<CallIdentity, CallRow>,
    pub(super) operations: Table<Scope, (u64, OperationRow)>,
    /// Scopes by the order in which they were opened.
    pub(super) order: Table<u64, Scope>,
    /// The scopes of open operations.
    pub(super) open: Table<Scope, ()>,
    pub(super) scopes: Table<StatusRef, Scope>,
    pub(super) intents: Table<IntentDigest, IntentRow>,
    /// The scopes that intents name. A key is made of one intent, so that no two name the same.
    pub(super) named: Table<Scope, IntentDigest>,
    pub(super) proposals: Table<Scope, Document>,
    pub(super) receipts: Table<Scope, Document>,
    pub(super) approvals: Table<ApprovalKey, Scope>,
    pub(super) instances: Table<InstanceId, Moment>,
    /// With their numbers in the order in which they were first kept.
    pub(super) grants: Table<GrantId, (u64, GrantRow)>,
    pub(super) audit: Table<(TenantId, u64), AuditRow>,
}

impl MemoryTables {
    pub(super) fn set_now(&mut self, now: Moment) {
        self.now = Some(now);
    }

    /// INVARIANT: set when a transaction begins.
    pub(super) fn moment(&self) -> Moment {
        self.now.unwrap_or(Moment::MAX)
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn commit(&mut self) {
        let has_changed = [
            self.calls.commit(),
            self.operations.commit(),
            self.order.commit(),
            self.open.commit(),
            self.scopes.commit(),
            self.intents.commit(),
            self.named.commit(),
            self.proposals.commit(),
            self.receipts.commit(),
            self.approvals.commit(),
            self.instances.commit(),
            self.grants.commit(),
            self.audit.commit(),
        ];
        if has_changed.contains(&true) {
            self.version = Version(self.version.0 + 1);
        }
    }

    pub(super) fn roll_back(&mut self) {
        self.calls.roll_back();
        self.operations.roll_back();
        self.order.roll_back();
        self.open.roll_back();
        self.scopes.roll_back();
        self.intents.roll_back();
        self.named.roll_back();
        self.proposals.roll_back();
        self.receipts.roll_back();
        self.approvals.roll_back();
        self.instances.roll_back();
        self.grants.roll_back();
        self.audit.roll_back();
    }

    /// The operation and everything that hangs on it but its call identities.
    fn remove_operation(&mut self, scope: &Scope) {
        let Some((number, row)) = self.operations.get(scope).cloned() else {
            return;
        };
        self.operations.remove(scope);
        self.order.remove(&number);
        self.open.remove(scope);
        self.scopes.remove(&row.status_ref);
        self.proposals.remove(scope);
        self.receipts.remove(scope);
    }

    fn put_operation(&mut self, number: u64, row: &OperationRow) {
        self.operations
            .put(row.scope.clone(), (number, row.clone()));
        if row.state.is_open() {
            self.open.put(row.scope.clone(), ());
        } else {
            self.open.remove(&row.scope);
        }
    }
}

impl Tables for MemoryTables {
    fn call_insert(&mut self, identity: &CallIdentity, row: &CallRow) -> Result<(), Error> {
        if self.calls.get(identity).is_some() || self.operations.get(&row.scope).is_none() {
            return Err(Error::Damaged("a call is bound twice, or to nothing"));
        }
        bounded(self.calls.rows().len(), "call identities")?;
        self.calls.put(identity.clone(), row.clone());
        Ok(())
    }

    fn operation_open(&mut self, row: &OperationRow, proposal: &Document) -> Result<(), Error> {
        let named = self.scopes.get(&row.status_ref);
        if named.is_some_and(|scope| *scope != row.scope) {
            return Err(Error::Damaged("two operations share a handle"));
        }
        self.remove_operation(&row.scope);
        bounded(self.operations.rows().len(), "operations")?;
        let last = self.order.rows().last_key_value();
        let number = last.map_or(1, |(number, _)| number + 1);
        self.order.put(number, row.scope.clone());
        self.scopes.put(row.status_ref, row.scope.clone());
        self.proposals.put(row.scope.clone(), proposal.clone());
        self.put_operation(number, row);
        Ok(())
    }

    fn operation_update(&mut self, row: &OperationRow) -> Result<(), Error> {
        let Some((number, before)) = self.operations.get(&row.scope).cloned() else {
            return Err(Error::Damaged("an operation that is to change is missing"));
        };
        if before.status_ref != row.status_ref {
            return Err(Error::Damaged("an operation is to change its handle"));
        }
        self.put_operation(number, row);
        Ok(())
    }

    fn operation_remove(&mut self, scope: &Scope) -> Result<(), Error> {
        if self.named.get(scope).is_some() {
            return Err(Error::Damaged("an intent would lose its operation"));
        }
        self.remove_operation(scope);
        let bound: Vec<_> = self
            .calls
            .rows()
            .iter()
            .filter(|(_, row)| row.scope == *scope)
            .map(|(identity, _)| identity.clone())
            .collect();
        for identity in bound {
            self.calls.remove(&identity);
        }
        Ok(())
    }

    fn intent_put(&mut self, intent: &IntentDigest, row: &IntentRow) -> Result<(), Error> {
        if self.operations.get(&row.scope).is_none() {
            return Err(Error::Damaged("an intent names nothing"));
        }
        if let Some(before) = self.intents.get(intent).cloned() {
            self.named.remove(&before.scope);
        }
        self.named.put(row.scope.clone(), *intent);
        self.intents.put(*intent, row.clone());
        Ok(())
    }

    fn receipt_insert(&mut self, scope: &Scope, receipt: &Document) -> Result<(), Error> {
        if self.receipts.get(scope).is_some() || self.operations.get(scope).is_none() {
            return Err(Error::Damaged("a receipt is there already, or for nothing"));
        }
        self.receipts.put(scope.clone(), receipt.clone());
        Ok(())
    }

    fn approval_use_insert(&mut self, approval: &ApprovalKey, scope: &Scope) -> Result<(), Error> {
        if self.approvals.get(approval).is_some() {
            return Err(Error::Damaged("an approval is consumed twice"));
        }
        bounded(self.approvals.rows().len(), "consumed approvals")?;
        self.approvals.put(approval.clone(), scope.clone());
        Ok(())
    }

    fn approval_use_remove(&mut self, approval: &ApprovalKey) -> Result<(), Error> {
        self.approvals.remove(approval);
        Ok(())
    }

    fn instance_put(&mut self, instance: &InstanceId, until: Option<Moment>) -> Result<(), Error> {
        match until {
            Some(until) => self.instances.put(instance.clone(), until),
            None => self.instances.remove(instance),
        }
        Ok(())
    }

    fn grant_put(&mut self, row: &GrantRow) -> Result<(), Error> {
        let count = self.grants.rows().len();
        let number = if let Some((number, _)) = self.grants.get(&row.grant) {
            *number
        } else {
            bounded(count, "grants")?;
            // None is ever removed.
            u64::try_from(count).unwrap_or(u64::MAX)
        };
        self.grants.put(row.grant.clone(), (number, row.clone()));
        Ok(())
    }

    fn audit_append(&mut self, row: &AuditRow) -> Result<(), Error> {
        let head = crate::tables::Rows::audit_head(self, &row.tenant_id)?;
        if row.sequence != head + 1 {
            return Err(Error::Damaged("the audit trail has a gap"));
        }
        self.audit
            .put((row.tenant_id.clone(), row.sequence), row.clone());
        Ok(())
    }
}

fn bounded(count: usize, what: &'static str) -> Result<(), Error> {
    if count < CAPACITY {
        Ok(())
    } else {
        Err(Error::Full {
            what,
            limit: CAPACITY,
        })
    }
}
