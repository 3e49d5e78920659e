//! Deciding about writes that wait.

use countersign_contract::{ApprovalDigest, Scope, StatusRef};
use countersign_dispatch::ledger::Error;
use countersign_policy::{Approval, ApprovalEvidence};

use super::{DurableLedger, approval_key, read_proposal, read_record, write_change};
use crate::backend::Backend;
use crate::moment::Moment;
use crate::ports::{Approvals, Decided, Decision};
use crate::record::Record;
use crate::state::{Lifetimes, State};
use crate::tables::Tables;
use crate::transition::{self, Refusal};

impl<B: Backend> Approvals for DurableLedger<B> {
    fn decide(&self, status_ref: &StatusRef, decision: &Decision) -> Result<Decided, Error> {
        let (status_ref, decision, lifetimes) = (*status_ref, decision.clone(), self.lifetimes);
        self.backend.write("decide", move |tables| {
            let Some(row) = tables.operation_by_ref(&status_ref)? else {
                return Ok(Decided::NotFound);
            };
            decide(tables, Record::from_row(&row)?, &decision, &lifetimes)
        })
    }

    fn decide_on(&self, seen: &Record, decision: &Decision) -> Result<Decided, Error> {
        let (seen, decision, lifetimes) = (seen.clone(), decision.clone(), self.lifetimes);
        self.backend.write("decide_on", move |tables| {
            let Some(record) = read_record(tables, &seen.scope)? else {
                return Ok(Decided::NotFound);
            };
            let is_what_was_seen = record.terms == seen.terms && record.opened_at == seen.opened_at;
            if !is_what_was_seen {
                return Ok(Decided::TooLate(Box::new(record)));
            }
            decide(tables, record, &decision, &lifetimes)
        })
    }

    fn live_approval(&self, scope: &Scope) -> Result<Option<Approval>, Error> {
        self.backend.read("live_approval", |rows| {
            let Some(record) = read_record(rows, scope)? else {
                return Ok(None);
            };
            let State::Reserved { approval, until } = &record.state else {
                return Ok(None);
            };
            if *until <= rows.now() {
                return Ok(None);
            }
            let proposal = read_proposal(rows, &record)?;
            Ok(Some(proposal.approval(&record, approval)))
        })
    }
}

pub(super) fn decide(
    tables: &mut dyn Tables,
    record: Record,
    decision: &Decision,
    lifetimes: &Lifetimes,
) -> Result<Decided, Error> {
    let now = tables.now();
    let change = match decision {
        Decision::Deny { by, reason } => {
            transition::deny(record, by.clone(), reason.clone(), now, lifetimes)
        }
        Decision::Approve {
            by,
            approval_id,
            expires_at,
        } => {
            let proposal = read_proposal(tables, &record)?;
            let digest = ApprovalDigest::of(
                &proposal.call,
                &proposal.contract,
                &record.terms.request,
                by,
            );
            let approval = ApprovalEvidence {
                approval_id: approval_id.clone(),
                approver: by.clone(),
                digest,
                expires_at: *expires_at,
            };
            let key = approval_key(&approval);
            let approved = transition::approve(record, approval, now, lifetimes);
            if let Ok(change) = &approved {
                let is_dead = Moment::of_second(*expires_at) <= now;
                if is_dead || tables.approval_use(&key)?.is_some() {
                    return Ok(Decided::Unusable);
                }
                tables.approval_use_insert(&key, &change.record.scope)?;
            }
            approved
        }
    };
    match change {
        Ok(change) => {
            write_change(tables, &change)?;
            Ok(Decided::Counts(Box::new(change.record)))
        }
        Err(refusal) => refused(tables, refusal),
    }
}

fn refused(tables: &mut dyn Tables, refusal: Refusal) -> Result<Decided, Error> {
    Ok(Decided::TooLate(match refusal {
        Refusal::NotWaiting(record) => record,
        Refusal::TooLate(change) => {
            write_change(tables, &change)?;
            Box::new(change.record)
        }
    }))
}
