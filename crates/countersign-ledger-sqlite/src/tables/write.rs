//! What a transaction writes.

use countersign_contract::{IntentDigest, Scope};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;
use countersign_ledger::{
    ApprovalKey, AuditRow, CallRow, Document, GrantRow, InstanceId, IntentRow, Moment,
    OperationRow, Rows, Tables,
};

use super::{SqliteTables, stored, stored_moment};
use crate::error::Classify;
use crate::keys::{self, Key};

const MISSING: &str = "an operation that is to change is missing";

impl Tables for SqliteTables<'_> {
    fn call_insert(&mut self, identity: &CallIdentity, row: &CallRow) -> Result<(), Error> {
        const OTHERWISE: &str = "a call is bound twice, or to nothing";
        self.unbound = None;
        let operation = self.id_of_present(&row.scope, OTHERWISE)?;
        self.change_one(
            "INSERT OR IGNORE INTO call (identity, fingerprint, operation) VALUES (?1, ?2, ?3)",
            (
                keys::of_identity(identity),
                row.fingerprint.as_digest().as_bytes(),
                operation,
            ),
            OTHERWISE,
        )
    }

    fn operation_open(&mut self, row: &OperationRow, proposal: &Document) -> Result<(), Error> {
        let scope = keys::of_scope(&row.scope);
        let operation = if self.operation_insert(&scope, row)? == 0 {
            self.operation_open_again(row)?
        } else {
            self.connection.last_insert_rowid()
        };
        self.last = Some((scope, Some(operation)));
        self.change_one(
            "INSERT INTO proposal (operation, document, digest) VALUES (?1, ?2, ?3)",
            (operation, proposal.bytes(), proposal.digest()),
            MISSING,
        )
    }

    fn operation_update(&mut self, row: &OperationRow) -> Result<(), Error> {
        let operation = self.id_of_present(&row.scope, MISSING)?;
        self.change_one(
            "UPDATE operation
             SET state = ?3, holder = ?4, due_at = ?5, expires_at = ?6, opened_at = ?7, changed_at = ?8,
                 is_dead_letter = ?9, document = ?10, digest = ?11
             WHERE id = ?1 AND status_ref = ?2",
            (
                operation,
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
        self.last = None;
        self.change(
            "DELETE FROM operation WHERE scope = ?1",
            [keys::of_scope(scope)],
        )?;
        Ok(())
    }

    fn intent_put(&mut self, intent: &IntentDigest, row: &IntentRow) -> Result<(), Error> {
        let operation = self.id_of_present(&row.scope, MISSING)?;
        self.change_one(
            "INSERT INTO intent (digest, generation, operation) VALUES (?1, ?2, ?3)
             ON CONFLICT (digest) DO UPDATE SET generation = excluded.generation, operation = excluded.operation",
            (
                intent.as_digest().as_bytes(),
                stored(row.generation)?,
                operation,
            ),
            MISSING,
        )
    }

    fn receipt_insert(&mut self, scope: &Scope, receipt: &Document) -> Result<(), Error> {
        const OTHERWISE: &str = "a receipt is there already, or for nothing";
        let operation = self.id_of_present(scope, OTHERWISE)?;
        self.change_one(
            "INSERT OR IGNORE INTO receipt (operation, document, digest) VALUES (?1, ?2, ?3)",
            (operation, receipt.bytes(), receipt.digest()),
            OTHERWISE,
        )
    }

    fn approval_use_insert(&mut self, approval: &ApprovalKey, scope: &Scope) -> Result<(), Error> {
        const OTHERWISE: &str = "an approval is consumed twice, or for nothing";
        let operation = self.id_of_present(scope, OTHERWISE)?;
        self.change_one(
            "INSERT OR IGNORE INTO approval_use (digest, approval_id, operation) VALUES (?1, ?2, ?3)",
            (
                approval.digest.as_digest().as_bytes(),
                approval.approval_id.as_str(),
                operation,
            ),
            OTHERWISE,
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
            "INSERT INTO standing_grant
                 (name, tenant_id, subject_id, tool, expires_at, is_open, document, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (name) DO UPDATE SET tenant_id = excluded.tenant_id, subject_id = excluded.subject_id,
                 tool = excluded.tool, expires_at = excluded.expires_at, is_open = excluded.is_open,
                 document = excluded.document, digest = excluded.digest",
            (
                row.grant.as_str(),
                row.tenant_id.as_str(),
                row.subject_id.as_str(),
                row.tool.as_str(),
                stored_moment(row.expires_at),
                row.is_open,
                row.document.bytes(),
                row.document.digest(),
            ),
        )?;
        Ok(())
    }

    fn audit_append(&mut self, row: &AuditRow) -> Result<(), Error> {
        if row.sequence != self.audit_head(&row.tenant_id)? + 1 {
            return Err(Error::Damaged("the audit trail has a gap"));
        }
        self.change_one(
            "INSERT INTO audit (tenant_id, sequence, document, digest) VALUES (?1, ?2, ?3, ?4)",
            (
                row.tenant_id.as_str(),
                stored(row.sequence)?,
                row.document.bytes(),
                row.document.digest(),
            ),
            "an audit entry is there already",
        )?;
        self.head = Some((row.tenant_id.clone(), row.sequence));
        Ok(())
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
    fn operation_open_again(&mut self, row: &OperationRow) -> Result<i64, Error> {
        let before = self.id_of_present(&row.scope, MISSING)?;
        for hanging in [
            "DELETE FROM proposal WHERE operation = ?1",
            "DELETE FROM receipt WHERE operation = ?1",
        ] {
            self.change(hanging, [before])?;
        }
        let next = self
            .find("SELECT max(id) + 1 FROM operation", [], |row| {
                row.get::<_, i64>(0).classify()
            })?
            .ok_or(Error::Damaged(MISSING))?;
        self.change_one(
            "UPDATE operation
             SET id = ?2, status_ref = ?3, state = ?4, holder = ?5, due_at = ?6, expires_at = ?7, opened_at = ?8,
                 changed_at = ?9, is_dead_letter = ?10, document = ?11, digest = ?12
             WHERE id = ?1",
            (
                before,
                next,
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
        )?;
        Ok(next)
    }
}
