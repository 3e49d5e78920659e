//! A worker looked at an operation, or is about to: the next one looks later.

use crate::moment::Moment;
use crate::record::Record;

/// The record as it stands, due later. Its state is the same, so that the audit trail has nothing to say.
pub(crate) fn postpone(record: Record, due_at: Moment) -> Record {
    Record {
        due_at: Some(due_at),
        visits: record.visits.saturating_add(1),
        ..record
    }
}
