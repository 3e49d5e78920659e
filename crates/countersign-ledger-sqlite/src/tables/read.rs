//! What a transaction reads.

use countersign_contract::{IntentDigest, Scope, StatusRef, SubjectId, TenantId, ToolName};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;
use countersign_ledger::{
    ApprovalKey, AuditRow, CallRow, Cursor, Document, GrantId, GrantRow, InstanceId, IntentRow,
    Moment, OpenCounts, OperationFilter, OperationRow, Rows, StateKind,
};

use super::decode::{self, grant_columns, operation_columns};
use super::{SqliteTables, stored, stored_limit, stored_moment};
use crate::error::Classify;
use crate::keys;

/// The states that the index of open operations holds, in the words of its definition.
macro_rules! is_open {
    () => {
        "(o.state = 'executing' OR o.state = 'unknown' OR o.state = 'awaiting_approval' OR o.state = 'reserved')"
    };
}

impl Rows for SqliteTables<'_> {
    fn now(&self) -> Moment {
        self.now
    }

    fn call(&mut self, identity: &CallIdentity) -> Result<Option<CallRow>, Error> {
        let key = keys::of_identity(identity);
        if self.unbound == Some(key) {
            return Ok(None);
        }
        let found = self.find(
            "SELECT o.tenant_id, o.subject_id, o.tool, o.key, c.fingerprint
             FROM call c JOIN operation o ON o.id = c.operation WHERE c.identity = ?1",
            [key],
            |row| {
                Ok(CallRow {
                    scope: decode::scope(row)?,
                    fingerprint: decode::fingerprint(row, 4)?,
                })
            },
        )?;
        self.unbound = found.is_none().then_some(key);
        Ok(found)
    }

    fn operation(&mut self, scope: &Scope) -> Result<Option<OperationRow>, Error> {
        let key = keys::of_scope(scope);
        let found = self.find(
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation o WHERE o.scope = ?1"
            ),
            [key],
            |row| Ok((row.get(14).classify()?, decode::operation(row)?)),
        )?;
        self.last = Some((key, found.as_ref().map(|(id, _)| *id)));
        Ok(found.map(|(_, row)| row))
    }

    fn operation_by_ref(&mut self, status_ref: &StatusRef) -> Result<Option<OperationRow>, Error> {
        self.find(
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation o WHERE o.status_ref = ?1"
            ),
            [status_ref.to_string()],
            decode::operation,
        )
    }

    fn intent(&mut self, intent: &IntentDigest) -> Result<Option<IntentRow>, Error> {
        self.find(
            "SELECT o.tenant_id, o.subject_id, o.tool, o.key, i.generation
             FROM intent i JOIN operation o ON o.id = i.operation WHERE i.digest = ?1",
            [intent.as_digest().as_bytes()],
            |row| {
                Ok(IntentRow {
                    scope: decode::scope(row)?,
                    generation: decode::number(row, 4)?,
                })
            },
        )
    }

    fn proposal(&mut self, scope: &Scope) -> Result<Option<Document>, Error> {
        let Some(id) = self.id(scope)? else {
            return Ok(None);
        };
        self.find(
            "SELECT document, digest FROM proposal WHERE operation = ?1",
            [id],
            |row| decode::document(row, 0),
        )
    }

    fn receipt(&mut self, scope: &Scope) -> Result<Option<Document>, Error> {
        let Some(id) = self.id(scope)? else {
            return Ok(None);
        };
        self.find(
            "SELECT document, digest FROM receipt WHERE operation = ?1",
            [id],
            |row| decode::document(row, 0),
        )
    }

    fn approval_use(&mut self, approval: &ApprovalKey) -> Result<Option<Scope>, Error> {
        self.find(
            "SELECT o.tenant_id, o.subject_id, o.tool, o.key
             FROM approval_use a JOIN operation o ON o.id = a.operation
             WHERE a.digest = ?1 AND a.approval_id = ?2",
            (
                approval.digest.as_digest().as_bytes(),
                approval.approval_id.as_str(),
            ),
            decode::scope,
        )
    }

    fn instance(&mut self, instance: &InstanceId) -> Result<Option<Moment>, Error> {
        self.find(
            "SELECT alive_until FROM instance WHERE instance = ?1",
            [instance.as_str()],
            |row| decode::moment(row, 0),
        )
    }

    fn grant(&mut self, grant: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.find(
            concat!(
                "SELECT ",
                grant_columns!(),
                " FROM standing_grant WHERE name = ?1"
            ),
            [grant.as_str()],
            decode::grant,
        )
    }

    fn grants_for(
        &mut self,
        tenant: &TenantId,
        subject: &SubjectId,
        tool: &ToolName,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error> {
        self.list(
            concat!(
                "SELECT ",
                grant_columns!(),
                " FROM standing_grant
                 WHERE is_open = 1 AND tenant_id = ?1 AND subject_id = ?2 AND tool = ?3 AND expires_at > ?4
                 ORDER BY id LIMIT ?5"
            ),
            (
                tenant.as_str(),
                subject.as_str(),
                tool.as_str(),
                stored_moment(self.now),
                stored_limit(limit),
            ),
            decode::grant,
        )
    }

    fn grants(
        &mut self,
        tenant: Option<&TenantId>,
        after: Option<&GrantId>,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error> {
        self.list(
            concat!(
                "SELECT ",
                grant_columns!(),
                " FROM standing_grant
                 WHERE (?1 IS NULL OR tenant_id = ?1) AND (?2 IS NULL OR name > ?2) ORDER BY name LIMIT ?3"
            ),
            (
                tenant.map(TenantId::as_str),
                after.map(GrantId::as_str),
                stored_limit(limit),
            ),
            decode::grant,
        )
    }

    fn waiting(&mut self, tenant: &TenantId, subject: &SubjectId) -> Result<usize, Error> {
        let count = self.find(
            "SELECT count(*) FROM operation
             WHERE state = 'awaiting_approval' AND tenant_id = ?1 AND subject_id = ?2",
            (tenant.as_str(), subject.as_str()),
            |row| decode::number(row, 0),
        )?;
        Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(usize::MAX))
    }

    fn due(&mut self, tool: Option<&ToolName>, limit: usize) -> Result<Vec<OperationRow>, Error> {
        let (now, limit) = (stored_moment(self.now), stored_limit(limit));
        match tool {
            Some(tool) => self.list(
                concat!(
                    "SELECT ",
                    operation_columns!(),
                    " FROM operation o INDEXED BY operation_due
                     WHERE o.due_at IS NOT NULL AND o.tool = ?1 AND o.due_at <= ?2 AND ",
                    is_open!(),
                    " ORDER BY o.due_at LIMIT ?3"
                ),
                (tool.as_str(), now, limit),
                decode::operation,
            ),
            None => self.list(
                concat!(
                    "SELECT ",
                    operation_columns!(),
                    " FROM operation o INDEXED BY operation_due
                     WHERE o.due_at IS NOT NULL AND o.due_at <= ?1 AND ",
                    is_open!(),
                    " ORDER BY o.due_at LIMIT ?2"
                ),
                (now, limit),
                decode::operation,
            ),
        }
    }

    fn expiring(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error> {
        self.list(
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation o INDEXED BY operation_expiring
                 WHERE o.expires_at IS NOT NULL AND o.expires_at <= ?1 AND ",
                is_open!(),
                " ORDER BY o.expires_at LIMIT ?2"
            ),
            (stored_moment(self.now), stored_limit(limit)),
            decode::operation,
        )
    }

    fn orphans(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error> {
        self.list(
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation o INDEXED BY operation_open
                 WHERE o.state = 'executing' AND ",
                is_open!(),
                " AND NOT EXISTS (
                     SELECT 1 FROM instance i WHERE i.instance = o.holder AND i.alive_until > ?1)
                 LIMIT ?2"
            ),
            (stored_moment(self.now), stored_limit(limit)),
            decode::operation,
        )
    }

    fn operations(
        &mut self,
        filter: &OperationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<(Cursor, OperationRow)>, Error> {
        // A cursor comes from outside: behind a number that no row has, all rows lie.
        let before = after.and_then(|cursor| stored(cursor.as_u64()).ok());
        let before = before.unwrap_or(i64::MAX);
        let are_open = !filter.states.is_empty() && filter.states.iter().all(|s| s.is_open());
        let statement = if are_open {
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation o INDEXED BY operation_open WHERE o.id < ?1 AND ",
                is_open!(),
                " AND (?2 IS NULL OR o.tenant_id = ?2) AND (?3 IS NULL OR o.tool = ?3)
                 ORDER BY o.id DESC"
            )
        } else {
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation o NOT INDEXED WHERE o.id < ?1
                 AND (?2 IS NULL OR o.tenant_id = ?2) AND (?3 IS NULL OR o.tool = ?3)
                 ORDER BY o.id DESC"
            )
        };
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        // The rows are read one by one, and no further than to the last that is asked for.
        self.until(
            statement,
            (
                before,
                filter.tenant.as_ref().map(TenantId::as_str),
                filter.tool.as_ref().map(ToolName::as_str),
            ),
            |row| {
                let operation = decode::operation(row)?;
                if filter.lets_through(&operation) {
                    found.push((Cursor::new(decode::number(row, 14)?), operation));
                }
                Ok(found.len() >= limit)
            },
        )?;
        Ok(found)
    }

    fn open_counts(&mut self) -> Result<OpenCounts, Error> {
        let mut counts = OpenCounts::default();
        let rows = self.list(
            concat!(
                "SELECT o.state, count(*), sum(o.is_dead_letter), min(o.due_at)
                 FROM operation o INDEXED BY operation_open WHERE ",
                is_open!(),
                " GROUP BY o.state"
            ),
            [],
            |row| {
                Ok((
                    decode::text(row, 0, StateKind::parse)?,
                    decode::number(row, 1)?,
                    decode::number(row, 2)?,
                    decode::optional_moment(row, 3)?,
                ))
            },
        )?;
        for (state, count, dead_letters, oldest_due) in rows {
            match state {
                StateKind::AwaitingApproval => counts.awaiting_approval = count,
                StateKind::Reserved => counts.reserved = count,
                StateKind::Executing => counts.executing = count,
                StateKind::Unknown => counts.unknown = count,
                StateKind::Denied
                | StateKind::Expired
                | StateKind::Blocked
                | StateKind::Failed
                | StateKind::Succeeded
                | StateKind::ResolvedCommitted
                | StateKind::ResolvedNotExecuted => {}
            }
            counts.dead_letters += dead_letters;
            counts.oldest_due = match (counts.oldest_due, oldest_due) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Ok(counts)
    }

    fn audit_head(&mut self, tenant: &TenantId) -> Result<u64, Error> {
        if let Some((of, head)) = &self.head
            && of == tenant
        {
            return Ok(*head);
        }
        let head = self.find(
            "SELECT sequence FROM audit WHERE tenant_id = ?1 ORDER BY sequence DESC LIMIT 1",
            [tenant.as_str()],
            |row| decode::number(row, 0),
        )?;
        let head = head.unwrap_or(0);
        self.head = Some((tenant.clone(), head));
        Ok(head)
    }

    fn audit(
        &mut self,
        tenant: &TenantId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<AuditRow>, Error> {
        // Whoever asks for what comes after the last possible number gets nothing.
        let after = stored(after).unwrap_or(i64::MAX);
        self.list(
            "SELECT tenant_id, sequence, document, digest FROM audit
             WHERE tenant_id = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
            (tenant.as_str(), after, stored_limit(limit)),
            decode::audit,
        )
    }
}
