//! Dispatching a call: the pipeline as states that are consumed.
//!
//! Each state names one thing to be done, holds what that needs, and takes the answer by value. The order of the states
//! is the order of the checks; a state can be reached through its predecessor only.

mod authorize;
mod bind_call;
mod check_approval;
mod check_state;
mod execute;
mod find_operation;
mod propose;
mod reserve;
mod settle;

pub use authorize::Authorize;
pub use bind_call::BindCall;
pub use check_approval::CheckApproval;
pub use check_state::CheckState;
pub(crate) use execute::Hold;
pub use execute::{Execute, ExecutionOrder};
pub use find_operation::FindOperation;
pub use propose::Propose;
pub use reserve::Reserve;
pub use settle::Settle;

use std::time::Duration;

use countersign_contract::{Call, Package, Principal, ToolContract, UtcSecond};
use countersign_policy::Approval;

use crate::context::Context;
use crate::operation::Intent;

/// A call to be dispatched.
#[derive(Clone, Copy, Debug)]
pub struct DispatchRequest<'a> {
    /// For whom, with claims as they stand now.
    pub principal: &'a Principal,
    /// The call.
    pub call: &'a Call,
    /// The registered contract of the tool it names; none where there is no such tool.
    pub contract: Option<&'a ToolContract>,
    /// Approvals that are offered with it.
    pub approvals: &'a [Approval],
    /// What the host made the key of; nothing where the key is the caller's own.
    pub intent: Option<Intent>,
    /// How long the tool's downstream knows our key again; nothing where a repetition would be a second effect.
    pub downstream_memory: Option<Duration>,
    /// Now.
    pub now: UtcSecond,
}

/// What a write may need beside the call itself.
#[derive(Clone, Copy, Debug)]
struct Offer<'a> {
    approvals: &'a [Approval],
    intent: Option<Intent>,
    downstream_memory: Option<Duration>,
}

/// The next thing to be done for a call.
#[derive(Debug)]
pub enum Dispatch<'a> {
    /// Bind the call's identity.
    BindCall(BindCall<'a>),
    /// Decide about access.
    Authorize(Authorize<'a>),
    /// Find what is known under the key.
    FindOperation(FindOperation<'a>),
    /// Look at the resource's state.
    CheckState(CheckState<'a>),
    /// Look at the approvals.
    CheckApproval(CheckApproval<'a>),
    /// Record that the write waits for a decision.
    Propose(Box<Propose<'a>>),
    /// Take the key and consume the approval.
    Reserve(Reserve<'a>),
    /// Act, once.
    Execute(Execute<'a>),
    /// Write down what came of it.
    Settle(Settle<'a>),
    /// Nothing: here is the result.
    Done(Package),
}

impl<'a> Dispatch<'a> {
    /// Begins: the tool is registered and the arguments keep its contract, or the call is refused.
    #[must_use]
    pub fn start(request: &DispatchRequest<'a>) -> Self {
        let DispatchRequest {
            principal,
            call,
            contract,
            approvals,
            intent,
            downstream_memory,
            now,
        } = *request;
        let offer = Offer {
            approvals,
            intent,
            downstream_memory,
        };
        match Context::open(principal, call, contract, now) {
            Ok(context) => Self::BindCall(BindCall::new(context, offer)),
            Err(refusal) => Self::Done(*refusal),
        }
    }
}
