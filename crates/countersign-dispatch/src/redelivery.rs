//! Sending a write again whose outcome is unknown, to a downstream that knows our key: it answers with what it did the first
//! time, or does it now. Whatever has changed since leaves the outcome unknown.
//!
//! Not asked again is the resource's state, which the first attempt may have changed.

mod authorize;
mod begin;
mod check_approval;

pub use authorize::AuthorizeAgain;
pub use begin::BeginAgain;
pub use check_approval::CheckApprovalAgain;

use countersign_contract::{Call, Package, Principal, Scope, ToolContract, UtcSecond};
use countersign_policy::ApprovalEvidence;

use crate::context::Context;
use crate::dispatch::Dispatch;
use crate::operation::Terms;

/// A write to be sent again.
#[derive(Clone, Copy, Debug)]
pub struct RedeliveryRequest<'a> {
    /// For whom, with claims as they stand now.
    pub principal: &'a Principal,
    /// The call that began it.
    pub call: &'a Call,
    /// The registered contract of its tool as it stands now; none where there is no such tool.
    pub contract: Option<&'a ToolContract>,
    /// The terms under which it was begun.
    pub terms: &'a Terms,
    /// The approval that it consumed.
    pub approval: &'a ApprovalEvidence,
    /// Now.
    pub now: UtcSecond,
}

/// The next thing to be done to send a write again.
#[derive(Debug)]
pub enum Redelivery<'a> {
    /// Decide about access.
    Authorize(AuthorizeAgain<'a>),
    /// Look at the approval and the approver.
    CheckApproval(CheckApprovalAgain<'a>),
    /// Begin another attempt.
    Begin(BeginAgain<'a>),
    /// Go on as a dispatch does: act, and write down what came of it.
    Dispatch(Box<Dispatch<'a>>),
    /// Nothing: something has changed, and the outcome stays unknown.
    Drifted,
}

impl<'a> Redelivery<'a> {
    /// Begins: the very same request under the very same revisions.
    #[must_use]
    pub fn start(request: &RedeliveryRequest<'a>) -> Self {
        let RedeliveryRequest {
            principal,
            call,
            contract,
            terms,
            approval,
            now,
        } = *request;
        let (Ok(context), Some(scope)) = (
            Context::open(principal, call, contract, now),
            Scope::of(principal, call),
        ) else {
            return Self::Drifted;
        };
        if !terms.record_answers(call, context.contract, &context.request) {
            return Self::Drifted;
        }
        let repeated = Repeated {
            context,
            scope,
            terms,
            approval,
        };
        Self::Authorize(AuthorizeAgain::new(repeated))
    }
}

/// What every state of a redelivery knows.
#[derive(Debug)]
pub(crate) struct Repeated<'a> {
    context: Context<'a>,
    scope: Scope,
    terms: &'a Terms,
    approval: &'a ApprovalEvidence,
}

impl Repeated<'_> {
    fn still_unknown(&self) -> Package {
        let code = countersign_contract::ErrorCode::OutcomeUnknown;
        self.context.error(code, Some(self.terms.status_ref))
    }
}
