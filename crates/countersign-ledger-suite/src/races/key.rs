//! Many under one key.

use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{OperationState, Reserved, Settlement};
use countersign_ledger::{Backend, DurableLedger, StateKind};

use crate::build::Build;
use crate::race::{Race, count};
use crate::running::patiently;
use crate::sample::Sample;
use crate::stage::{events, kind};

const TAKEN: &str = "taken";

/// The same write by many calls, each with an approval of its own.
pub(crate) struct OneKey;

impl Race for OneKey {
    const NAME: &'static str = "one-key";
    const RACERS: usize = 64;

    fn prepare<B: Build>(_: &B, _: &DurableLedger<B::Backend>) {}

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let sample = Sample::new("1").by_call(&format!("call-{racer}"));
        let reservation = sample.reservation("approval");
        match patiently(|| ledger.reserve(&reservation)) {
            Reserved::Taken(lease) => {
                let succeeded = Settlement::Succeeded(sample.answer(7));
                patiently(|| ledger.settle(&sample.scope(), lease.fence, &succeeded));
                TAKEN.to_owned()
            }
            Reserved::Occupied(operation) => {
                assert_eq!(operation.terms.request, sample.request());
                match operation.state {
                    OperationState::Executing(_) => "executing".to_owned(),
                    OperationState::Succeeded(answer) => {
                        assert_eq!(answer, sample.answer(7));
                        "succeeded".to_owned()
                    }
                    other @ (OperationState::Reserved | OperationState::Unknown) => {
                        panic!("{other:?}")
                    }
                }
            }
            other @ (Reserved::ApprovalUnusable | Reserved::CallConflict) => panic!("{other:?}"),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        assert_eq!(count(said, TAKEN), 1, "{said:?}");
        assert_eq!(events(ledger), ["begun", "succeeded"]);
    }
}

/// Different requests under one key of the callers' own.
pub(crate) struct OneKeyForManyRequests;

fn request_of(racer: usize) -> Sample {
    let number = u32::try_from(racer).unwrap();
    Sample::new("1")
        .with_number(number)
        .by_call(&format!("call-{racer}"))
}

impl Race for OneKeyForManyRequests {
    const NAME: &'static str = "one-key-for-many-requests";
    const RACERS: usize = 32;

    fn prepare<B: Build>(_: &B, _: &DurableLedger<B::Backend>) {}

    /// Half of them propose first, so that what waits is superseded again and again.
    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let sample = request_of(racer);
        if racer.is_multiple_of(2) {
            patiently(|| ledger.propose(&sample.proposal()));
        }
        let reservation = sample.reservation("approval");
        match patiently(|| ledger.reserve(&reservation)) {
            Reserved::Taken(_) => format!("{TAKEN} {racer}"),
            Reserved::Occupied(operation) => {
                assert_ne!(operation.terms.request, sample.request());
                "occupied".to_owned()
            }
            other @ (Reserved::ApprovalUnusable | Reserved::CallConflict) => panic!("{other:?}"),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        let winners: Vec<_> = said
            .iter()
            .filter_map(|said| said.strip_prefix(TAKEN))
            .collect();
        assert_eq!(winners.len(), 1, "{said:?}");
        let winner = request_of(winners[0].trim().parse().unwrap());
        assert_eq!(kind(ledger, &winner), StateKind::Executing);
        let begun = events(ledger).into_iter().filter(|event| event == "begun");
        assert_eq!(begun.count(), 1);
    }
}
