//! Workers give up: a person has to look. It says nothing about the outcome.

use super::Change;
use crate::audit::Event;
use crate::record::Record;

/// Flags what is still open; nothing where it is flagged already, or over.
///
/// What waits for its time to run out stays due: that end does not depend on anybody.
pub(crate) fn give_up(record: Record) -> Option<Change> {
    if record.is_dead_letter || !record.kind().is_open() {
        return None;
    }
    Some(Change {
        record: Record {
            is_dead_letter: true,
            due_at: None,
            ..record
        },
        event: Event::GaveUp,
    })
}
