//! A person says what became of an operation whose outcome is unknown.

use super::{Change, Reading};
use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::{Ruling, State, StateKind};

/// Why a ruling does not count.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RuleRefusal {
    /// The outcome is not unknown; this is how it stands.
    NotUnknown(StateKind),
    /// Until then the attempt may still be under way, so that nobody can say that it did not act.
    TooEarly(Moment),
}

/// It acted; an answer may be known.
pub(crate) fn rule_committed(
    record: Record,
    ruling: Ruling,
    has_answer: bool,
    now: Moment,
) -> Result<Change, RuleRefusal> {
    if record.kind() != StateKind::Unknown {
        return Err(RuleRefusal::NotUnknown(record.kind()));
    }
    let event = Event::RuledCommitted {
        ruling: ruling.clone(),
        has_answer,
    };
    let state = State::ResolvedCommitted { ruling, has_answer };
    let record = record.into_state(state, now, None);
    Ok(Change { record, event })
}

/// It did not act: the key is free.
pub(crate) fn rule_not_executed(
    record: Record,
    ruling: Ruling,
    clock: Reading<'_>,
) -> Result<Change, RuleRefusal> {
    let now = clock.now;
    let State::Unknown { attempt, .. } = &record.state else {
        return Err(RuleRefusal::NotUnknown(record.kind()));
    };
    if !attempt.is_over(now, clock.steady) {
        return Err(RuleRefusal::TooEarly(attempt.over_at));
    }
    let event = Event::RuledNotExecuted(ruling.clone());
    let record = record.into_state(State::ResolvedNotExecuted { ruling }, now, None);
    Ok(Change { record, event })
}
