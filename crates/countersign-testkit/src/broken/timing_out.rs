//! Broken: what is unknown for long counts as not executed, though nobody has looked.

use std::rc::Rc;

use countersign_contract::ApproverId;
use countersign_dispatch::ledger::Error;
use countersign_ledger::{MAX_PAGE, Note, OperationFilter, StateKind, Verdict};

use super::work;
use crate::ledger::HostLedger;
use crate::tools::{present, proven};

/// Rules by itself.
pub(crate) struct TimingOut(pub(crate) Rc<dyn HostLedger>);

impl TimingOut {
    fn time_out(&self) -> Result<(), Error> {
        let unknown = OperationFilter {
            states: vec![StateKind::Unknown],
            ..OperationFilter::default()
        };
        let by = proven(ApproverId::new("timeout"));
        let note = present(Note::new("nobody answered in time"));
        for record in self.0.operations(&unknown, None, MAX_PAGE)?.items {
            let status_ref = record.terms.status_ref;
            self.0
                .rule(&status_ref, &Verdict::NotExecuted, &by, &note)?;
        }
        Ok(())
    }
}

work! { TimingOut {
    fn recover(&self, limit: usize) -> Result<usize, Error> {
        let recovered = self.0.recover(limit)?;
        self.time_out()?;
        Ok(recovered)
    }
} }
