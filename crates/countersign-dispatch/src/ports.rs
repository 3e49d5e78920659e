//! The ports to the world: the resource's state, the handler, and the downstream's status operation.

use countersign_contract::{Attachment, HandlerAnswer, RequestDigest, StatusRef};
use countersign_policy::Authorized;

use crate::dispatch::ExecutionOrder;
use crate::status::StatusQuestion;

/// Knows the state of the resources that writes act on.
pub trait BusinessState {
    /// Tells whether the resource's state allows the action, now.
    fn verdict(&self, authorized: &Authorized<'_>) -> StateVerdict;
}

/// Whether a resource's state allows an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateVerdict {
    /// It does.
    Allows,
    /// It does not, or it could not be found out.
    Forbids,
}

/// Performs what was ordered.
pub trait Executor {
    /// Performs the order, once. Only the pipeline makes orders.
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution;
}

/// What came of an execution.
#[derive(Clone, Debug, PartialEq)]
pub enum Execution {
    /// The handler answered.
    Answered(HandlerAnswer),
    /// The handler answered, and what travels beside its data is passed on as it came.
    AnsweredWith(HandlerAnswer, Attachment),
    /// It is proven that nothing began.
    NotStarted(NotStarted),
    /// The handler failed; what it did before is not known.
    Failed,
    /// The answer did not come in time or was lost.
    AnswerLost,
}

/// Why nothing began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStarted {
    /// The deadline had passed.
    DeadlineExceeded,
    /// The downstream takes no more for now.
    RateLimited,
    /// The handler could not be reached or started.
    Unreachable,
}

/// Asks a downstream what became of a write. It observes, and has no way to act.
pub trait StatusSource {
    /// The receipt, if the downstream has one.
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt>;
}

/// A downstream's evidence that a write happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The request it was for.
    pub request: RequestDigest,
    /// The handle it was for.
    pub status_ref: StatusRef,
    /// What the write answered.
    pub answer: HandlerAnswer,
}
