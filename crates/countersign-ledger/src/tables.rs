//! What a back-end keeps: tables, and what one transaction may read and write of them.

use countersign_contract::{
    ApprovalDigest, ApprovalId, CallFingerprint, IntentDigest, Scope, StatusRef, SubjectId,
    TenantId, ToolName,
};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;

use crate::document::Document;
use crate::moment::Moment;
use crate::names::{GrantId, InstanceId};
use crate::query::{Cursor, OperationFilter};
use crate::state::StateKind;

/// Reads within one transaction: everything as it stands at one point of the order of all transactions.
///
/// A back-end gives back exactly what it was given. It verifies what it can see for itself (that a row is there, that its
/// columns have their types); documents are verified by whoever reads them.
pub trait Rows {
    /// The ledger's clock, read once, after the transaction can no longer be overtaken by an earlier writer.
    fn now(&self) -> Moment;

    /// What a call identity is bound to.
    fn call(&mut self, identity: &CallIdentity) -> Result<Option<CallRow>, Error>;

    /// The operation of a scope.
    fn operation(&mut self, scope: &Scope) -> Result<Option<OperationRow>, Error>;

    /// The operation that a handle names.
    fn operation_by_ref(&mut self, status_ref: &StatusRef) -> Result<Option<OperationRow>, Error>;

    /// The latest effect of an intent: its generation, and the scope it went under.
    fn intent(&mut self, intent: &IntentDigest) -> Result<Option<IntentRow>, Error>;

    /// What was asked for under a scope.
    fn proposal(&mut self, scope: &Scope) -> Result<Option<Document>, Error>;

    /// What was answered under a scope.
    fn receipt(&mut self, scope: &Scope) -> Result<Option<Document>, Error>;

    /// For which scope an approval was consumed.
    fn approval_use(&mut self, approval: &ApprovalKey) -> Result<Option<Scope>, Error>;

    /// Until when an instance counts as alive.
    fn instance(&mut self, instance: &InstanceId) -> Result<Option<Moment>, Error>;

    /// A standing approval.
    fn grant(&mut self, grant: &GrantId) -> Result<Option<GrantRow>, Error>;

    /// The standing approvals of a subject for a tool that are open and not over by `now`, oldest first, at most `limit`.
    fn grants_for(
        &mut self,
        tenant: &TenantId,
        subject: &SubjectId,
        tool: &ToolName,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error>;

    /// All standing approvals of a tenant after one, by name, at most `limit`.
    fn grants(
        &mut self,
        tenant: Option<&TenantId>,
        after: Option<&GrantId>,
        limit: usize,
    ) -> Result<Vec<GrantRow>, Error>;

    /// How many writes of a subject wait for a decision.
    fn waiting(&mut self, tenant: &TenantId, subject: &SubjectId) -> Result<usize, Error>;

    /// Operations that a worker is to look at by `now`, longest due first, at most `limit`; only those of one tool where
    /// one is named.
    fn due(&mut self, tool: Option<&ToolName>, limit: usize) -> Result<Vec<OperationRow>, Error>;

    /// Operations that end by `now` because nothing happened, longest over first, at most `limit`.
    fn expiring(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error>;

    /// Executing operations whose holder is unknown or counts as alive no more by `now`, at most `limit`.
    fn orphans(&mut self, limit: usize) -> Result<Vec<OperationRow>, Error>;

    /// Operations that a filter lets through, newest first, from behind a cursor, at most `limit`.
    fn operations(
        &mut self,
        filter: &OperationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<(Cursor, OperationRow)>, Error>;

    /// How many operations are in each open state, and how many are flagged as dead letters.
    fn open_counts(&mut self) -> Result<OpenCounts, Error>;

    /// The number of the last audit entry of a tenant; 0 where there is none.
    fn audit_head(&mut self, tenant: &TenantId) -> Result<u64, Error>;

    /// Audit entries of a tenant after a number, in order, at most `limit`.
    fn audit(
        &mut self,
        tenant: &TenantId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<AuditRow>, Error>;
}

/// Writes within one transaction: all of it lasts, or nothing does.
pub trait Tables: Rows {
    /// Binds a call identity that is bound to nothing yet.
    fn call_insert(&mut self, identity: &CallIdentity, row: &CallRow) -> Result<(), Error>;

    /// Opens an operation with what was asked for. Where the scope had one, that one's row, proposal and receipt go; the
    /// call identities that are bound to the scope stay.
    fn operation_open(&mut self, row: &OperationRow, proposal: &Document) -> Result<(), Error>;

    /// Changes the row of an operation that is there.
    fn operation_update(&mut self, row: &OperationRow) -> Result<(), Error>;

    /// Removes an operation with its proposal and receipt, and the call identities bound to it.
    fn operation_remove(&mut self, scope: &Scope) -> Result<(), Error>;

    /// Names the latest effect of an intent.
    fn intent_put(&mut self, intent: &IntentDigest, row: &IntentRow) -> Result<(), Error>;

    /// Keeps the answer of an operation that has none.
    fn receipt_insert(&mut self, scope: &Scope, receipt: &Document) -> Result<(), Error>;

    /// Consumes an approval that is free.
    fn approval_use_insert(&mut self, approval: &ApprovalKey, scope: &Scope) -> Result<(), Error>;

    /// Frees an approval.
    fn approval_use_remove(&mut self, approval: &ApprovalKey) -> Result<(), Error>;

    /// Says until when an instance counts as alive; nothing where it has left.
    fn instance_put(&mut self, instance: &InstanceId, until: Option<Moment>) -> Result<(), Error>;

    /// Keeps a standing approval, in place of an earlier state of it.
    fn grant_put(&mut self, row: &GrantRow) -> Result<(), Error>;

    /// Keeps an audit entry. Its number follows the tenant's last one.
    fn audit_append(&mut self, row: &AuditRow) -> Result<(), Error>;
}

/// What a call identity is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// Its use.
    pub fingerprint: CallFingerprint,
    /// The operation it goes to.
    pub scope: Scope,
}

/// An operation's row: what it is found by, and its document.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    /// Unique.
    pub scope: Scope,
    /// Unique.
    pub status_ref: StatusRef,
    /// Its state.
    pub state: StateKind,
    /// Who performs it, while it is executing.
    pub holder: Option<InstanceId>,
    /// When a worker is to look at it.
    pub due_at: Option<Moment>,
    /// When it ends if nothing happens before.
    pub expires_at: Option<Moment>,
    /// When it was first asked for.
    pub opened_at: Moment,
    /// When its state last changed.
    pub changed_at: Moment,
    /// Whether workers have given up on it.
    pub is_dead_letter: bool,
    /// All of it.
    pub document: Document,
}

/// The latest effect of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRow {
    /// The how-manieth it is.
    pub generation: u64,
    /// Under which scope.
    pub scope: Scope,
}

/// An approval as it is consumed: its name alone is not unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalKey {
    /// Its name.
    pub approval_id: ApprovalId,
    /// What it binds.
    pub digest: ApprovalDigest,
}

/// A standing approval's row.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRow {
    /// Unique.
    pub grant: GrantId,
    /// Of which tenant.
    pub tenant_id: TenantId,
    /// For which subject.
    pub subject_id: SubjectId,
    /// For which tool.
    pub tool: ToolName,
    /// The first moment at which it is dead.
    pub expires_at: Moment,
    /// Whether it has uses left, and nobody took it back.
    pub is_open: bool,
    /// All of it.
    pub document: Document,
}

/// An audit entry's row.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// Of which tenant.
    pub tenant_id: TenantId,
    /// 1, 2, 3, … within the tenant.
    pub sequence: u64,
    /// All of it.
    pub document: Document,
}

/// How much is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenCounts {
    /// Waiting for a decision.
    pub awaiting_approval: u64,
    /// Approved, not begun.
    pub reserved: u64,
    /// Executing.
    pub executing: u64,
    /// Of unknown outcome.
    pub unknown: u64,
    /// Flagged as dead letters.
    pub dead_letters: u64,
    /// When the longest overdue work was due.
    pub oldest_due: Option<Moment>,
}
