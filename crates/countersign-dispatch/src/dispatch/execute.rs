//! Steps 9 and 10: act, once.

use std::time::Duration;

use countersign_contract::{
    Call, CheckedAnswer, Delivery, ErrorCode, IdempotencyKey, Package, Principal, RequestDigest,
    Scope, StatusRef, ToolContract,
};
use countersign_policy::{Approved, Authorized};

use super::Dispatch;
use super::settle::Settle;
use crate::context::Context;
use crate::operation::{Lease, Settlement, UnknownCause};
use crate::ports::{Execution, NotStarted};

/// The call is to be executed.
#[derive(Debug)]
pub struct Execute<'a> {
    context: Context<'a>,
    permit: Permit<'a>,
}

/// What a call may execute under: a read needs authorization, a write an approval and a reservation.
#[derive(Debug)]
enum Permit<'a> {
    Read(Authorized<'a>),
    Write { approved: Approved<'a>, hold: Hold },
}

/// A reservation that this execution holds.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) scope: Scope,
    pub(crate) lease: Lease,
    pub(crate) status_ref: StatusRef,
    /// Whether an earlier attempt may have acted. Then nothing that this one does not do proves that there was no effect.
    pub(crate) is_repetition: bool,
}

/// An order to act. Only [`Execute::order`] makes one, so that nothing acts without having passed the pipeline.
///
/// ```compile_fail
/// # fn forge(step: &countersign_dispatch::AskDownstream<'static>) {
/// let order: countersign_dispatch::ExecutionOrder<'_> = step.order();
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExecutionOrder<'o> {
    authorized: &'o Authorized<'o>,
    request: &'o RequestDigest,
    status_ref: Option<StatusRef>,
}

impl<'o> ExecutionOrder<'o> {
    /// For whom.
    #[must_use]
    pub fn principal(&self) -> &'o Principal {
        self.authorized.principal()
    }

    /// What.
    #[must_use]
    pub fn call(&self) -> &'o Call {
        self.authorized.call()
    }

    /// Under which contract.
    #[must_use]
    pub fn contract(&self) -> &'o ToolContract {
        self.authorized.contract()
    }

    /// The request's digest.
    #[must_use]
    pub fn request(&self) -> &'o RequestDigest {
        self.request
    }

    /// The key a write acts under.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&'o IdempotencyKey> {
        self.status_ref
            .and(self.authorized.call().idempotency_key.as_ref())
    }

    /// The handle of a write: the same for every attempt, so that a downstream can tell repetitions apart.
    #[must_use]
    pub fn status_ref(&self) -> Option<StatusRef> {
        self.status_ref
    }

    /// How long it may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.authorized.contract().timeout
    }
}

impl<'a> Execute<'a> {
    pub(super) fn read(context: Context<'a>, authorized: Authorized<'a>) -> Self {
        Self {
            context,
            permit: Permit::Read(authorized),
        }
    }

    pub(crate) fn write(context: Context<'a>, approved: Approved<'a>, hold: Hold) -> Self {
        Self {
            context,
            permit: Permit::Write { approved, hold },
        }
    }

    /// What to do.
    #[must_use]
    pub fn order(&self) -> ExecutionOrder<'_> {
        let (authorized, status_ref) = match &self.permit {
            Permit::Read(authorized) => (authorized, None),
            Permit::Write { approved, hold } => (approved.authorized(), Some(hold.status_ref)),
        };
        ExecutionOrder {
            authorized,
            request: &self.context.request,
            status_ref,
        }
    }

    /// Within which a write has to begin, counted from before its reservation was asked for. Whoever is later answers that
    /// the deadline has passed, and does not begin.
    #[must_use]
    pub fn begin_within(&self) -> Option<Duration> {
        match &self.permit {
            Permit::Read(_) => None,
            Permit::Write { hold, .. } => Some(hold.lease.begin_within),
        }
    }

    /// Goes on with what came of it: a read is done, a write is settled first.
    #[must_use]
    pub fn answer(self, execution: Execution) -> Dispatch<'a> {
        let Self { context, permit } = self;
        let judged = judge(&context, execution);
        match permit {
            Permit::Read(_) => Dispatch::Done(read_result(&context, judged)),
            Permit::Write { hold, .. } => {
                let (settlement, package) = write_result(&context, judged, &hold);
                Dispatch::Settle(Settle::new(context, hold, settlement, package))
            }
        }
    }
}

/// An execution after its answer was held against the output contract.
enum Judged {
    Answered(CheckedAnswer),
    OutsideContract,
    NotStarted(NotStarted),
    NoAnswer(UnknownCause),
}

fn judge(context: &Context<'_>, execution: Execution) -> Judged {
    let arguments = &context.call.arguments;
    let checked = match execution {
        Execution::Answered(answer) => answer.check(context.contract, arguments),
        Execution::AnsweredWith(answer, attachment) => {
            answer.check_with(context.contract, arguments, attachment)
        }
        Execution::NotStarted(cause) => return Judged::NotStarted(cause),
        Execution::Failed => return Judged::NoAnswer(UnknownCause::HandlerFailed),
        Execution::AnswerLost => return Judged::NoAnswer(UnknownCause::AnswerLost),
    };
    checked.map_or(Judged::OutsideContract, Judged::Answered)
}

fn read_result(context: &Context<'_>, judged: Judged) -> Package {
    match judged {
        Judged::Answered(answer) => context.success(&answer, None, Delivery::Fresh),
        Judged::OutsideContract => context.refuse(ErrorCode::OutputContractViolation),
        Judged::NotStarted(cause) => context.refuse(not_started(cause)),
        Judged::NoAnswer(_) => context.refuse(ErrorCode::ToolError),
    }
}

fn write_result(context: &Context<'_>, judged: Judged, hold: &Hold) -> (Settlement, Package) {
    let status_ref = Some(hold.status_ref);
    match judged {
        Judged::Answered(answer) => {
            let package = context.success(&answer, status_ref, Delivery::Fresh);
            (Settlement::Succeeded(answer), package)
        }
        Judged::OutsideContract => {
            let package = context.error(ErrorCode::OutputContractViolation, status_ref);
            (Settlement::Unknown(UnknownCause::OutsideContract), package)
        }
        Judged::NoAnswer(cause) => (
            Settlement::Unknown(cause),
            context.error(ErrorCode::OutcomeUnknown, status_ref),
        ),
        Judged::NotStarted(_) if hold.is_repetition => (
            Settlement::Unknown(UnknownCause::AnswerLost),
            context.error(ErrorCode::OutcomeUnknown, status_ref),
        ),
        Judged::NotStarted(cause) => (
            Settlement::Released(cause),
            context.refuse(not_started(cause)),
        ),
    }
}

fn not_started(cause: NotStarted) -> ErrorCode {
    match cause {
        NotStarted::DeadlineExceeded => ErrorCode::TimeoutBeforeExecute,
        NotStarted::RateLimited => ErrorCode::RateLimit,
        NotStarted::Unreachable => ErrorCode::ToolError,
    }
}
