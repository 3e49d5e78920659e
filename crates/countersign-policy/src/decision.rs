//! The authorization question and its answer.

use countersign_contract::{Call, Principal, ToolContract};

/// May this principal make this call, with these arguments, on this resource, now?
#[derive(Clone, Copy, Debug)]
pub struct AccessRequest<'a> {
    /// Who asks, with claims as they stand now.
    pub principal: &'a Principal,
    /// What they ask for.
    pub call: &'a Call,
    /// Under which contract.
    pub contract: &'a ToolContract,
}

/// The answer to an [`AccessRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No; also where the resource does not exist, where no rule speaks, and where the check could not run.
    Denied,
    /// Yes, and a write needs this kind of approval.
    Allowed(ApprovalNeed),
}

/// Who has to approve a write. Reads need nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalNeed {
    /// A person, for this very call.
    Person,
    /// The policy itself, under its revision.
    Policy,
}

/// Decides about access. An implementation that cannot decide answers [`Decision::Denied`].
pub trait Authorizer {
    /// Decides, on the arguments and on current claims. Never remembers an earlier answer.
    fn decide(&self, request: &AccessRequest<'_>) -> Decision;
}
