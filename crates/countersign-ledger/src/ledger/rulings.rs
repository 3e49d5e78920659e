//! A person rules on an unknown outcome.

use countersign_contract::{ApproverId, StatusRef};
use countersign_dispatch::ledger::Error;

use super::{DurableLedger, write_change};
use crate::backend::Backend;
use crate::names::Note;
use crate::ports::{Ruled, Rulings, Verdict};
use crate::proposal::receipt_document;
use crate::record::Record;
use crate::state::Ruling;
use crate::transition::{self, Reading, RuleRefusal};

impl<B: Backend> Rulings for DurableLedger<B> {
    fn rule(
        &self,
        status_ref: &StatusRef,
        verdict: &Verdict,
        by: &ApproverId,
        note: &Note,
    ) -> Result<Ruled, Error> {
        let (status_ref, verdict) = (*status_ref, verdict.clone());
        let (by, note) = (by.clone(), note.clone());
        let steady = self.steady.steady();
        self.backend.write("rule", move |tables| {
            let Some(row) = tables.operation_by_ref(&status_ref)? else {
                return Ok(Ruled::NotFound);
            };
            let (record, now) = (Record::from_row(&row)?, tables.now());
            let ruling = Ruling {
                by: by.clone(),
                note: note.clone(),
                at: now,
            };
            let change = match &verdict {
                Verdict::CommittedWith(_) => transition::rule_committed(record, ruling, true, now),
                Verdict::Committed => transition::rule_committed(record, ruling, false, now),
                Verdict::NotExecuted => {
                    let steady = steady.as_ref();
                    transition::rule_not_executed(record, ruling, Reading { now, steady })
                }
            };
            let change = match change {
                Ok(change) => change,
                Err(RuleRefusal::NotUnknown(kind)) => return Ok(Ruled::NotUnknown(kind)),
                Err(RuleRefusal::TooEarly(until)) => return Ok(Ruled::TooEarly(until)),
            };
            if let Verdict::CommittedWith(answer) = &verdict {
                let receipt = receipt_document(&change.record.scope, answer);
                tables.receipt_insert(&change.record.scope, &receipt)?;
            }
            write_change(tables, &change)?;
            Ok(Ruled::Counts(Box::new(change.record)))
        })
    }
}
