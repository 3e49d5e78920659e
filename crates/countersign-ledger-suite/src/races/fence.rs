//! A holder that comes back after its lease has ended, while others recover and repeat what it performed.

use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{Fence, Settled, Settlement};
use countersign_ledger::{Backend, DurableLedger, StateKind, Work};

use crate::build::Build;
use crate::race::{Race, count};
use crate::running::patiently;
use crate::sample::Sample;
use crate::stage::{begun, events, kind, record, seconds};

pub(crate) struct StaleHolder;

fn sample() -> Sample {
    Sample::new("1").remembered_for(seconds(600))
}

impl Race for StaleHolder {
    const NAME: &'static str = "stale-holder";
    const RACERS: usize = 16;

    fn prepare<B: Build>(_: &B, ledger: &DurableLedger<B::Backend>) {
        assert_eq!(begun(ledger, &sample()), Fence::new(1));
    }

    /// Its lease is over, and its attempt too.
    fn pause() -> std::time::Duration {
        seconds(30)
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let sample = sample();
        let settle = |fence| {
            let succeeded = Settlement::Succeeded(sample.answer(7));
            patiently(|| ledger.settle(&sample.scope(), fence, &succeeded))
        };
        // Some speak for the first attempt; the others recover it, and begin another.
        if racer.is_multiple_of(4) {
            return match settle(Fence::new(1)) {
                Settled::Written => "first written".to_owned(),
                Settled::Stale => "stale".to_owned(),
            };
        }
        patiently(|| ledger.recover(9));
        let Some(task) = patiently(|| ledger.task(&sample.scope())) else {
            return "over".to_owned();
        };
        match patiently(|| ledger.send_again(&task)) {
            None => "nothing".to_owned(),
            Some(lease) => match settle(lease.fence) {
                Settled::Written => "second written".to_owned(),
                Settled::Stale => panic!("the last attempt is not heard"),
            },
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        let (first, second) = (count(said, "first written"), count(said, "second written"));
        assert_eq!(first + second, 1, "{said:?}");
        assert_eq!(kind(ledger, &sample()), StateKind::Succeeded);
        let expected: &[&str] = if first == 1 {
            &["begun", "succeeded"]
        } else {
            &["begun", "became_unknown", "sent_again", "succeeded"]
        };
        assert_eq!(events(ledger), expected);
        assert_eq!(
            record(ledger, &sample()).fence,
            if first == 1 { 1 } else { 2 }
        );
    }
}
