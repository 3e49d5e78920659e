//! Standing approvals.

use countersign_contract::{ApproverId, Scope, SubjectId, TenantId, ToolName};
use countersign_dispatch::ledger::Error;

use crate::grant::Grant;
use crate::names::GrantId;
use crate::record::Record;

/// The most usable grants of one subject for one tool: each of them is looked at whenever a call would wait.
pub const MAX_USABLE_GRANTS: usize = 100;

/// Keeps standing approvals.
///
/// - **Durability**: what was answered lasts; a use is counted in the transaction that approves the call for it.
/// - **Ordering**: of two who take the last use, one gets it. Whoever denied a call was first: no grant approves it then.
/// - **Idempotency**: adding a grant again changes nothing; revoking one again neither. A call that was approved is not
///   approved again, so that repeating it takes no second use.
pub trait Grants {
    /// Adds a grant.
    fn grant_add(&self, grant: &Grant) -> Result<GrantAdded, Error>;

    /// Takes back a grant. False where there is none. What was approved under it and has not begun never begins.
    fn grant_revoke(&self, grant: &GrantId, by: &ApproverId) -> Result<bool, Error>;

    /// The usable grants of a subject for a tool, oldest first.
    fn grants_for(
        &self,
        tenant: &TenantId,
        subject: &SubjectId,
        tool: &ToolName,
    ) -> Result<Vec<Grant>, Error>;

    /// All grants of a tenant, or of all, by name from behind one.
    fn grants(
        &self,
        tenant: Option<&TenantId>,
        after: Option<&GrantId>,
        limit: usize,
    ) -> Result<Vec<Grant>, Error>;

    /// One grant, by name.
    fn grant(&self, grant: &GrantId) -> Result<Option<Grant>, Error>;

    /// Approves the write that waits under a scope, where a usable grant covers it that this host accepts, and takes one use of
    /// it. The number is the caller's own, and no other's: the approval is named by it.
    ///
    /// Nothing where none covers it, or nothing waits.
    fn grant_use(&self, scope: &Scope, nonce: u128) -> Result<Option<Granted>, Error>;
}

/// What became of a grant that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantAdded {
    /// It is there.
    Added,
    /// Its name is another's.
    NameTaken,
    /// It has the subject itself as its approver.
    OwnSubject,
    /// The subject has as many usable grants for the tool as there may be.
    TooMany,
}

/// A write that a grant approved.
#[derive(Clone, Debug, PartialEq)]
pub struct Granted {
    /// As it stands now.
    pub record: Record,
    /// The grant, after this use.
    pub grant: Grant,
}
