//! Decides what a PUT does.

use crate::action::{Action, Prepared, Subject};
use crate::admission::Worker;
use crate::approval::Liveness;
use crate::epoch::EpochSeconds;
use crate::execution::Admitted;
use crate::identifier::ActionId;
use crate::refusal::Refusal;
use crate::request::ExecutionRequest;
use crate::result::ResultDocument;
use crate::row::{Condition, Write};
use crate::state::StateName;

/// What the ledger holds that a PUT could meet, read in one transaction.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// The action with the request's action id.
    pub action: Option<Action>,
    /// The id of the action with the request's execution digest.
    pub execution_digest_holder: Option<ActionId>,
}

/// What to do about a PUT.
#[derive(Debug)]
pub enum PutDecision {
    /// Nothing is stored: make the write, then begin.
    Store {
        /// Inserts the prepared action.
        write: Write,
        /// Leads on to the execution, once the write is durable.
        admitted: Admitted,
    },
    /// The same request is stored, alive, and has not begun: begin.
    Resume(Admitted),
    /// The same request is stored and has begun or ended: answer 200 with these bytes.
    Replay(ResultDocument),
    /// The same request is stored, has not begun, and its approval is dead: make the write, answer 200.
    Fail {
        /// Records the failure.
        write: Write,
        /// The answer.
        result: ResultDocument,
    },
    /// Write nothing.
    Refuse(PutRefusal),
}

/// Why a PUT is refused, for the endpoint's own log; the caller gets a [`Refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PutRefusal {
    /// The action belongs to another owner.
    #[error("the action belongs to another owner")]
    ForeignOwner,
    /// The action id is taken by a request of other content.
    #[error("the action id is taken by a request of other content")]
    OtherContent,
    /// The execution digest is taken by another action.
    #[error("the execution digest is taken by another action")]
    ExecutionDigestTaken,
    /// The approval has expired.
    #[error("the approval has expired")]
    ApprovalExpired,
    /// The approval was decided too far ahead of our clock.
    #[error("the approval was decided too far ahead of the endpoint's clock")]
    ApprovalDecidedAhead,
}

impl PutRefusal {
    /// What the caller is told.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::ForeignOwner | Self::OtherContent | Self::ExecutionDigestTaken => {
                Refusal::Conflict
            }
            Self::ApprovalExpired | Self::ApprovalDecidedAhead => Refusal::Invalid,
        }
    }
}

/// Decides what a PUT of a verified request does.
pub fn decide_put(
    stored: Stored,
    request: ExecutionRequest,
    worker: &Worker,
    now: EpochSeconds,
) -> PutDecision {
    let taken = stored
        .execution_digest_holder
        .is_some_and(|holder| holder != *request.action_id());
    if taken {
        return PutDecision::Refuse(PutRefusal::ExecutionDigestTaken);
    }
    match stored.action {
        None => decide_first(request, worker, now),
        Some(action) => decide_again(action, &request, worker, now),
    }
}

fn decide_first(request: ExecutionRequest, worker: &Worker, now: EpochSeconds) -> PutDecision {
    match request.approval().liveness(now) {
        Liveness::Expired => return PutDecision::Refuse(PutRefusal::ApprovalExpired),
        Liveness::DecidedAhead => return PutDecision::Refuse(PutRefusal::ApprovalDecidedAhead),
        Liveness::Live => {}
    }
    let prepared = Prepared {
        subject: Subject {
            request,
            owner: worker.owner().clone(),
        },
        since: now,
    };
    let row = Action::Prepared(prepared.clone()).to_row();
    PutDecision::Store {
        write: Write {
            condition: Condition::Absent,
            row,
        },
        admitted: Admitted::new(prepared),
    }
}

fn decide_again(
    action: Action,
    request: &ExecutionRequest,
    worker: &Worker,
    now: EpochSeconds,
) -> PutDecision {
    let subject = action.subject();
    if subject.owner() != worker.owner() {
        return PutDecision::Refuse(PutRefusal::ForeignOwner);
    }
    if subject.request().content() != request.content() {
        return PutDecision::Refuse(PutRefusal::OtherContent);
    }
    match action {
        Action::Prepared(prepared) => match prepared.subject().request().approval().liveness(now) {
            Liveness::Live => PutDecision::Resume(Admitted::new(prepared)),
            Liveness::Expired | Liveness::DecidedAhead => {
                let failed = prepared.fail(now);
                let result = failed.result().clone();
                let row = Action::Settled(failed).to_row();
                PutDecision::Fail {
                    write: Write {
                        condition: Condition::InState(StateName::Prepared),
                        row,
                    },
                    result,
                }
            }
        },
        Action::Executing(_) | Action::Settled(_) => PutDecision::Replay(action.result()),
    }
}
