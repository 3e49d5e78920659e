//! Nobody has decided yet: the write waits, or is refused for a while because somebody said no.

use super::open::{Wanted, open};
use super::{Change, expire};
use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::{Lifetimes, State};

/// What becomes of a proposal.
#[derive(Debug)]
pub(crate) enum Proposing {
    /// It is new, and waits. An earlier one under the scope gives way to it.
    Opens {
        gives_way: Option<Event>,
        opened: Change,
    },
    /// The same waits already.
    Waits,
    /// The same was refused not long ago.
    Refused,
    /// Its time to be decided about is over, which is to be written down.
    Expires(Change),
    /// The scope is taken.
    Taken,
}

pub(crate) fn propose(
    before: Option<Record>,
    wanted: &Wanted,
    now: Moment,
    lifetimes: &Lifetimes,
) -> Proposing {
    let opens = |before: Option<&Record>, gives_way| {
        let until = now.after(lifetimes.approval_wait);
        let state = State::AwaitingApproval { until };
        Proposing::Opens {
            gives_way,
            opened: Change {
                record: open(before, wanted, state, now),
                event: Event::Proposed,
            },
        }
    };
    let Some(record) = before else {
        return opens(None, None);
    };
    let is_the_same = record.terms == wanted.terms;
    match &record.state {
        State::AwaitingApproval { .. } if !is_the_same => {
            opens(Some(&record), Some(Event::Superseded))
        }
        State::AwaitingApproval { .. } => match expire(&record, now, lifetimes) {
            Some(change) => Proposing::Expires(change),
            None => Proposing::Waits,
        },
        State::Denied { until, .. } | State::Expired { until } if is_the_same && now < *until => {
            Proposing::Refused
        }
        State::Denied { .. }
        | State::Expired { .. }
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::ResolvedNotExecuted { .. } => opens(Some(&record), None),
        State::Reserved { .. }
        | State::Executing(_)
        | State::Unknown { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. } => Proposing::Taken,
    }
}
