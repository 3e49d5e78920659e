//! Hosts over the tables that are judged.

use std::time::Duration;

use countersign_contract::{Scope, UtcSecond};
use countersign_dispatch::{Fence, Ledger, Proposed, Reserved};
use countersign_ledger::{
    Approvals, Backend, Decided, DurableLedger, Inspection, Lifetimes, Record, StateKind,
};

use crate::build::Build;
use crate::sample::{Sample, approve, instance, tenant};

/// Whole seconds, so that times can be told at a glance.
pub(crate) const LIFETIMES: Lifetimes = Lifetimes {
    approval_wait: Duration::from_hours(1),
    cool_down: Duration::from_secs(30),
    lease: Duration::from_secs(15),
    claim: Duration::from_secs(20),
    repeat_window: Duration::from_mins(15),
    run_margin: Duration::from_secs(10),
    max_waiting: 4,
};

/// A host with a connection of its own.
pub(crate) fn host<B: Build>(build: &B, name: &str) -> DurableLedger<B::Backend> {
    let ledger = DurableLedger::new(build.open(), instance(name), LIFETIMES);
    ledger.with_steady_clock(build.clock().clone())
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The second so much from now.
pub(crate) fn second_in<B: Build>(build: &B, seconds: u64) -> UtcSecond {
    let now = build.clock().moment().second();
    now.checked_add(seconds).unwrap()
}

pub(crate) fn propose<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample) -> Proposed {
    ledger.propose(&sample.proposal()).unwrap()
}

/// Proposes and approves; the work is due.
pub(crate) fn approved<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample, until: UtcSecond) {
    assert_eq!(propose(ledger, sample), Proposed::Waiting);
    let name = format!("approval-{}", sample.scope().key.as_str());
    let decided = ledger
        .decide(&sample.status_ref(), &approve("dana", &name, until))
        .unwrap();
    assert!(matches!(decided, Decided::Counts(_)), "{decided:?}");
}

/// Begins under an approval from outside.
pub(crate) fn begun<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample) -> Fence {
    let name = format!("outside-{}", sample.scope().key.as_str());
    let reserved = ledger.reserve(&sample.reservation(&name)).unwrap();
    let Reserved::Taken(lease) = reserved else {
        panic!("{reserved:?}");
    };
    lease.fence
}

pub(crate) fn record<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample) -> Record {
    let detail = ledger.operation(&sample.status_ref()).unwrap().unwrap();
    assert_eq!(detail.record.scope, sample.scope());
    detail.record
}

pub(crate) fn kind<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample) -> StateKind {
    record(ledger, sample).kind()
}

/// The events of the samples' tenant, whose numbers must follow each other.
pub(crate) fn events<B: Backend>(ledger: &DurableLedger<B>) -> Vec<String> {
    let entries = ledger.audit(&tenant("tenant-a"), 0, 1000).unwrap();
    for (expected, entry) in (1..).zip(&entries) {
        assert_eq!(entry.sequence, expected, "the trail has a gap");
    }
    entries.into_iter().map(|entry| entry.event).collect()
}

/// What the pipeline finds under a scope, on behalf of a sample's call.
pub(crate) fn found<B: Backend>(
    ledger: &DurableLedger<B>,
    sample: &Sample,
) -> Option<countersign_dispatch::Operation> {
    let (scope, identity): (Scope, _) = (sample.scope(), sample.identity());
    ledger
        .find_operation(&scope, &identity, &sample.fingerprint())
        .unwrap()
}
