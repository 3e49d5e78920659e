//! What a transaction writes.

use countersign_contract::{IntentDigest, Scope};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;
use countersign_ledger::{
    ApprovalKey, AuditRow, CallRow, Document, GrantRow, InstanceId, IntentRow, Moment,
    OperationRow, Tables,
};

use super::{SqliteTables, stored, stored_moment};
use crate::keys::{self, Key};

const MISSING: &str = "an operation that is to change is missing";

impl Tables for SqliteTables<'_> {
    fn call_insert(&mut self, identity: &CallIdentity, row: &CallRow) -> Result<(), Error> {
        self.change_one(
            "INSERT OR IGNORE INTO call (identity, fingerprint, operation)
             SELECT ?1, ?2, id FROM operation WHERE scope = ?3",
            (
                keys::of_identity(identity),
                row.fingerprint.as_digest().as_bytes(),
                keys::of_scope(&row.scope),
            ),
            "a call is bound twice, or to nothing",
        )
    }

    fn operation_open(&mut self, row: &OperationRow, proposal: &Document) -> Result<(), Error> {
        let scope = keys::of_scope(&row.scope);
        if self.operation_insert(&scope, row)? == 0 {
            self.operation_open_again(&scope, row)?;
        }
        self.change_one(
            "INSERT INTO proposal (operation, document, digest)
             SELECT id, ?2, ?3 FROM operation WHERE scope = ?1",
            (scope, proposal.bytes(), proposal.digest()),
            MISSING,
        )
    }

    fn operation_update(&mut self, row: &OperationRow) -> Result<(), Error> {
        self.change_one(
            "UPDATE operation
             SET state = ?3, holder = ?4, due_at = ?5, expires_at = ?6, opened_at = ?7, changed_at = ?8,
                 is_dead_letter = ?9, document = ?10, digest = ?11
             WHERE scope = ?1 AND status_ref = ?2",
            (
                keys::of_scope(&row.scope),
                row.status_ref.to_string(),
                row.state.as_str(),
                row.holder.as_ref().map(InstanceId::as_str),
                row.due_at.map(stored_moment),
                row.expires_at.map(stored_moment),
                stored_moment(row.opened_at),
                stored_moment(row.changed_at),
                row.is_dead_letter,
                row.document.bytes(),
                row.document.digest(),
            ),
            MISSING,
        )
    }

    fn operation_remove(&mut self, scope: &Scope) -> Result<(), Error> {
        self.change(
            "DELETE FROM operation WHERE scope = ?1",
            [keys::of_scope(scope)],
        )?;
        Ok(())
    }

    fn intent_put(&mut self, intent: &IntentDigest, row: &IntentRow) -> Result<(), Error> {
        self.change_one(
            "INSERT INTO intent (digest, generation, operation)
             SELECT ?1, ?2, id FROM operation WHERE scope = ?3
             ON CONFLICT (digest) DO UPDATE SET generation = excluded.generation, operation = excluded.operation",
            (
                intent.as_digest().as_bytes(),
                stored(row.generation)?,
                keys::of_scope(&row.scope),
            ),
            MISSING,
        )
    }

    fn receipt_insert(&mut self, scope: &Scope, receipt: &Document) -> Result<(), Error> {
        self.change_one(
            "INSERT OR IGNORE INTO receipt (operation, document, digest)
             SELECT id, ?2, ?3 FROM operation WHERE scope = ?1",
            (keys::of_scope(scope), receipt.bytes(), receipt.digest()),
            "a receipt is there already, or for nothing",
        )
    }

    fn approval_use_insert(&mut self, approval: &ApprovalKey, scope: &Scope) -> Result<(), Error> {
        self.change_one(
            "INSERT OR IGNORE INTO approval_use (digest, approval_id, operation)
             SELECT ?1, ?2, id FROM operation WHERE scope = ?3",
            (
                approval.digest.as_digest().as_bytes(),
                approval.approval_id.as_str(),
                keys::of_scope(scope),
            ),
            "an approval is consumed twice, or for nothing",
        )
    }

    fn approval_use_remove(&mut self, approval: &ApprovalKey) -> Result<(), Error> {
        self.change(
            "DELETE FROM approval_use WHERE digest = ?1 AND approval_id = ?2",
            (
                approval.digest.as_digest().as_bytes(),
                approval.approval_id.as_str(),
            ),
        )?;
        Ok(())
    }

    fn instance_put(&mut self, instance: &InstanceId, until: Option<Moment>) -> Result<(), Error> {
        match until {
            Some(until) => self.change(
                "INSERT INTO instance (instance, alive_until) VALUES (?1, ?2)
                 ON CONFLICT (instance) DO UPDATE SET alive_until = excluded.alive_until",
                (instance.as_str(), stored_moment(until)),
            )?,
            None => self.change(
                "DELETE FROM instance WHERE instance = ?1",
                [instance.as_str()],
            )?,
        };
        Ok(())
    }

    fn grant_put(&mut self, row: &GrantRow) -> Result<(), Error> {
        self.change(
            "INSERT INTO standing_grant (name, tenant_id, subject_id, tool, document, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (name) DO UPDATE SET tenant_id = excluded.tenant_id, subject_id = excluded.subject_id,
                 tool = excluded.tool, document = excluded.document, digest = excluded.digest",
            (
                row.grant.as_str(),
                row.tenant_id.as_str(),
                row.subject_id.as_str(),
                row.tool.as_str(),
                row.document.bytes(),
                row.document.digest(),
            ),
        )?;
        Ok(())
    }

    fn audit_append(&mut self, row: &AuditRow) -> Result<(), Error> {
        self.change_one(
            "INSERT INTO audit (tenant_id, sequence, document, digest)
             SELECT ?1, ?2, ?3, ?4
             WHERE ?2 = 1 + coalesce(
                 (SELECT sequence FROM audit WHERE tenant_id = ?1 ORDER BY sequence DESC LIMIT 1), 0)",
            (
                row.tenant_id.as_str(),
                stored(row.sequence)?,
                row.document.bytes(),
                row.document.digest(),
            ),
            "the audit trail has a gap",
        )
    }
}

impl SqliteTables<'_> {
    /// Inserts an operation; 0 where its scope has one.
    fn operation_insert(&self, scope: &Key, row: &OperationRow) -> Result<usize, Error> {
        self.change(
            "INSERT INTO operation (scope, tenant_id, subject_id, tool, key, status_ref, state, holder, due_at,
                 expires_at, opened_at, changed_at, is_dead_letter, document, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
             ON CONFLICT (scope) DO NOTHING",
            rusqlite::params![
                scope,
                row.scope.tenant_id.as_str(),
                row.scope.subject_id.as_str(),
                row.scope.tool.as_str(),
                row.scope.key.as_str(),
                row.status_ref.to_string(),
                row.state.as_str(),
                row.holder.as_ref().map(InstanceId::as_str),
                row.due_at.map(stored_moment),
                row.expires_at.map(stored_moment),
                stored_moment(row.opened_at),
                stored_moment(row.changed_at),
                row.is_dead_letter,
                row.document.bytes(),
                row.document.digest(),
            ],
        )
    }

    /// Gives a scope's operation the next number and a new row; calls and approvals stay with it.
    fn operation_open_again(&self, scope: &Key, row: &OperationRow) -> Result<(), Error> {
        for hanging in [
            "DELETE FROM proposal WHERE operation = (SELECT id FROM operation WHERE scope = ?1)",
            "DELETE FROM receipt WHERE operation = (SELECT id FROM operation WHERE scope = ?1)",
        ] {
            self.change(hanging, [scope])?;
        }
        self.change_one(
            "UPDATE operation
             SET id = (SELECT max(id) + 1 FROM operation), status_ref = ?2, state = ?3, holder = ?4, due_at = ?5,
                 expires_at = ?6, opened_at = ?7, changed_at = ?8, is_dead_letter = ?9, document = ?10, digest = ?11
             WHERE scope = ?1",
            (
                scope,
                row.status_ref.to_string(),
                row.state.as_str(),
                row.holder.as_ref().map(InstanceId::as_str),
                row.due_at.map(stored_moment),
                row.expires_at.map(stored_moment),
                stored_moment(row.opened_at),
                stored_moment(row.changed_at),
                row.is_dead_letter,
                row.document.bytes(),
                row.document.digest(),
            ),
            MISSING,
        )
    }
}
