//! Callers who wait for the result of a write that somebody else performs.

use std::time::Duration;

use countersign_dispatch::OperationState;
use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{Reserved, Settlement};
use countersign_ledger::{Backend, Changes, DurableLedger};

use crate::build::Build;
use crate::race::{Race, count};
use crate::running::{PATIENCE, patiently, running_time};
use crate::sample::Sample;
use crate::stage::{events, propose};

pub(crate) struct Joiners;

impl Race for Joiners {
    const NAME: &'static str = "joiners";
    const RACERS: usize = 24;

    fn prepare<B: Build>(_: &B, ledger: &DurableLedger<B::Backend>) {
        propose(ledger, &Sample::new("1"));
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let sample = Sample::new("1").by_call(&format!("call-{racer}"));
        if racer == 0 {
            // The others are about to wait, or wait already.
            ledger.wait(ledger.version(), Duration::from_millis(50));
            let reserved = patiently(|| ledger.reserve(&sample.reservation("approval")));
            let Reserved::Taken(lease) = reserved else {
                panic!("{reserved:?}");
            };
            let succeeded = Settlement::Succeeded(sample.answer(7));
            patiently(|| ledger.settle(&sample.scope(), lease.fence, &succeeded));
        }
        let started = running_time();
        loop {
            // The version from before the look: what is written after it wakes.
            let version = ledger.version();
            let (scope, identity) = (sample.scope(), sample.identity());
            let fingerprint = sample.fingerprint();
            let found = patiently(|| ledger.find_operation(&scope, &identity, &fingerprint));
            if let Some(OperationState::Succeeded(answer)) = found.map(|found| found.state) {
                assert_eq!(answer, sample.answer(7));
                return "heard".to_owned();
            }
            assert!(started.elapsed() < PATIENCE, "nobody woke it");
            ledger.wait(version, PATIENCE);
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        assert_eq!(count(said, "heard"), said.len());
        assert_eq!(events(ledger), ["proposed", "begun", "succeeded"]);
    }
}
