//! Deciding about writes that wait.

use countersign_contract::{ApprovalId, ApproverId, Scope, StatusRef, UtcSecond};
use countersign_dispatch::ledger::Error;
use countersign_policy::Approval;

use crate::names::Note;
use crate::record::Record;

/// Decides about writes that wait.
///
/// - **Durability**: a decision that was answered lasts, and so does the duty to perform what was approved.
/// - **Ordering**: of two decisions one is first, and counts; the other hears how it stands.
/// - **Idempotency**: the same decision again is a second one, and hears that the first counted.
pub trait Approvals {
    /// Decides about what somebody was shown. What is approved is bound to the call that was first stored, whoever has joined
    /// it since. Where the same was asked for anew meanwhile, under another contract, it is too late for what was shown.
    fn decide_on(&self, seen: &Record, decision: &Decision) -> Result<Decided, Error>;

    /// Decides about whatever waits under a handle: for whoever has no need to look, such as a policy or a test.
    fn decide(&self, status_ref: &StatusRef, decision: &Decision) -> Result<Decided, Error>;

    /// The approval that an operation waits to be performed under; nothing where it has none, or has begun.
    fn live_approval(&self, scope: &Scope) -> Result<Option<Approval>, Error>;
}

/// What somebody decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Exactly this call may be performed once, before a time.
    Approve {
        /// Who says so.
        by: ApproverId,
        /// The approval's name.
        approval_id: ApprovalId,
        /// The first second at which it must not begin any more.
        expires_at: UtcSecond,
    },
    /// It must not.
    Deny {
        /// Who says so.
        by: ApproverId,
        /// Why, as the model may be told.
        reason: Option<Note>,
    },
}

/// What became of a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// It counts.
    Counts(Box<Record>),
    /// Somebody else, time or another proposal was first; this is how it stands.
    TooLate(Box<Record>),
    /// The approval's name is used up, or its time is over already. Nothing was decided.
    Unusable,
    /// There is no such operation.
    NotFound,
}
