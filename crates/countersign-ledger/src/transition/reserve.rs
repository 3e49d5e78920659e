//! An approved write begins: from here on it may act.

use countersign_policy::ApprovalEvidence;

use super::Change;
use super::open::{Wanted, open};
use crate::audit::Event;
use crate::moment::Moment;
use crate::names::InstanceId;
use crate::record::Record;
use crate::state::{Attempt, Lifetimes, State};

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
    now: Moment,
    lifetimes: &Lifetimes,
) -> Reserving {
    if Moment::of_second(approval.expires_at) <= now {
        return Reserving::TooLate;
    }
    let Some(record) = before else {
        return opens(None, None, wanted, approval, holder, now, lifetimes);
    };
    match &record.state {
        State::Reserved {
            approval: given, ..
        } if given == approval && record.terms == wanted.terms => {
            Reserving::Begins(begin(record, approval, holder, now, lifetimes))
        }
        State::AwaitingApproval { .. } => {
            let gives_way = (record.terms != wanted.terms).then_some(Event::Superseded);
            let before = Some(&record);
            opens(before, gives_way, wanted, approval, holder, now, lifetimes)
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
            now,
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
    now: Moment,
    lifetimes: &Lifetimes,
) -> Reserving {
    // The state is replaced at once; it only has to be one that begins.
    let until = now;
    let opened = open(before, wanted, State::AwaitingApproval { until }, now);
    Reserving::Opens {
        gives_way,
        begun: begin(opened, approval, holder, now, lifetimes),
    }
}

fn begin(
    record: Record,
    approval: &ApprovalEvidence,
    holder: &InstanceId,
    now: Moment,
    lifetimes: &Lifetimes,
) -> Change {
    let attempt = Attempt {
        approval: approval.clone(),
        holder: holder.clone(),
        first_sent: now,
        over_at: over_at(now, &record, lifetimes),
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

/// When an attempt that begins within its lease has certainly ended.
pub(super) fn over_at(now: Moment, record: &Record, lifetimes: &Lifetimes) -> Moment {
    now.after(lifetimes.lease)
        .after(record.timeout)
        .after(lifetimes.run_margin)
}
