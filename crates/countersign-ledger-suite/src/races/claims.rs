//! Workers that share what is due.

use countersign_ledger::{Backend, DurableLedger, Work};

use crate::build::Build;
use crate::race::Race;
use crate::running::patiently;
use crate::sample::{Sample, tool};
use crate::stage::{approved, second_in};

pub(crate) struct Claims;

const DUE: usize = 96;

fn sample(number: usize) -> Sample {
    // Few of one subject may wait at a time, but all are decided at once.
    Sample::new(&number.to_string()).by_call(&format!("call-{number}"))
}

impl Race for Claims {
    const NAME: &'static str = "claims";
    const RACERS: usize = 16;

    fn prepare<B: Build>(build: &B, ledger: &DurableLedger<B::Backend>) {
        for number in 0..DUE {
            approved(ledger, &sample(number), second_in(build, 600));
        }
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, _: usize) -> String {
        let mut claimed = Vec::new();
        loop {
            let tasks = patiently(|| ledger.claim(&[tool("count")], 5));
            if tasks.is_empty() {
                return claimed.join(" ");
            }
            let keys = tasks.iter().map(|task| task.record.scope.key.as_str());
            claimed.extend(keys.map(str::to_owned));
        }
    }

    fn judge<B: Backend>(_: &DurableLedger<B>, said: &[String]) {
        let mut keys: Vec<_> = said
            .iter()
            .flat_map(|said| said.split_whitespace())
            .collect();
        keys.sort_unstable();
        let mut expected: Vec<_> = (0..DUE).map(|number| format!("key-{number}")).collect();
        expected.sort_unstable();
        assert_eq!(keys, expected, "each once, and none left");
    }
}
