//! Something had changed before an approved write began: it never will under this approval.

use countersign_contract::ErrorCode;

use super::Change;
use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::State;

/// Blocks what has not begun; nothing where it has, or is over.
pub(crate) fn block(record: Record, cause: ErrorCode, now: Moment) -> Option<Change> {
    match &record.state {
        State::Reserved { .. } => Some(Change {
            record: record.into_state(State::Blocked { cause }, now, None),
            event: Event::Blocked(cause),
        }),
        State::AwaitingApproval { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Executing(_)
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. }
        | State::ResolvedNotExecuted { .. } => None,
    }
}
