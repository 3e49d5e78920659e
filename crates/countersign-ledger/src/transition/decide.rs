//! A person decides about a write that waits. The first decision counts.

use countersign_contract::ApproverId;
use countersign_policy::ApprovalEvidence;

use super::Change;
use crate::audit::Event;
use crate::moment::Moment;
use crate::names::Note;
use crate::record::Record;
use crate::state::{Lifetimes, State};

/// Why a decision does not count.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Nothing waits here any more; this is how it stands.
    NotWaiting(Box<Record>),
    /// Time is over, which is to be written down.
    TooLate(Box<Change>),
}

/// Yes, until the approval expires: the write is to be performed within that time.
pub(crate) fn approve(
    record: Record,
    approval: ApprovalEvidence,
    now: Moment,
    lifetimes: &Lifetimes,
) -> Result<Change, Refusal> {
    let record = waiting(record, now, lifetimes)?;
    let until = Moment::of_second(approval.expires_at);
    let event = Event::Approved(approval.clone());
    let record = record.into_state(State::Reserved { approval, until }, now, Some(now));
    Ok(Change { record, event })
}

/// No; and the same is not asked again for a while.
pub(crate) fn deny(
    record: Record,
    by: ApproverId,
    reason: Option<Note>,
    now: Moment,
    lifetimes: &Lifetimes,
) -> Result<Change, Refusal> {
    let record = waiting(record, now, lifetimes)?;
    let event = Event::Denied {
        by: by.clone(),
        reason: reason.clone(),
    };
    let until = now.after(lifetimes.cool_down);
    let record = record.into_state(State::Denied { by, reason, until }, now, None);
    Ok(Change { record, event })
}

fn waiting(record: Record, now: Moment, lifetimes: &Lifetimes) -> Result<Record, Refusal> {
    match &record.state {
        State::AwaitingApproval { .. } => match super::expire(&record, now, lifetimes) {
            Some(change) => Err(Refusal::TooLate(Box::new(change))),
            None => Ok(record),
        },
        State::Denied { .. }
        | State::Expired { .. }
        | State::Reserved { .. }
        | State::Executing(_)
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. }
        | State::ResolvedNotExecuted { .. } => Err(Refusal::NotWaiting(Box::new(record))),
    }
}
