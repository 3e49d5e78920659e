//! Looking at what is stored.

use countersign_contract::{CheckedAnswer, StatusRef, TenantId};
use countersign_dispatch::ledger::Error;

use crate::audit::AuditEntry;
use crate::moment::Moment;
use crate::proposal::StoredProposal;
use crate::query::{Cursor, OperationFilter, Page};
use crate::record::Record;

/// Shows what is stored. It changes nothing, and verifies whatever it shows.
///
/// - **Ordering**: operations newest first, audit entries in their order. A page begins where the last one ended, whatever
///   was written meanwhile.
pub trait Inspection {
    /// Operations that a filter lets through.
    fn operations(
        &self,
        filter: &OperationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Record>, Error>;

    /// One operation, whole.
    fn operation(&self, status_ref: &StatusRef) -> Result<Option<OperationDetail>, Error>;

    /// The audit trail of a tenant after a number.
    fn audit(&self, tenant: &TenantId, after: u64, limit: usize) -> Result<Vec<AuditEntry>, Error>;

    /// The ledger's time.
    fn now(&self) -> Result<Moment, Error>;
}

/// One operation, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationDetail {
    /// What is known of it.
    pub record: Record,
    /// What was asked for.
    pub proposal: StoredProposal,
    /// What it answered, where that is known.
    pub answer: Option<CheckedAnswer>,
}
