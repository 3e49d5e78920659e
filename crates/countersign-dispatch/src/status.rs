//! Asking what became of a write. No state here leads to an execution: there is none to be reached.

mod ask_downstream;
mod authorize;
mod bind_call;
mod find_operation;
mod reconcile;

pub use ask_downstream::{AskDownstream, StatusQuestion};
pub use authorize::AuthorizeStatus;
pub use bind_call::BindStatusCall;
pub use find_operation::FindQueryable;
pub use reconcile::Reconcile;

use countersign_contract::{
    Call, CheckedAnswer, Delivery, ErrorCode, Package, Principal, RequestDigest, StatusRef,
    ToolContract, UtcSecond,
};

use crate::context::Context;

/// A question about a write.
#[derive(Clone, Copy, Debug)]
pub struct StatusRequest<'a> {
    /// Who asks, with claims as they stand now.
    pub principal: &'a Principal,
    /// The write, under a call identity of the question's own.
    pub call: &'a Call,
    /// The registered contract of its tool; none where there is no such tool.
    pub contract: Option<&'a ToolContract>,
    /// The handle that the write's result carried.
    pub status_ref: StatusRef,
    /// The write's request digest, as the asker knows it.
    pub expected_request: RequestDigest,
    /// Now.
    pub now: UtcSecond,
}

/// The next thing to be done for a status query.
#[derive(Debug)]
pub enum StatusQuery<'a> {
    /// Bind the question's call identity.
    BindCall(BindStatusCall<'a>),
    /// Decide about access.
    Authorize(AuthorizeStatus<'a>),
    /// Find the operation by its handle.
    FindQueryable(FindQueryable<'a>),
    /// Ask the downstream for its receipt.
    AskDownstream(AskDownstream<'a>),
    /// Write down what the receipt proves.
    Reconcile(Reconcile<'a>),
    /// Nothing: here is the result.
    Done(Package),
}

impl<'a> StatusQuery<'a> {
    /// Begins as a dispatch does: with the registry and the input contract.
    #[must_use]
    pub fn start(request: &StatusRequest<'a>) -> Self {
        let StatusRequest {
            principal,
            call,
            contract,
            now,
            ..
        } = *request;
        match Context::open(principal, call, contract, now) {
            Ok(context) => {
                let target = Target {
                    context,
                    status_ref: request.status_ref,
                    expected_request: request.expected_request,
                };
                Self::BindCall(BindStatusCall::new(target))
            }
            Err(refusal) => Self::Done(*refusal),
        }
    }
}

/// What is asked about: what every state of a status query knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    context: Context<'a>,
    status_ref: StatusRef,
    expected_request: RequestDigest,
}

impl<'a> Target<'a> {
    /// The result of a check that did not pass.
    fn refuse(&self, code: ErrorCode) -> StatusQuery<'a> {
        StatusQuery::Done(self.context.refuse(code))
    }

    /// An error about the operation that was found.
    fn error(&self, code: ErrorCode) -> StatusQuery<'a> {
        StatusQuery::Done(self.context.error(code, Some(self.status_ref)))
    }

    /// What a receipt proves.
    fn reconciled(&self, answer: &CheckedAnswer) -> Package {
        self.context
            .success(answer, Some(self.status_ref), Delivery::ReceiptReconciled)
    }
}
