//! What is kept once: answers and consumed approvals; and which hosts are alive.

use std::time::Duration;

use countersign_dispatch::ledger::Error;
use countersign_ledger::{ApprovalKey, StateKind};

use crate::build::Build;
use crate::plain::{document, open, read, try_write, write};
use crate::sample::{Sample, instance};
use crate::states::state;

fn key(sample: &Sample, id: &str) -> ApprovalKey {
    let evidence = sample.evidence(id, "dana", countersign_contract::UtcSecond::MAX);
    ApprovalKey {
        approval_id: evidence.approval_id,
        digest: evidence.digest,
    }
}

/// One operation has one answer.
pub fn an_answer_is_kept_once<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let sample = Sample::new("1");
    let insert = |number| {
        let scope = sample.scope();
        try_write(&backend, move |tables| {
            tables.receipt_insert(&scope, &document(number))
        })
    };
    assert!(matches!(insert(1), Err(Error::Damaged(_))), "for nothing");
    open(
        &backend,
        &sample,
        state(StateKind::Succeeded, &sample, at),
        at,
    );
    insert(2).unwrap();
    assert!(matches!(insert(3), Err(Error::Damaged(_))), "twice");
    let kept = read(&build.open(), |rows| rows.receipt(&sample.scope()));
    assert_eq!(kept, Some(document(2)));
}

/// An approval is its name and what it binds: consumed once, and free again when it is freed.
pub fn an_approval_is_consumed_once<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (one, two) = (Sample::new("1"), Sample::new("2"));
    for sample in [&one, &two] {
        open(
            &backend,
            sample,
            state(StateKind::Executing, sample, at),
            at,
        );
    }
    let consume = |key: ApprovalKey, sample: &Sample| {
        let scope = sample.scope();
        try_write(&backend, move |tables| {
            tables.approval_use_insert(&key, &scope)
        })
    };
    let consumer = |key: &ApprovalKey| read(&build.open(), |rows| rows.approval_use(key));
    let approval = key(&one, "approval-1");
    consume(approval.clone(), &one).unwrap();
    for sample in [&one, &two] {
        let again = consume(approval.clone(), sample);
        assert!(matches!(again, Err(Error::Damaged(_))), "{again:?}");
    }
    // Another one of the same name, and another name for the same.
    consume(key(&two, "approval-1"), &two).unwrap();
    consume(key(&one, "approval-2"), &one).unwrap();
    assert_eq!(consumer(&approval), Some(one.scope()));
    assert_eq!(consumer(&key(&two, "approval-1")), Some(two.scope()));

    for _ in 0..2 {
        let freed = approval.clone();
        write(&backend, move |tables| tables.approval_use_remove(&freed));
        assert_eq!(consumer(&approval), None);
    }
    assert_eq!(consumer(&key(&one, "approval-2")), Some(one.scope()));
    consume(approval.clone(), &one).unwrap();
    // It stays consumed when its operation gives way to another one.
    open(
        &backend,
        &one,
        state(StateKind::AwaitingApproval, &one, at),
        at,
    );
    assert_eq!(consumer(&approval), Some(one.scope()));
}

/// An instance is alive until a time, or gone.
pub fn an_instance_is_alive_until_a_time<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let host = instance("host-1");
    let until = || read(&build.open(), |rows| rows.instance(&host));
    let put = |moment| {
        let host = host.clone();
        write(&backend, move |tables| tables.instance_put(&host, moment));
    };
    assert_eq!(until(), None);
    let (soon, later) = (at.after(Duration::from_millis(1)), at.after(Duration::MAX));
    for moment in [Some(soon), Some(later), Some(soon), None, None, Some(at)] {
        put(moment);
        assert_eq!(until(), moment);
    }
    assert_eq!(
        read(&backend, |rows| rows.instance(&instance("host-2"))),
        None
    );
}
