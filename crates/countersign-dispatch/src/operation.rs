//! What a ledger stores about calls and operations.

use std::time::Duration;

use countersign_contract::{
    Call, CallFingerprint, CallId, CheckedAnswer, IntentDigest, Principal, Profile, RequestDigest,
    ResponseId, Revisions, Scope, StatusRef, SubjectId, TenantId, ToolContract,
};
use countersign_policy::ApprovalEvidence;

use crate::ports::NotStarted;

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
    /// It is approved and has not begun. Whoever brings that approval begins it.
    Reserved,
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
        self.was_unknown
            || matches!(
                self.state,
                OperationState::Reserved | OperationState::Executing(_)
            )
    }
}

/// Which effect of an intent a key stands for, where the host made the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Intent {
    /// What is meant to be done.
    pub digest: IntentDigest,
    /// The how-manieth time.
    pub generation: u64,
}

/// A write as it was asked for: all that somebody needs who decides about it or performs it later.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal<'a> {
    /// Within which it acts at most once.
    pub scope: Scope,
    /// Its terms.
    pub terms: Terms,
    /// For whom.
    pub principal: &'a Principal,
    /// The call that begins it.
    pub call: &'a Call,
    /// That call's fingerprint.
    pub fingerprint: CallFingerprint,
    /// Under which contract.
    pub contract: &'a ToolContract,
    /// What the host made the key of; nothing where the key is the caller's own.
    pub intent: Option<Intent>,
    /// How long its downstream knows our key again; nothing where a repetition would be a second effect.
    pub downstream_memory: Option<Duration>,
}

/// What is written before a write acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation<'a> {
    /// What was asked for.
    pub proposal: Proposal<'a>,
    /// The approval it consumes.
    pub approval: ApprovalEvidence,
}

/// What a reservation gives to its holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Under which the holder settles.
    pub fence: Fence,
    /// Within which the holder has to begin, counted from before it asked for the reservation: later somebody else may have
    /// found the operation abandoned.
    pub begin_within: Duration,
}

/// What is written after a write, in place of its reservation.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// It acted: the result and its receipt.
    Succeeded(CheckedAnswer),
    /// It may have acted.
    Unknown(UnknownCause),
    /// It is proven not to have begun: key and approval are free again, unless an earlier attempt may have acted.
    Released(NotStarted),
}

/// Why nobody knows what a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownCause {
    /// No answer came, or none in time.
    AnswerLost,
    /// The handler failed.
    HandlerFailed,
    /// The answer is not what the contract allows.
    OutsideContract,
    /// Whoever performed it went away.
    HolderLost,
}
