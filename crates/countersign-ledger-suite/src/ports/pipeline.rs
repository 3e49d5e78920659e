//! The pipeline's port.

use std::time::Duration;

use countersign_contract::{Purpose, UtcSecond};
use countersign_dispatch::ledger::{CallBound, Ledger};
use countersign_dispatch::{
    Fence, NotStarted, OperationState, Proposed, Reserved, Settled, Settlement, UnknownCause,
};
use countersign_ledger::{Approvals, StateKind};

use crate::build::Build;
use crate::sample::{Sample, deny};
use crate::stage::{
    approved, begun, events, found, host, kind, propose, record, second_in, seconds,
};

/// A write from its proposal to its answer, which every later call hears.
pub fn a_write_goes_from_proposal_to_answer<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    assert_eq!(propose(&ledger, &sample), Proposed::Waiting);
    assert_eq!(propose(&ledger, &sample), Proposed::Waiting, "repeatable");
    assert_eq!(found(&ledger, &sample), None, "nobody has decided");
    let fence = begun(&ledger, &sample);
    let answer = sample.answer(7);
    let settled = ledger.settle(
        &sample.scope(),
        fence,
        &Settlement::Succeeded(answer.clone()),
    );
    assert_eq!(settled, Ok(Settled::Written));
    let elsewhere = host(build, "host-2");
    let joined = sample.clone().by_call("again");
    for call in [&sample, &joined, &joined] {
        let operation = found(&elsewhere, call).unwrap();
        assert_eq!(operation.state, OperationState::Succeeded(answer.clone()));
        assert!(!operation.was_unknown);
    }
    assert_eq!(events(&ledger), ["proposed", "begun", "succeeded"]);
    let queryable = ledger.find_queryable(&sample.status_ref());
    assert_eq!(queryable, Ok(None), "its outcome never was unknown");
}

/// A call identity means one use: from the moment that its write is recorded for every host.
pub fn a_call_identity_means_one_use<B: Build>(build: &B) {
    let (one, two) = (host(build, "host-1"), host(build, "host-2"));
    let sample = Sample::new("1");
    let identity = sample.identity();
    let bind = |sample: &Sample| one.bind_call(&identity, &sample.fingerprint()).unwrap();
    assert_eq!(bind(&sample), CallBound::Bound);
    assert_eq!(bind(&sample), CallBound::Bound);
    let other = Sample::new("2").by_call("call-1");
    assert_eq!(other.identity(), identity);
    assert_eq!(bind(&other), CallBound::Conflict);
    begun(&one, &sample);
    let query = countersign_contract::CallFingerprint::of(
        &sample.call,
        Purpose::QueryStatus,
        &sample.request(),
    );
    assert_eq!(two.bind_call(&identity, &query), Ok(CallBound::Conflict));
    assert_eq!(
        two.bind_call(&identity, &sample.fingerprint()),
        Ok(CallBound::Bound)
    );
    assert_eq!(propose(&two, &other), Proposed::CallConflict);
    let reserved = two.reserve(&other.reservation("approval-2"));
    assert_eq!(reserved, Ok(Reserved::CallConflict));
    assert_eq!(found(&two, &other), None);
    assert_eq!(events(&one), ["begun"]);
}

/// A key that is taken stays so: nobody else begins under it, whatever happened.
pub fn a_taken_key_is_occupied<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    for (name, settlement) in [
        ("executing", None),
        (
            "unknown",
            Some(Settlement::Unknown(UnknownCause::AnswerLost)),
        ),
        (
            "succeeded",
            Some(Settlement::Succeeded(Sample::new("").answer(7))),
        ),
    ] {
        let sample = Sample::new(name);
        let fence = begun(&ledger, &sample);
        if let Some(settlement) = &settlement {
            let settled = ledger.settle(&sample.scope(), fence, settlement);
            assert_eq!(settled, Ok(Settled::Written));
        }
        let other = sample.clone().with_number(2).by_call("other");
        for call in [&sample, &other] {
            let reserved = ledger.reserve(&call.reservation("another")).unwrap();
            let Reserved::Occupied(operation) = reserved else {
                panic!("{name}: {reserved:?}");
            };
            assert_eq!(operation.terms.request, sample.request(), "{name}");
            let proposed = propose(&ledger, call);
            assert_eq!(proposed, Proposed::Occupied(operation), "{name}");
        }
    }
}

/// Only the last attempt's holder settles, and once.
pub fn only_the_last_attempt_settles<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let scope = sample.scope();
    let lost = Settlement::Unknown(UnknownCause::AnswerLost);
    let stale = |fence| ledger.settle(&scope, fence, &lost).unwrap() == Settled::Stale;
    assert!(stale(Fence::new(1)), "there is nothing");
    let fence = begun(&ledger, &sample);
    assert!(stale(Fence::new(fence.as_u64() - 1)));
    assert!(stale(Fence::new(fence.as_u64() + 1)));
    let released = Settlement::Released(NotStarted::Unreachable);
    assert_eq!(
        ledger.settle(&scope, fence, &released),
        Ok(Settled::Written)
    );
    assert_eq!(kind(&ledger, &sample), StateKind::Failed);
    assert!(stale(fence), "it is over");
    // The key and the approval are free again, and the next attempt has a number of its own.
    let again = begun(&ledger, &sample);
    assert!(again > fence);
    assert!(stale(fence), "somebody else is at it");
    assert_eq!(ledger.settle(&scope, again, &lost), Ok(Settled::Written));
    assert_eq!(
        events(&ledger),
        ["begun", "not_started", "begun", "became_unknown"]
    );
}

/// One approval begins one write.
pub fn an_approval_begins_one_write<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let (one, two) = (Sample::new("1"), Sample::new("2"));
    let approval = one.evidence("approval-1", "dana", UtcSecond::MAX);
    let reserve = |sample: &Sample| {
        let reservation = sample.reservation_under(approval.clone());
        ledger.reserve(&reservation).unwrap()
    };
    assert!(matches!(reserve(&one), Reserved::Taken(_)));
    assert_eq!(reserve(&two), Reserved::ApprovalUnusable);
    assert_eq!(found(&ledger, &two), None);
    assert_eq!(events(&ledger), ["begun"]);
}

/// An approval is dead at its very second, by the ledger's clock.
pub fn an_approval_ends_by_the_ledgers_clock<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let approval = sample.evidence("approval-1", "dana", second_in(build, 10));
    let reserve = || {
        let reservation = sample.reservation_under(approval.clone());
        ledger.reserve(&reservation).unwrap()
    };
    build.clock().advance(seconds(10));
    assert_eq!(reserve(), Reserved::ApprovalUnusable);
    let just_before = build.clock().moment().as_milliseconds() - 1;
    let just_before = countersign_ledger::Moment::from_milliseconds(just_before).unwrap();
    build.clock().set(just_before);
    assert!(matches!(reserve(), Reserved::Taken(_)));
}

/// What was approved here begins under that approval only, and only the same write.
pub fn what_was_approved_begins_under_that_approval<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    approved(&ledger, &sample, second_in(build, 60));
    let outside = ledger.reserve(&sample.reservation("outside")).unwrap();
    assert!(matches!(outside, Reserved::Occupied(_)), "{outside:?}");
    assert_eq!(
        found(&ledger, &sample).unwrap().state,
        OperationState::Reserved
    );
    assert!(
        ledger
            .find_queryable(&sample.status_ref())
            .unwrap()
            .is_some()
    );
    let live = ledger.live_approval(&sample.scope()).unwrap().unwrap();
    let evidence = sample.evidence(&live.approval_id, "dana", second_in(build, 60));
    let drifted = sample.clone().under_policy("r2");
    let reserved = ledger
        .reserve(&drifted.reservation_under(evidence.clone()))
        .unwrap();
    assert!(matches!(reserved, Reserved::Occupied(_)), "{reserved:?}");
    // Somebody who joined may be the one who brings it.
    let joined = sample.clone().by_call("joined");
    let reserved = ledger.reserve(&joined.reservation_under(evidence)).unwrap();
    assert!(matches!(reserved, Reserved::Taken(_)), "{reserved:?}");
    assert_eq!(ledger.live_approval(&sample.scope()), Ok(None));
    assert_eq!(events(&ledger), ["proposed", "approved", "begun"]);
}

/// Another request under a key that waits takes its place; what was asked first is heard of no more.
pub fn another_request_supersedes_one_that_waits<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let first = Sample::new("1");
    let second = first.clone().with_number(2).by_call("second");
    propose(&ledger, &first);
    assert_eq!(propose(&ledger, &second), Proposed::Waiting);
    assert_eq!(events(&ledger), ["proposed", "superseded", "proposed"]);
    let decided = ledger.decide(&first.status_ref(), &deny("dana")).unwrap();
    assert_eq!(decided, countersign_ledger::Decided::NotFound);
    assert_eq!(kind(&ledger, &second), StateKind::AwaitingApproval);
    // The same request under another policy has the same handle.
    let third = second.under_policy("r2").by_call("third");
    assert_eq!(propose(&ledger, &third), Proposed::Waiting);
    assert_eq!(
        record(&ledger, &third).terms.revisions,
        third.contract.revisions
    );
}

/// The same is refused for a while after a denial, and may be asked again afterwards.
pub fn a_denial_cools_down<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    propose(&ledger, &sample);
    ledger.decide(&sample.status_ref(), &deny("dana")).unwrap();
    assert_eq!(propose(&ledger, &sample), Proposed::Refused);
    assert_eq!(found(&ledger, &sample), None, "a denial holds no key");
    build.clock().advance(Duration::from_millis(29_999));
    assert_eq!(propose(&ledger, &sample), Proposed::Refused);
    build.clock().advance(Duration::from_millis(1));
    assert_eq!(propose(&ledger, &sample), Proposed::Waiting);
    assert_eq!(events(&ledger), ["proposed", "denied", "proposed"]);
}

/// A subject may have so many writes waiting, and no more; others are not harmed.
pub fn a_subject_cannot_flood<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    for number in 0..4 {
        let sample = Sample::new(&number.to_string());
        assert_eq!(propose(&ledger, &sample), Proposed::Waiting);
    }
    let more = Sample::new("4");
    assert_eq!(propose(&ledger, &more), Proposed::TooManyWaiting);
    assert_eq!(
        propose(&ledger, &Sample::new("0")),
        Proposed::Waiting,
        "a repetition"
    );
    let superseding = Sample::new("1").with_number(2).by_call("superseding");
    assert_eq!(propose(&ledger, &superseding), Proposed::Waiting);
    let other = more.clone().of_subject("subject-b");
    assert_eq!(propose(&ledger, &other), Proposed::Waiting);
    ledger
        .decide(&Sample::new("0").status_ref(), &deny("dana"))
        .unwrap();
    assert_eq!(propose(&ledger, &more), Proposed::Waiting);
}

/// A receipt turns unknown into success, and whoever was executing hears that it came too late.
pub fn a_receipt_reconciles<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let lost = Settlement::Unknown(UnknownCause::AnswerLost);
    for (name, is_lost) in [("unknown", true), ("executing", false)] {
        let sample = Sample::new(name);
        let (scope, answer) = (sample.scope(), sample.answer(7));
        assert_eq!(ledger.reconcile(&scope, &answer), Ok(Settled::Stale));
        let fence = begun(&ledger, &sample);
        if is_lost {
            assert_eq!(ledger.settle(&scope, fence, &lost), Ok(Settled::Written));
        }
        for _ in 0..2 {
            assert_eq!(ledger.reconcile(&scope, &answer), Ok(Settled::Written));
        }
        let other = ledger.reconcile(&scope, &sample.answer(8));
        assert_eq!(other, Ok(Settled::Stale), "another answer");
        let late = Settlement::Succeeded(sample.answer(9));
        assert_eq!(ledger.settle(&scope, fence, &late), Ok(Settled::Stale));
        let operation = ledger
            .find_queryable(&sample.status_ref())
            .unwrap()
            .unwrap();
        assert_eq!(operation.state, OperationState::Succeeded(answer));
        assert!(operation.was_unknown);
    }
}
