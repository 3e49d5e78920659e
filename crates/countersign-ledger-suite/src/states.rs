//! One state of each kind.

use std::time::Duration;

use countersign_contract::{ErrorCode, UtcSecond};
use countersign_dispatch::{NotStarted, UnknownCause};
use countersign_ledger::{
    Attempt, BootId, Moment, Proof, Ruling, State, StateKind, Steady, SteadySpan,
};

use crate::sample::{Sample, TIMEOUT, approver, instance, note};

pub(crate) fn state(kind: StateKind, sample: &Sample, at: Moment) -> State {
    let approval = || sample.evidence("approval-1", "dana", UtcSecond::MAX);
    let attempt = || Attempt {
        approval: approval(),
        holder: instance("host-1"),
        first_sent: at,
        over_at: at.after(TIMEOUT),
        steady: Some(SteadySpan {
            first_sent: steady(at),
            over_at: steady(at.after(TIMEOUT)),
        }),
    };
    let ruling = || Ruling {
        by: approver("dana"),
        note: note("seen in the shop's books"),
        at,
    };
    match kind {
        StateKind::AwaitingApproval => State::AwaitingApproval { until: at },
        StateKind::Denied => State::Denied {
            by: approver("dana"),
            reason: Some(note("not today")),
            until: at,
        },
        StateKind::Expired => State::Expired { until: at },
        StateKind::Reserved => State::Reserved {
            approval: approval(),
            until: at,
        },
        StateKind::Executing => State::Executing(attempt()),
        StateKind::Blocked => State::Blocked {
            cause: ErrorCode::NotFound,
        },
        StateKind::Failed => State::Failed {
            cause: NotStarted::Unreachable,
        },
        StateKind::Unknown => State::Unknown {
            attempt: attempt(),
            cause: UnknownCause::HolderLost,
        },
        StateKind::Succeeded => State::Succeeded {
            proof: Proof::Answer,
            is_acknowledged: false,
        },
        StateKind::ResolvedCommitted => State::ResolvedCommitted {
            ruling: ruling(),
            has_answer: false,
        },
        StateKind::ResolvedNotExecuted => State::ResolvedNotExecuted { ruling: ruling() },
    }
}

fn steady(at: Moment) -> Steady {
    Steady {
        boot: BootId::new("start-1").unwrap(),
        passed: Duration::from_millis(at.as_milliseconds()),
    }
}
