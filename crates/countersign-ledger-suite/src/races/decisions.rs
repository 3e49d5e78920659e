//! People who decide at once.

use countersign_contract::UtcSecond;
use countersign_ledger::{Approvals, Backend, Decided, DurableLedger, Record, State};

use crate::build::Build;
use crate::race::{Race, racer_name};
use crate::running::patiently;
use crate::sample::{Sample, approve, deny};
use crate::stage::{events, propose};

pub(crate) struct Decisions;

fn who(record: &Record) -> String {
    match &record.state {
        State::Reserved { approval, .. } => format!("approved by {}", approval.approver.as_str()),
        State::Denied { by, .. } => format!("denied by {}", by.as_str()),
        other @ (State::AwaitingApproval { .. }
        | State::Expired { .. }
        | State::Executing(_)
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. }
        | State::ResolvedNotExecuted { .. }) => panic!("{other:?}"),
    }
}

impl Race for Decisions {
    const NAME: &'static str = "decisions";
    const RACERS: usize = 12;

    fn prepare<B: Build>(_: &B, ledger: &DurableLedger<B::Backend>) {
        propose(ledger, &Sample::new("1"));
    }

    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String {
        let name = racer_name(racer);
        let decision = if racer.is_multiple_of(2) {
            approve(&name, &format!("approval-{racer}"), UtcSecond::MAX)
        } else {
            deny(&name)
        };
        let handle = Sample::new("1").status_ref();
        match patiently(|| ledger.decide(&handle, &decision)) {
            Decided::Counts(record) => {
                assert!(who(&record).ends_with(&name), "{record:?}");
                format!("I: {}", who(&record))
            }
            Decided::TooLate(record) => who(&record),
            other @ (Decided::Unusable | Decided::NotFound) => panic!("{other:?}"),
        }
    }

    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]) {
        let winners: Vec<_> = said
            .iter()
            .filter_map(|said| said.strip_prefix("I: "))
            .collect();
        assert_eq!(winners.len(), 1, "{said:?}");
        for heard in said {
            assert!(heard.ends_with(winners[0]), "{said:?}");
        }
        assert_eq!(events(ledger).len(), 2, "one decision is written down");
    }
}
