//! The holder of an attempt says what came of it. A holder whose attempt is not the last one says nothing any more.

use countersign_dispatch::{Fence, Settlement, UnknownCause};

use super::Change;
use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::{Attempt, Proof, State};

/// The change, where the fence is still the operation's own.
pub(crate) fn settle(
    record: Record,
    fence: Fence,
    settlement: &Settlement,
    now: Moment,
) -> Option<Change> {
    let State::Executing(attempt) = &record.state else {
        return None;
    };
    if record.fence != fence.as_u64() {
        return None;
    }
    let attempt = attempt.clone();
    Some(match settlement {
        Settlement::Succeeded(_) => Change {
            record: record.into_state(
                State::Succeeded {
                    proof: Proof::Answer,
                    is_acknowledged: false,
                },
                now,
                None,
            ),
            event: Event::Succeeded,
        },
        Settlement::Unknown(cause) => unknown(record, attempt, *cause, now),
        // That this attempt did not begin says nothing of an earlier one.
        Settlement::Released(_) if record.was_unknown => {
            unknown(record, attempt, UnknownCause::AnswerLost, now)
        }
        Settlement::Released(cause) => Change {
            record: record.into_state(State::Failed { cause: *cause }, now, None),
            event: Event::NotStarted(*cause),
        },
    })
}

/// What may have acted, from now on as unknown. It is due to be asked about at once.
pub(super) fn unknown(
    record: Record,
    attempt: Attempt,
    cause: UnknownCause,
    now: Moment,
) -> Change {
    let record = record.into_state(State::Unknown { attempt, cause }, now, Some(now));
    Change {
        record: Record {
            was_unknown: true,
            ..record
        },
        event: Event::BecameUnknown(cause),
    }
}
