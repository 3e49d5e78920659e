//! What a ledger stores about calls and operations.

use countersign_contract::{
    Call, CallFingerprint, CallId, CheckedAnswer, Principal, Profile, RequestDigest, ResponseId,
    Revisions, Scope, StatusRef, SubjectId, TenantId, ToolContract, UtcSecond,
};
use countersign_policy::ApprovalEvidence;

/// A call as its provider names it, within one principal: where the same identity comes again, the same call is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallIdentity {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The subject.
    pub subject_id: SubjectId,
    /// The protocol.
    pub profile: Profile,
    /// The provider response.
    pub response_id: ResponseId,
    /// The call within it.
    pub call_id: CallId,
}

impl CallIdentity {
    /// The identity of a call.
    #[must_use]
    pub fn of(principal: &Principal, call: &Call) -> Self {
        Self {
            tenant_id: principal.tenant_id.clone(),
            subject_id: principal.subject_id.clone(),
            profile: call.profile,
            response_id: call.response_id.clone(),
            call_id: call.call_id.clone(),
        }
    }
}

/// One write under one key, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Within which it acts at most once.
    pub scope: Scope,
    /// What a later call under the key is compared with.
    pub terms: Terms,
    /// What is known of it.
    pub state: OperationState,
    /// Whether its outcome ever was unknown. Only then can its status be asked for.
    pub was_unknown: bool,
}

/// The terms under which an operation was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The request.
    pub request: RequestDigest,
    /// The protocol it came through.
    pub profile: Profile,
    /// The contract's revisions as they were.
    pub revisions: Revisions,
    /// The handle under which its outcome can be asked for.
    pub status_ref: StatusRef,
}

/// What is known of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationState {
    /// It was reserved, and may be acting. Nobody else acts under its key.
    Executing(Fence),
    /// It may have acted.
    Unknown,
    /// It acted, and this was its answer.
    Succeeded(CheckedAnswer),
}

/// The number of a reservation. A holder whose number is not the operation's last one writes nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(u64);

impl Fence {
    /// Takes a number that a ledger has given out.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl Terms {
    /// Tells whether the operation's record answers this call: request, profile, and the output, effect, handler and
    /// producer revisions. The policy's revision is not compared.
    #[must_use]
    pub fn record_answers(
        &self,
        call: &Call,
        contract: &ToolContract,
        request: &RequestDigest,
    ) -> bool {
        let now = &contract.revisions;
        self.is_same_effect(call, contract, request)
            && self.revisions.output_schema == now.output_schema
            && self.revisions.handler == now.handler
    }

    /// Tells whether this call means the operation's effect: request, profile, and the effect and producer revisions.
    #[must_use]
    pub fn is_same_effect(
        &self,
        call: &Call,
        contract: &ToolContract,
        request: &RequestDigest,
    ) -> bool {
        self.request == *request
            && self.profile == call.profile
            && self.revisions.effect == contract.revisions.effect
            && self.revisions.producer == contract.revisions.producer
    }
}

impl Operation {
    /// Tells whether its status can be asked for: it is under way, or its outcome ever was unknown.
    #[must_use]
    pub fn is_queryable(&self) -> bool {
        self.was_unknown || matches!(self.state, OperationState::Executing(_))
    }
}

/// What is written before a write acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// Within which it acts at most once.
    pub scope: Scope,
    /// Its terms.
    pub terms: Terms,
    /// The approval it consumes.
    pub approval: ApprovalEvidence,
    /// The call that begins it.
    pub first_call: CallIdentity,
    /// That call's fingerprint.
    pub fingerprint: CallFingerprint,
    /// When it was decided.
    pub decided_at: UtcSecond,
}

/// What is written after a write, in place of its reservation.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// It acted: the result and its receipt.
    Succeeded(CheckedAnswer),
    /// It may have acted.
    Unknown,
    /// It is proven not to have begun: key and approval are free again.
    Released,
}
