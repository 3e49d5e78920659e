//! Standing approvals.

use countersign_contract::{ApproverId, SubjectId, TenantId, ToolName};
use countersign_dispatch::ledger::Error;

use crate::grant::Grant;
use crate::names::GrantId;

/// Keeps standing approvals.
///
/// - **Durability**: what was answered lasts; a use is counted in the transaction that mints the approval for it.
/// - **Ordering**: of two who take the last use, one gets it.
/// - **Idempotency**: adding a grant again changes nothing; revoking one again neither. Taking a use is not repeatable.
pub trait Grants {
    /// Adds a grant. False where its name is taken by another.
    fn grant_add(&self, grant: &Grant) -> Result<bool, Error>;

    /// Takes back a grant. False where there is none.
    fn grant_revoke(&self, grant: &GrantId, by: &ApproverId) -> Result<bool, Error>;

    /// The usable grants of a subject for a tool.
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

    /// Takes one use. Nothing where none is left, or it is revoked or dead.
    fn grant_take(&self, grant: &GrantId) -> Result<Option<Grant>, Error>;
}
