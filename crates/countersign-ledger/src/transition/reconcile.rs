//! A receipt of the downstream proves what happened.

use super::Change;
use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::{Proof, State};

/// The change, where the outcome was open.
pub(crate) fn reconcile(record: Record, now: Moment) -> Option<Change> {
    match &record.state {
        State::Executing(_) | State::Unknown { .. } => {
            let state = State::Succeeded {
                proof: Proof::Receipt,
                is_acknowledged: false,
            };
            Some(Change {
                record: Record {
                    was_unknown: true,
                    ..record.into_state(state, now, None)
                },
                event: Event::Reconciled,
            })
        }
        State::AwaitingApproval { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Reserved { .. }
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. }
        | State::ResolvedNotExecuted { .. } => None,
    }
}
