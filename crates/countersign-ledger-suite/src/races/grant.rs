//! Takers of a grant's last uses.

use countersign_ledger::{Backend, DurableLedger, GrantAdded, Grants, StateKind};

use crate::build::Build;
use crate::race::{Race, count};
use crate::rows::standing::grant;
use crate::running::patiently;
use crate::sample::Sample;
use crate::stage::{events, kind, propose};

/// Each of the writes is brought by two, who must not spend two uses on it.
pub(crate) struct LastUse;

const USES: u64 = 2;
/// No more than may wait at a time.
const WRITES: usize = 4;

impl Race for LastUse {
    const NAME: &'static str = "last-use";
    const RACERS: usize = 24;

    fn prepare<B: Build>(build: &B, ledger: &DurableLedger<B::Backend>) {
        let given = grant(build, "g", &Sample::new("0"), USES);
        assert_eq!(ledger.grant_add(&given), Ok(GrantAdded::Added));
        for write in 0..WRITES {
            propose(ledger, &Sample::new(&write.to_string()));
        }
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let scope = Sample::new(&(racer % WRITES).to_string()).scope();
        let nonce = u128::try_from(racer).unwrap();
        match patiently(|| ledger.grant_use(&scope, nonce)) {
            Some(granted) => format!("{} left", granted.grant.uses_left),
            None => "none".to_owned(),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        for left in 0..USES {
            assert_eq!(count(said, &format!("{left} left")), 1, "{said:?}");
        }
        assert_eq!(count(said, "none"), said.len() - 2, "{said:?}");
        let approved = (0..WRITES)
            .filter(|write| kind(ledger, &Sample::new(&write.to_string())) == StateKind::Reserved);
        assert_eq!(approved.count(), 2);
        let used = events(ledger);
        assert_eq!(count(&used, "grant_used"), 2, "{used:?}");
        assert_eq!(count(&used, "approved"), 2, "{used:?}");
    }
}
