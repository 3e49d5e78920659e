//! How much is open, and how much of it is whose.

use std::time::Duration;

use countersign_ledger::{OpenCounts, Record, StateKind};

use crate::build::Build;
use crate::plain::{open, open_record, read, update};
use crate::sample::{Sample, tenant};
use crate::states::state;

/// Only what awaits a decision counts, and each subject has a count of its own.
pub fn who_waits_is_counted_by_subject<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let until = at.after(Duration::from_mins(1));
    for kind in StateKind::ALL {
        let sample = Sample::new(kind.as_str());
        open(&backend, &sample, state(kind, &sample, until), at);
    }
    let others = [
        Sample::new("2"),
        Sample::new("3").of_subject("subject-b"),
        Sample::new("4").of_tenant("tenant-b"),
    ];
    for sample in &others {
        let waiting = state(StateKind::AwaitingApproval, sample, until);
        open(&backend, sample, waiting, at);
    }
    let waiting = |tenant_name: &str, sample: &Sample| {
        let subject = sample.principal.subject_id.clone();
        read(&backend, |rows| {
            rows.waiting(&tenant(tenant_name), &subject)
        })
    };
    assert_eq!(waiting("tenant-a", &others[0]), 2);
    assert_eq!(waiting("tenant-a", &others[1]), 1);
    assert_eq!(waiting("tenant-b", &others[2]), 1);
    assert_eq!(waiting("tenant-b", &others[1]), 0);
    let sample = &others[0];
    update(
        &backend,
        &sample.record(state(StateKind::Denied, sample, until), at),
    );
    assert_eq!(waiting("tenant-a", sample), 1);
}

/// Open states are counted one by one, dead letters among them, and the longest due is named.
pub fn what_is_open_is_counted<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let counts = || read(&backend, |rows| rows.open_counts());
    assert_eq!(counts(), OpenCounts::default());
    for (number, kind) in StateKind::ALL.into_iter().enumerate() {
        for copy in 0..=number {
            let sample = Sample::new(&format!("{kind:?}-{copy}"));
            open(&backend, &sample, state(kind, &sample, at), at);
        }
    }
    let expected = OpenCounts {
        awaiting_approval: 1,
        reserved: 4,
        executing: 5,
        unknown: 8,
        dead_letters: 0,
        oldest_due: None,
    };
    assert_eq!(counts(), expected);
    let mut dues = [3_000_u64, 1_000, 2_000].into_iter();
    for name in ["Unknown-0", "Unknown-1", "Reserved-0"] {
        let sample = Sample::new(name);
        let kind = if name.starts_with('U') {
            StateKind::Unknown
        } else {
            StateKind::Reserved
        };
        let record = sample.record(state(kind, &sample, at), at);
        let ago = dues.next().unwrap();
        let due_at = countersign_ledger::Moment::from_milliseconds(at.as_milliseconds() - ago);
        let is_dead_letter = kind == StateKind::Reserved;
        update(
            &backend,
            &Record {
                due_at,
                is_dead_letter,
                ..record
            },
        );
    }
    let found = counts();
    assert_eq!(found.dead_letters, 1);
    let oldest = found.oldest_due.unwrap();
    assert_eq!(at.since(oldest), Duration::from_secs(3));
    // A flag on what is over counts no more.
    let over = Sample::new("over");
    let record = over.record(state(StateKind::Succeeded, &over, at), at);
    open_record(
        &backend,
        &Record {
            is_dead_letter: true,
            ..record
        },
    );
    assert_eq!(counts(), found);
}
