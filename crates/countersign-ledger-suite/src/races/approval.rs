//! Consumers of one approval.

use countersign_contract::UtcSecond;
use countersign_dispatch::Reserved;
use countersign_dispatch::ledger::Ledger;
use countersign_ledger::{Approvals, Backend, Decided, DurableLedger, Work};

use crate::build::Build;
use crate::race::{Race, count};
use crate::running::patiently;
use crate::sample::{Sample, approve, tool};
use crate::stage::{events, propose};

/// An approval that was decided here, brought by the caller who waited, by others who joined, and by workers.
pub(crate) struct OneApproval;

impl Race for OneApproval {
    const NAME: &'static str = "one-approval";
    const RACERS: usize = 24;

    fn prepare<B: Build>(_: &B, ledger: &DurableLedger<B::Backend>) {
        let sample = Sample::new("1");
        propose(ledger, &sample);
        let decision = approve("dana", "approval-1", UtcSecond::MAX);
        let decided = ledger.decide(&sample.status_ref(), &decision).unwrap();
        assert!(matches!(decided, Decided::Counts(_)), "{decided:?}");
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let sample = Sample::new("1");
        let evidence = sample.evidence("approval-1", "dana", UtcSecond::MAX);
        if racer.is_multiple_of(3) {
            patiently(|| ledger.claim(&[tool("count")], 1));
        }
        let caller = if racer.is_multiple_of(2) {
            sample
        } else {
            sample.by_call(&format!("joined-{racer}"))
        };
        let reservation = caller.reservation_under(evidence);
        match patiently(|| ledger.reserve(&reservation)) {
            Reserved::Taken(_) => "taken".to_owned(),
            Reserved::Occupied(_) => "occupied".to_owned(),
            other @ (Reserved::ApprovalUnusable | Reserved::CallConflict) => panic!("{other:?}"),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        assert_eq!(count(said, "taken"), 1, "{said:?}");
        assert_eq!(events(ledger), ["proposed", "approved", "begun"]);
    }
}

/// One and the same approval, brought for keys that differ.
pub(crate) struct OneApprovalForManyKeys;

impl Race for OneApprovalForManyKeys {
    const NAME: &'static str = "one-approval-for-many-keys";
    const RACERS: usize = 24;

    fn prepare<B: Build>(_: &B, _: &DurableLedger<B::Backend>) {}

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let evidence = Sample::new("0").evidence("approval-1", "dana", UtcSecond::MAX);
        let sample = Sample::new(&racer.to_string());
        let reservation = sample.reservation_under(evidence);
        match patiently(|| ledger.reserve(&reservation)) {
            Reserved::Taken(_) => "taken".to_owned(),
            Reserved::ApprovalUnusable => "unusable".to_owned(),
            other @ (Reserved::Occupied(_) | Reserved::CallConflict) => panic!("{other:?}"),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        assert_eq!(count(said, "taken"), 1, "{said:?}");
        assert_eq!(events(ledger), ["begun"]);
    }
}
