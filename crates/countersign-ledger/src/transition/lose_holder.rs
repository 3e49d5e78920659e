//! Whoever performed an operation counts as alive no more: it may have acted.

use countersign_dispatch::UnknownCause;

use super::Change;
use super::settle::unknown;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::State;

/// The change, where something is being performed.
pub(crate) fn lose_holder(record: Record, now: Moment) -> Option<Change> {
    let State::Executing(attempt) = &record.state else {
        return None;
    };
    let attempt = attempt.clone();
    Some(unknown(record, attempt, UnknownCause::HolderLost, now))
}
