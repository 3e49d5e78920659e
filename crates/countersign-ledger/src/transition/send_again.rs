//! A downstream that knows our key answers a repetition with what it did the first time.

use super::Change;
use super::reserve::over_at;
use crate::audit::Event;
use crate::moment::Moment;
use crate::names::InstanceId;
use crate::record::Record;
use crate::state::{Attempt, Lifetimes, State};

/// The change, where the last attempt is over and the downstream still knows the key for as long as another one may take.
pub(crate) fn send_again(
    record: Record,
    holder: &InstanceId,
    now: Moment,
    lifetimes: &Lifetimes,
) -> Option<Change> {
    let State::Unknown { attempt, .. } = &record.state else {
        return None;
    };
    if now < attempt.over_at || now >= until_when_sendable(&record, lifetimes)? {
        return None;
    }
    let attempt = Attempt {
        holder: holder.clone(),
        over_at: over_at(now, &record, lifetimes),
        ..attempt.clone()
    };
    Some(Change {
        record: Record {
            fence: record.fence + 1,
            ..record.into_state(State::Executing(attempt), now, None)
        },
        event: Event::SentAgain {
            holder: holder.clone(),
        },
    })
}

/// Until when an operation of unknown outcome may be sent again; nothing where it never may.
pub(crate) fn until_when_sendable(record: &Record, lifetimes: &Lifetimes) -> Option<Moment> {
    let State::Unknown { attempt, .. } = &record.state else {
        return None;
    };
    // What is sent last still has to arrive while the downstream remembers.
    let usable = record
        .downstream_memory?
        .checked_sub(lifetimes.lease + record.timeout + lifetimes.run_margin)?;
    Some(attempt.first_sent.after(usable))
}
