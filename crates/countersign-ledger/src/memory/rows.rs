//! The reads of a transaction.

use std::ops::Bound;

use countersign_contract::{IntentDigest, Scope, StatusRef, SubjectId, TenantId, ToolName};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;

use super::tables::MemoryTables;
use crate::document::Document;
use crate::moment::Moment;
use crate::names::{GrantId, InstanceId};
use crate::query::{Cursor, OperationFilter};
use crate::state::StateKind;
use crate::tables::{
    ApprovalKey, AuditRow, CallRow, GrantRow, IntentRow, OpenCounts, OperationRow, Rows,
};

impl MemoryTables {
    fn open_rows(&self) -> impl Iterator<Item = &OperationRow> {
        let scopes = self.open.rows().keys();
        scopes.filter_map(|scope| self.operations.get(scope).map(|(_, row)| row))
    }

    /// Open rows that a time has come for, longest ago first.
    fn overdue(
        &self,
        limit: usize,
        time: impl Fn(&OperationRow) -> Option<Moment>,
    ) -> Vec<OperationRow> {
        let now = self.moment();
        let mut rows: Vec<_> = self
            .open_rows()
            .filter_map(|row| Some((time(row).filter(|time| *time <= now)?, row)))
            .collect();
        rows.sort_by_key(|(time, row)| (*time, row.scope.clone()));
        let rows = rows.into_iter().take(limit);
        rows.map(|(_, row)| row.clone()).collect()
    }
}

impl Rows for MemoryTables {
    fn now(&self) -> Moment {
        self.moment()
    }

    fn call(&mut self, identity: &CallIdentity) -> Result<Option<CallRow>, Error> {
        Ok(self.calls.get(identity).cloned())
    }

    fn operation(&mut self, scope: &Scope) -> Result<Option<OperationRow>, Error> {
        Ok(self.operations.get(scope).map(|(_, row)| row.clone()))
    }

    fn operation_by_ref(&mut self, status_ref: &StatusRef) -> Result<Option<OperationRow>, Error> {
        let scope = self.scopes.get(status_ref);
        let found = scope.and_then(|scope| self.operations.get(scope));
        Ok(found.map(|(_, row)| row.clone()))
    }

    fn intent(&mut self, intent: &IntentDigest) -> Result<Option<IntentRow>, Error> {
        Ok(self.intents.get(intent).cloned())
    }

    fn proposal(&mut self, scope: &Scope) -> Result<Option<Document>, Error> {
        Ok(self.proposals.get(scope).cloned())
    }

    fn receipt(&mut self, scope: &Scope) -> Result<Option<Document>, Error> {
        Ok(self.receipts.get(scope).cloned())
    }

    fn approval_use(&mut self, approval: &ApprovalKey) -> Result<Option<Scope>, Error> {
        Ok(self.approvals.get(approval).cloned())
    }

    fn instance(&mut self, instance: &InstanceId) -> Result<Option<Moment>, Error> {
        Ok(self.instances.get(instance).copied())
    }

    fn grant(&mut self, grant: &GrantId) -> Result<Option<GrantRow>, Error> {
        Ok(self.grants.get(grant).map(|(_, row)| row.clone()))
    }

    fn grants_for(
        &mut self,
        tenant: &TenantId,
        subject: &SubjectId,
        tool: &ToolName,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error> {
        let now = self.moment();
        let rows = self.grants.rows().values().filter(|(_, row)| {
            let is_usable = row.is_open && now < row.expires_at;
            is_usable && row.tenant_id == *tenant && row.subject_id == *subject && row.tool == *tool
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(number, _)| *number);
        let rows = rows.into_iter().take(limit);
        Ok(rows.map(|(_, row)| row.clone()).collect())
    }

    fn grants(
        &mut self,
        tenant: Option<&TenantId>,
        after: Option<&GrantId>,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.grants.rows().range((from, Bound::Unbounded));
        let rows = rows.map(|(_, (_, row))| row);
        let rows = rows.filter(|row| tenant.is_none_or(|tenant| row.tenant_id == *tenant));
        Ok(rows.take(limit).cloned().collect())
    }

    fn waiting(&mut self, tenant: &TenantId, subject: &SubjectId) -> Result<usize, Error> {
        let waiting = self.open_rows().filter(|row| {
            row.state == StateKind::AwaitingApproval
                && row.scope.tenant_id == *tenant
                && row.scope.subject_id == *subject
        });
        Ok(waiting.count())
    }

    fn due(&mut self, tool: Option<&ToolName>, limit: usize) -> Result<Vec<OperationRow>, Error> {
        Ok(self.overdue(limit, |row| {
            let is_of_tool = tool.is_none_or(|tool| row.scope.tool == *tool);
            row.due_at.filter(|_| is_of_tool)
        }))
    }

    fn expiring(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error> {
        Ok(self.overdue(limit, |row| row.expires_at))
    }

    fn orphans(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error> {
        let now = self.moment();
        let is_orphan = |row: &&OperationRow| {
            row.holder
                .as_ref()
                .is_some_and(|holder| self.instances.get(holder).is_none_or(|until| *until <= now))
        };
        Ok(self
            .open_rows()
            .filter(is_orphan)
            .take(limit)
            .cloned()
            .collect())
    }

    fn operations(
        &mut self,
        filter: &OperationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<(Cursor, OperationRow)>, Error> {
        let before = after.map_or(Bound::Unbounded, |cursor| Bound::Excluded(cursor.as_u64()));
        let newest_first = self.order.rows().range((Bound::Unbounded, before)).rev();
        let rows = newest_first.filter_map(|(number, scope)| {
            let (_, row) = self.operations.get(scope)?;
            filter
                .lets_through(row)
                .then(|| (Cursor::new(*number), row.clone()))
        });
        Ok(rows.take(limit).collect())
    }

    fn open_counts(&mut self) -> Result<OpenCounts, Error> {
        let mut counts = OpenCounts::default();
        for row in self.open_rows() {
            let count = match row.state {
                StateKind::AwaitingApproval => &mut counts.awaiting_approval,
                StateKind::Reserved => &mut counts.reserved,
                StateKind::Executing => &mut counts.executing,
                StateKind::Unknown => &mut counts.unknown,
                StateKind::Denied
                | StateKind::Expired
                | StateKind::Blocked
                | StateKind::Failed
                | StateKind::Succeeded
                | StateKind::ResolvedCommitted
                | StateKind::ResolvedNotExecuted => continue,
            };
            *count += 1;
            counts.dead_letters += u64::from(row.is_dead_letter);
            counts.oldest_due = match (counts.oldest_due, row.due_at) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Ok(counts)
    }

    fn audit_head(&mut self, tenant: &TenantId) -> Result<u64, Error> {
        let of_tenant = (tenant.clone(), 0)..=(tenant.clone(), u64::MAX);
        let last = self.audit.rows().range(of_tenant).next_back();
        Ok(last.map_or(0, |((_, sequence), _)| *sequence))
    }

    fn audit(
        &mut self,
        tenant: &TenantId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<AuditRow>, Error> {
        let behind = (tenant.clone(), after.saturating_add(1))..=(tenant.clone(), u64::MAX);
        let rows = self.audit.rows().range(behind).map(|(_, row)| row);
        Ok(rows.take(limit).cloned().collect())
    }
}
