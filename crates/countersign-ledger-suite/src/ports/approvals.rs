//! Deciding about writes that wait.

use countersign_dispatch::Proposed;
use countersign_ledger::{Approvals, Decided, State, StateKind};

use crate::build::Build;
use crate::sample::{Sample, approve, approver, deny};
use crate::stage::{approved, events, host, kind, propose, record, second_in, seconds};

/// The first decision counts; whoever comes later hears who was first, and changes nothing.
pub fn the_first_decision_counts<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let until = second_in(build, 60);
    let sample = Sample::new("1");
    let handle = sample.status_ref();
    let decide = |decision| ledger.decide(&handle, &decision).unwrap();
    assert_eq!(decide(deny("dana")), Decided::NotFound);
    propose(&ledger, &sample);
    let Decided::Counts(first) = decide(approve("dana", "a", until)) else {
        panic!("the first decision counts");
    };
    for later in [
        approve("dana", "a", until),
        approve("erin", "b", until),
        deny("erin"),
    ] {
        let Decided::TooLate(stands) = decide(later) else {
            panic!("a later decision counts");
        };
        let State::Reserved { approval, .. } = &stands.state else {
            panic!("{stands:?}");
        };
        assert_eq!(approval.approver, approver("dana"));
        assert_eq!(stands, first);
    }
    assert_eq!(events(&ledger), ["proposed", "approved"]);
    let denied = Sample::new("2");
    propose(&ledger, &denied);
    ledger.decide(&denied.status_ref(), &deny("dana")).unwrap();
    let later = ledger.decide(&denied.status_ref(), &approve("erin", "c", until));
    let Decided::TooLate(stands) = later.unwrap() else {
        panic!("a later decision counts");
    };
    assert!(matches!(&stands.state, State::Denied { by, .. } if *by == approver("dana")));
}

/// An approval is of the call that was first stored, whoever has joined since, and carries all that binds it.
pub fn an_approval_is_of_the_first_call<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let (sample, until) = (Sample::new("1"), second_in(build, 60));
    let joined = sample.clone().by_call("joined");
    propose(&ledger, &sample);
    assert_eq!(propose(&ledger, &joined), Proposed::Waiting);
    approved_as(&ledger, &sample, until);
    let live = ledger.live_approval(&sample.scope()).unwrap().unwrap();
    assert_eq!(live.call_id, sample.call.call_id.as_str());
    let evidence = sample.evidence("a", "dana", until);
    assert_eq!(live.approval_digest, evidence.digest.to_string());
    let elsewhere = host(build, "host-2");
    assert_eq!(elsewhere.live_approval(&sample.scope()), Ok(Some(live)));
    build.clock().advance(seconds(60));
    assert_eq!(
        ledger.live_approval(&sample.scope()),
        Ok(None),
        "it is dead"
    );
}

fn approved_as<L: Approvals>(ledger: &L, sample: &Sample, until: countersign_contract::UtcSecond) {
    let decided = ledger.decide(&sample.status_ref(), &approve("dana", "a", until));
    assert!(matches!(decided, Ok(Decided::Counts(_))), "{decided:?}");
}

/// Time is over at the very moment that was named, and that is written down.
pub fn nobody_decides_after_the_time_is_over<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let (sample, until) = (Sample::new("1"), second_in(build, 7200));
    propose(&ledger, &sample);
    build.clock().advance(seconds(3600));
    let decided = ledger.decide(&sample.status_ref(), &approve("dana", "a", until));
    let Decided::TooLate(stands) = decided.unwrap() else {
        panic!("it counts");
    };
    assert_eq!(stands.kind(), StateKind::Expired);
    assert_eq!(kind(&ledger, &sample), StateKind::Expired);
    assert_eq!(propose(&ledger, &sample), Proposed::Refused);
    assert_eq!(events(&ledger), ["proposed", "expired"]);
}

/// A dead approval, or one that is used up, decides nothing.
pub fn an_unusable_approval_decides_nothing<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    propose(&ledger, &sample);
    let now = second_in(build, 0);
    let decided = ledger.decide(&sample.status_ref(), &approve("dana", "a", now));
    assert_eq!(decided, Ok(Decided::Unusable));
    assert_eq!(kind(&ledger, &sample), StateKind::AwaitingApproval);
    // Approved, never begun, and blocked: that approval's name is used up.
    let soon = second_in(build, 10);
    approved_as(&ledger, &sample, soon);
    build.clock().advance(seconds(10));
    countersign_ledger::Work::expire(&ledger, 10).unwrap();
    assert_eq!(kind(&ledger, &sample), StateKind::Blocked);
    propose(&ledger, &sample);
    let later = second_in(build, 10);
    let again = ledger.decide(&sample.status_ref(), &approve("dana", "a", later));
    assert_eq!(again, Ok(Decided::Unusable));
    let fresh = ledger.decide(&sample.status_ref(), &approve("dana", "b", later));
    assert!(matches!(fresh, Ok(Decided::Counts(_))), "{fresh:?}");
}

/// Each of several that wait has its own outcome.
pub fn each_write_has_its_own_decision<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let samples = ["1", "2", "3"].map(Sample::new);
    propose(&ledger, &samples[0]);
    propose(&ledger, &samples[1]);
    approved(&ledger, &samples[2], second_in(build, 60));
    ledger
        .decide(&samples[1].status_ref(), &deny("dana"))
        .unwrap();
    let kinds = samples.each_ref().map(|sample| kind(&ledger, sample));
    let expected = [
        StateKind::AwaitingApproval,
        StateKind::Denied,
        StateKind::Reserved,
    ];
    assert_eq!(kinds, expected);
    let due = record(&ledger, &samples[2]).due_at;
    assert_eq!(due, Some(build.clock().moment()), "it is due at once");
}

/// What was asked for anew under another contract is not what somebody was shown, whatever handle it has.
pub fn a_decision_is_about_what_was_shown<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let shown = Sample::new("1");
    let yes = approve("dana", "a", second_in(build, 60));
    propose(&ledger, &shown);
    let seen = record(&ledger, &shown);
    let anew = shown.under_policy("r2").by_call("anew");
    assert_eq!(anew.status_ref(), seen.terms.status_ref);
    propose(&ledger, &anew);
    for decision in [yes.clone(), deny("dana")] {
        let decided = ledger.decide_on(&seen, &decision);
        assert!(matches!(decided, Ok(Decided::TooLate(_))), "{decided:?}");
        assert_eq!(kind(&ledger, &anew), StateKind::AwaitingApproval);
    }
    let decided = ledger.decide_on(&record(&ledger, &anew), &yes);
    assert!(matches!(decided, Ok(Decided::Counts(_))), "{decided:?}");
}
