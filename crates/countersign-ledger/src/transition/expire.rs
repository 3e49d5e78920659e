//! Time runs out: for a decision, or for what was approved to begin. Both prove that nothing was sent.

use countersign_contract::ErrorCode;

use super::Change;
use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::{Lifetimes, State};

/// The change that is due, if one is.
pub(crate) fn expire(record: &Record, now: Moment, lifetimes: &Lifetimes) -> Option<Change> {
    let (state, event) = match &record.state {
        State::AwaitingApproval { until } if *until <= now => {
            let until = now.after(lifetimes.cool_down);
            (State::Expired { until }, Event::Expired)
        }
        State::Reserved { until, .. } if *until <= now => {
            let cause = ErrorCode::ApprovalInvalid;
            (State::Blocked { cause }, Event::Blocked(cause))
        }
        State::AwaitingApproval { .. }
        | State::Reserved { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Executing(_)
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. }
        | State::ResolvedNotExecuted { .. } => return None,
    };
    let record = record.clone().into_state(state, now, None);
    Some(Change { record, event })
}
