//! Broken: an approval that has begun something may begin again. Only what waits to begin remembers its approval.

use std::time::Duration;

use countersign_contract::{IntentDigest, Scope, StatusRef, SubjectId, TenantId, ToolName};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;
use countersign_ledger::{
    ApprovalKey, AuditRow, Backend, CallRow, Cursor, Document, GrantId, GrantRow, InstanceId,
    IntentRow, Moment, OpenCounts, OperationFilter, OperationRow, Rows, StateKind, Tables, Version,
};

/// A back-end that forgets which approvals are consumed.
#[derive(Debug)]
pub(crate) struct Forgetful<B>(pub(crate) B);

impl<B: Backend> Backend for Forgetful<B> {
    fn write<T, F>(&self, name: &'static str, mut body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
    {
        self.0
            .write(name, move |tables| body(&mut ForgetfulTables(tables)))
    }

    fn read<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        F: FnOnce(&mut dyn Rows) -> Result<T, Error>,
    {
        self.0.read(name, body)
    }

    fn version(&self) -> Version {
        self.0.version()
    }

    fn wait(&self, since: Version, at_most: Duration) -> Version {
        self.0.wait(since, at_most)
    }
}

struct ForgetfulTables<'t>(&'t mut dyn Tables);

impl ForgetfulTables<'_> {
    fn waits(&mut self, scope: &Scope) -> Result<bool, Error> {
        let row = self.0.operation(scope)?;
        Ok(row.is_some_and(|row| row.state == StateKind::Reserved))
    }
}

impl Rows for ForgetfulTables<'_> {
    fn approval_use(&mut self, approval: &ApprovalKey) -> Result<Option<Scope>, Error> {
        match self.0.approval_use(approval)? {
            Some(scope) if self.waits(&scope)? => Ok(Some(scope)),
            Some(_) | None => Ok(None),
        }
    }

    fn now(&self) -> Moment {
        self.0.now()
    }

    fn call(&mut self, identity: &CallIdentity) -> Result<Option<CallRow>, Error> {
        self.0.call(identity)
    }

    fn operation(&mut self, scope: &Scope) -> Result<Option<OperationRow>, Error> {
        self.0.operation(scope)
    }

    fn operation_by_ref(&mut self, status_ref: &StatusRef) -> Result<Option<OperationRow>, Error> {
        self.0.operation_by_ref(status_ref)
    }

    fn intent(&mut self, intent: &IntentDigest) -> Result<Option<IntentRow>, Error> {
        self.0.intent(intent)
    }

    fn proposal(&mut self, scope: &Scope) -> Result<Option<Document>, Error> {
        self.0.proposal(scope)
    }

    fn receipt(&mut self, scope: &Scope) -> Result<Option<Document>, Error> {
        self.0.receipt(scope)
    }

    fn instance(&mut self, instance: &InstanceId) -> Result<Option<Moment>, Error> {
        self.0.instance(instance)
    }

    fn grant(&mut self, grant: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.0.grant(grant)
    }

    fn grants_for(
        &mut self,
        tenant: &TenantId,
        subject: &SubjectId,
        tool: &ToolName,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error> {
        self.0.grants_for(tenant, subject, tool, limit)
    }

    fn grants(
        &mut self,
        tenant: Option<&TenantId>,
        after: Option<&GrantId>,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error> {
        self.0.grants(tenant, after, limit)
    }

    fn waiting(&mut self, tenant: &TenantId, subject: &SubjectId) -> Result<usize, Error> {
        self.0.waiting(tenant, subject)
    }

    fn due(&mut self, tool: Option<&ToolName>, limit: usize) -> Result<Vec<OperationRow>, Error> {
        self.0.due(tool, limit)
    }

    fn expiring(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error> {
        self.0.expiring(limit)
    }

    fn orphans(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error> {
        self.0.orphans(limit)
    }

    fn operations(
        &mut self,
        filter: &OperationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<(Cursor, OperationRow)>, Error> {
        self.0.operations(filter, after, limit)
    }

    fn open_counts(&mut self) -> Result<OpenCounts, Error> {
        self.0.open_counts()
    }

    fn audit_head(&mut self, tenant: &TenantId) -> Result<u64, Error> {
        self.0.audit_head(tenant)
    }

    fn audit(
        &mut self,
        tenant: &TenantId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<AuditRow>, Error> {
        self.0.audit(tenant, after, limit)
    }
}

impl Tables for ForgetfulTables<'_> {
    fn approval_use_insert(&mut self, approval: &ApprovalKey, scope: &Scope) -> Result<(), Error> {
        self.0.approval_use_remove(approval)?;
        self.0.approval_use_insert(approval, scope)
    }

    fn call_insert(&mut self, identity: &CallIdentity, row: &CallRow) -> Result<(), Error> {
        self.0.call_insert(identity, row)
    }

    fn operation_open(&mut self, row: &OperationRow, proposal: &Document) -> Result<(), Error> {
        self.0.operation_open(row, proposal)
    }

    fn operation_update(&mut self, row: &OperationRow) -> Result<(), Error> {
        self.0.operation_update(row)
    }

    fn operation_remove(&mut self, scope: &Scope) -> Result<(), Error> {
        self.0.operation_remove(scope)
    }

    fn intent_put(&mut self, intent: &IntentDigest, row: &IntentRow) -> Result<(), Error> {
        self.0.intent_put(intent, row)
    }

    fn receipt_insert(&mut self, scope: &Scope, receipt: &Document) -> Result<(), Error> {
        self.0.receipt_insert(scope, receipt)
    }

    fn approval_use_remove(&mut self, approval: &ApprovalKey) -> Result<(), Error> {
        self.0.approval_use_remove(approval)
    }

    fn instance_put(&mut self, instance: &InstanceId, until: Option<Moment>) -> Result<(), Error> {
        self.0.instance_put(instance, until)
    }

    fn grant_put(&mut self, row: &GrantRow) -> Result<(), Error> {
        self.0.grant_put(row)
    }

    fn audit_append(&mut self, row: &AuditRow) -> Result<(), Error> {
        self.0.audit_append(row)
    }
}
