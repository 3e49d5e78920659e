//! The caller has shown to know the answer: the same call again means another effect.

use super::Change;
use crate::audit::Event;
use crate::record::Record;
use crate::state::State;

/// The change, where there is an answer that nobody has acknowledged.
pub(crate) fn acknowledge(record: Record) -> Option<Change> {
    let State::Succeeded {
        proof,
        is_acknowledged: false,
    } = record.state
    else {
        return None;
    };
    Some(Change {
        record: Record {
            state: State::Succeeded {
                proof,
                is_acknowledged: true,
            },
            ..record
        },
        event: Event::Acknowledged,
    })
}
