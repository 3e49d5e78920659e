//! Takers of a grant's last uses.

use countersign_ledger::{Backend, DurableLedger, Grants};

use crate::build::Build;
use crate::race::{Race, count};
use crate::rows::standing::grant;
use crate::running::patiently;
use crate::sample::{Sample, grant_id};
use crate::stage::events;

pub(crate) struct LastUse;

const USES: u64 = 3;

impl Race for LastUse {
    const NAME: &'static str = "last-use";
    const RACERS: usize = 24;

    fn prepare<B: Build>(build: &B, ledger: &DurableLedger<B::Backend>) {
        let given = grant(build, "g", &Sample::new("1"), USES);
        assert_eq!(ledger.grant_add(&given), Ok(true));
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, _: usize) -> String {
        match patiently(|| ledger.grant_take(&grant_id("g"))) {
            Some(taken) => format!("{} left", taken.uses_left),
            None => "none".to_owned(),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        for left in 0..USES {
            assert_eq!(count(said, &format!("{left} left")), 1, "{said:?}");
        }
        assert_eq!(count(said, "none"), said.len() - 3, "{said:?}");
        assert_eq!(events(ledger).len(), 4);
    }
}
