//! An approved write begins: from here on it may act.

use countersign_policy::ApprovalEvidence;

use std::time::Duration;

use super::open::{Wanted, open};
use super::{Change, Reading};
use crate::audit::Event;
use crate::moment::Moment;
use crate::names::InstanceId;
use crate::record::Record;
use crate::state::{Attempt, Lifetimes, State};
use crate::steady::SteadySpan;

/// What becomes of a reservation.
#[derive(Debug)]
pub(crate) enum Reserving {
    /// The scope was free: the operation is opened and begins.
    Opens {
        gives_way: Option<Event>,
        begun: Change,
    },
    /// It was approved before, by this approval, and begins.
    Begins(Change),
    /// Somebody else has the scope.
    Taken,
    /// By the ledger's clock the approval is dead.
    TooLate,
}

pub(crate) fn reserve(
    before: Option<Record>,
    wanted: &Wanted,
    approval: &ApprovalEvidence,
    holder: &InstanceId,
    clock: Reading<'_>,
    lifetimes: &Lifetimes,
) -> Reserving {
    if Moment::of_second(approval.expires_at) <= clock.now {
        return Reserving::TooLate;
    }
    let Some(record) = before else {
        return opens(None, None, wanted, approval, holder, clock, lifetimes);
    };
    match &record.state {
        State::Reserved { until, .. } if *until <= clock.now => Reserving::TooLate,
        State::Reserved {
            approval: given, ..
        } if given == approval && record.terms == wanted.terms => {
            Reserving::Begins(begin(record, approval, holder, clock, lifetimes))
        }
        State::AwaitingApproval { .. } => {
            let gives_way = (record.terms != wanted.terms).then_some(Event::Superseded);
            let before = Some(&record);
            opens(
                before, gives_way, wanted, approval, holder, clock, lifetimes,
            )
        }
        State::Denied { .. }
        | State::Expired { .. }
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::ResolvedNotExecuted { .. } => opens(
            Some(&record),
            None,
            wanted,
            approval,
            holder,
            clock,
            lifetimes,
        ),
        State::Reserved { .. }
        | State::Executing(_)
        | State::Unknown { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. } => Reserving::Taken,
    }
}

fn opens(
    before: Option<&Record>,
    gives_way: Option<Event>,
    wanted: &Wanted,
    approval: &ApprovalEvidence,
    holder: &InstanceId,
    clock: Reading<'_>,
    lifetimes: &Lifetimes,
) -> Reserving {
    // The state is replaced at once; it only has to be one that begins.
    let until = clock.now;
    let opened = open(before, wanted, State::AwaitingApproval { until }, clock.now);
    Reserving::Opens {
        gives_way,
        begun: begin(opened, approval, holder, clock, lifetimes),
    }
}

fn begin(
    record: Record,
    approval: &ApprovalEvidence,
    holder: &InstanceId,
    clock: Reading<'_>,
    lifetimes: &Lifetimes,
) -> Change {
    let now = clock.now;
    let attempt = Attempt {
        approval: approval.clone(),
        holder: holder.clone(),
        first_sent: now,
        over_at: now.after(longest_attempt(&record, lifetimes)),
        steady: clock.steady.map(|steady| SteadySpan {
            first_sent: steady.clone(),
            over_at: steady.after(longest_attempt(&record, lifetimes)),
        }),
    };
    let record = Record {
        fence: record.fence + 1,
        ..record.into_state(State::Executing(attempt), now, None)
    };
    Change {
        record,
        event: Event::Begun {
            approval: approval.clone(),
            holder: holder.clone(),
        },
    }
}

/// Within which an attempt that begins within its lease has certainly ended.
pub(super) fn longest_attempt(record: &Record, lifetimes: &Lifetimes) -> Duration {
    lifetimes
        .lease
        .saturating_add(record.timeout)
        .saturating_add(lifetimes.run_margin)
}
