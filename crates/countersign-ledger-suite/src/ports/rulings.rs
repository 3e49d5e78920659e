//! A person rules on an unknown outcome.

use std::time::Duration;

use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{OperationState, Settled, Settlement, UnknownCause};
use countersign_ledger::{Inspection, Ruled, Rulings, State, StateKind, Verdict};

use crate::build::Build;
use crate::sample::{Sample, approver, note};
use crate::stage::{begun, events, found, host, kind, record, seconds};

const LOST: Settlement = Settlement::Unknown(UnknownCause::AnswerLost);

fn rule<L: Rulings>(ledger: &L, sample: &Sample, verdict: &Verdict) -> Ruled {
    let note = note("seen in the shop's books");
    ledger
        .rule(&sample.status_ref(), verdict, &approver("dana"), &note)
        .unwrap()
}

/// Only unknown is ruled upon, and once; a person's answer is kept, and serves from then on.
pub fn the_first_ruling_counts<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let with = Verdict::CommittedWith(sample.answer(7));
    assert_eq!(rule(&ledger, &sample, &with), Ruled::NotFound);
    let fence = begun(&ledger, &sample);
    let refused = Ruled::NotUnknown(StateKind::Executing);
    assert_eq!(rule(&ledger, &sample, &with), refused);
    ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    let Ruled::Counts(ruled) = rule(&ledger, &sample, &with) else {
        panic!("the first ruling counts");
    };
    let State::ResolvedCommitted { ruling, has_answer } = &ruled.state else {
        panic!("{ruled:?}");
    };
    assert!(*has_answer && ruling.by == approver("dana") && ruling.at == ruled.changed_at);
    let refused = Ruled::NotUnknown(StateKind::ResolvedCommitted);
    for later in [Verdict::NotExecuted, Verdict::Committed, with] {
        assert_eq!(rule(&ledger, &sample, &later), refused);
    }
    assert_eq!(
        ledger.reconcile(&sample.scope(), &sample.answer(8)),
        Ok(Settled::Stale)
    );
    let operation = found(&ledger, &sample).unwrap();
    assert_eq!(operation.state, OperationState::Succeeded(sample.answer(7)));
    let detail = ledger.operation(&sample.status_ref()).unwrap().unwrap();
    assert_eq!(detail.answer, Some(sample.answer(7)));
    assert_eq!(
        events(&ledger),
        ["begun", "became_unknown", "ruled_committed"]
    );
}

/// Evidence without an answer stays unknown to a model, and holds the key.
pub fn a_ruling_without_an_answer_stays_unknown_to_the_model<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let fence = begun(&ledger, &sample);
    ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    let ruled = rule(&ledger, &sample, &Verdict::Committed);
    assert!(matches!(ruled, Ruled::Counts(_)));
    let operation = found(&ledger, &sample).unwrap();
    assert_eq!(operation.state, OperationState::Unknown);
    let reserved = ledger.reserve(&sample.reservation("again")).unwrap();
    assert!(matches!(
        reserved,
        countersign_dispatch::Reserved::Occupied(_)
    ));
}

/// That nothing was executed cannot be said while the attempt may be under way; afterwards it frees the key.
pub fn not_executed_waits_until_the_attempt_is_over<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let begun_at = build.clock().moment();
    let fence = begun(&ledger, &sample);
    ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    // A lease, the timeout and a margin.
    let over_at = begun_at.after(Duration::from_millis(25_500));
    let refused = Ruled::TooEarly(over_at);
    assert_eq!(rule(&ledger, &sample, &Verdict::NotExecuted), refused);
    build.clock().advance(Duration::from_millis(25_499));
    assert_eq!(rule(&ledger, &sample, &Verdict::NotExecuted), refused);
    assert_eq!(kind(&ledger, &sample), StateKind::Unknown);
    build.clock().advance(Duration::from_millis(1));
    let ruled = rule(&ledger, &sample, &Verdict::NotExecuted);
    assert!(matches!(ruled, Ruled::Counts(_)));
    assert_eq!(found(&ledger, &sample), None);
    // The old approval is used up; a new one begins under a number of its own.
    let name = format!("outside-{}", sample.scope().key.as_str());
    let old = ledger.reserve(&sample.reservation(&name)).unwrap();
    assert_eq!(old, countersign_dispatch::Reserved::ApprovalUnusable);
    let new = ledger.reserve(&sample.reservation("new")).unwrap();
    assert!(matches!(new, countersign_dispatch::Reserved::Taken(_)));
    assert_eq!(record(&ledger, &sample).fence, 2);
}

/// Nothing but a receipt, a repetition or a person ends unknown: time does not.
pub fn time_ends_nothing_that_is_unknown<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let fence = begun(&ledger, &sample);
    ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    let before = record(&ledger, &sample);
    build.clock().advance(seconds(100 * 365 * 86_400));
    assert_eq!(countersign_ledger::Work::expire(&ledger, 9), Ok(0));
    assert_eq!(countersign_ledger::Work::recover(&ledger, 9), Ok(0));
    assert_eq!(record(&ledger, &sample), before);
}
