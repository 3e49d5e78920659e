//! The pipeline's port.

use countersign_contract::{CallFingerprint, CheckedAnswer, Scope, StatusRef};
use countersign_dispatch::ledger::{Error, Ledger};
use countersign_dispatch::{
    CallBound, CallIdentity, Fence, Lease, Operation, Proposal, Proposed, Reservation, Reserved,
    Settled, Settlement,
};
use countersign_policy::ApprovalEvidence;

use super::{
    DurableLedger, approval_key, give_way, grants, read_answer, read_record, write_change,
};
use crate::audit;
use crate::backend::Backend;
use crate::document::Document;
use crate::proposal::{StoredProposal, receipt_document};
use crate::record::Record;
use crate::state::State;
use crate::tables::{CallRow, IntentRow, Rows, Tables};
use crate::transition::{self, Proposing, Reading, Reserving, Wanted};

impl<B: Backend> Ledger for DurableLedger<B> {
    fn bind_call(
        &self,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<CallBound, Error> {
        let bound = self.backend.read("call", |rows| rows.call(identity))?;
        Ok(match bound {
            Some(row) if row.fingerprint == *fingerprint => CallBound::Bound,
            Some(_) => CallBound::Conflict,
            None => self.identities.bind(identity, fingerprint),
        })
    }

    fn find_operation(
        &self,
        scope: &Scope,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<Option<Operation>, Error> {
        let (found, is_bound) = self.backend.read("operation", |rows| {
            let found = match read_record(rows, scope)? {
                Some(record) => record.operation(|| read_answer(rows, &record))?,
                None => None,
            };
            let is_bound = found.is_none() || rows.call(identity)?.is_some();
            Ok((found, is_bound))
        })?;
        if !is_bound {
            let (identity, row) = (identity.clone(), call_row(fingerprint, scope));
            self.backend.write("call_join", move |tables| {
                // What was found may have gone since, with all that was bound to it.
                match tables.operation(&row.scope)? {
                    Some(_) => bind(tables, &identity, &row),
                    None => Ok(()),
                }
            })?;
        }
        Ok(found)
    }

    fn find_queryable(&self, status_ref: &StatusRef) -> Result<Option<Operation>, Error> {
        self.backend.read("operation_by_ref", |rows| {
            let Some(row) = rows.operation_by_ref(status_ref)? else {
                return Ok(None);
            };
            let record = Record::from_row(&row)?;
            let operation = record.operation(|| read_answer(rows, &record))?;
            Ok(operation.filter(Operation::is_queryable))
        })
    }

    fn propose(&self, proposal: &Proposal<'_>) -> Result<Proposed, Error> {
        let asked = Asked::new(proposal);
        let lifetimes = self.lifetimes;
        self.backend.write("propose", move |tables| {
            if !asked.can_bind(tables)? {
                return Ok(Proposed::CallConflict);
            }
            let before = read_record(tables, &asked.call.scope)?;
            let now = tables.now();
            match transition::propose(before.clone(), &asked.wanted, now, &lifetimes) {
                Proposing::Waits => {
                    bind(tables, &asked.identity, &asked.call)?;
                    Ok(Proposed::Waiting)
                }
                Proposing::Refused => Ok(Proposed::Refused),
                Proposing::Expires(change) => {
                    write_change(tables, &change)?;
                    Ok(Proposed::Refused)
                }
                Proposing::Taken => occupied(tables, before).map(Proposed::Occupied),
                Proposing::Opens { gives_way, opened } => {
                    let scope = &opened.record.scope;
                    let is_new = !before.as_ref().is_some_and(is_waiting);
                    let waiting = tables.waiting(&scope.tenant_id, &scope.subject_id)?;
                    if is_new && waiting >= lifetimes.max_waiting {
                        return Ok(Proposed::TooManyWaiting);
                    }
                    give_way(tables, before.as_ref(), gives_way.as_ref())?;
                    asked.open(tables, &opened)?;
                    Ok(Proposed::Waiting)
                }
            }
        })
    }

    fn reserve(&self, reservation: &Reservation<'_>) -> Result<Reserved, Error> {
        let asked = Asked::new(&reservation.proposal);
        let approval = reservation.approval.clone();
        let (lifetimes, holder) = (self.lifetimes, self.instance.clone());
        let (steady, check) = (self.steady.steady(), self.check.clone());
        let scope = asked.call.scope.clone();
        self.attempts.begin(&scope);
        let reserved = self.backend.write("reserve", move |tables| {
            let before = read_record(tables, &asked.call.scope)?;
            let now = tables.now();
            let clock = Reading {
                now,
                steady: steady.as_ref(),
            };
            let wanted = &asked.wanted;
            let reserving = transition::reserve(
                before.clone(),
                wanted,
                &approval,
                &holder,
                clock,
                &lifetimes,
            );
            let (gives_way, begun, opens) = match reserving {
                Reserving::Taken => return occupied(tables, before).map(Reserved::Occupied),
                Reserving::TooLate => return Ok(Reserved::ApprovalUnusable),
                Reserving::Opens { gives_way, begun } => (gives_way, begun, true),
                Reserving::Begins(begun) => (None, begun, false),
            };
            if !asked.can_bind(tables)? {
                return Ok(Reserved::CallConflict);
            }
            if !is_usable(tables, &approval, &begun.record, !opens)? {
                return Ok(Reserved::ApprovalUnusable);
            }
            if !grants::still_holds(tables, &approval, &begun.record, !opens, check.as_deref())? {
                return Ok(Reserved::ApprovalUnusable);
            }
            give_way(tables, before.as_ref(), gives_way.as_ref())?;
            if opens {
                asked.open(tables, &begun)?;
                tables.approval_use_insert(&approval_key(&approval), &begun.record.scope)?;
            } else {
                write_change(tables, &begun)?;
            }
            tables.instance_put(&holder, Some(now.after(lifetimes.lease)))?;
            Ok(Reserved::Taken(Lease {
                fence: Fence::new(begun.record.fence),
                begin_within: lifetimes.lease / 2,
            }))
        });
        if !matches!(reserved, Ok(Reserved::Taken(_))) {
            self.attempts.end(&scope, reserved.is_ok());
        }
        reserved
    }

    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, Error> {
        let attempted = scope;
        let (scope, settlement) = (scope.clone(), settlement.clone());
        let receipt = match &settlement {
            Settlement::Succeeded(answer) => Some(receipt_document(&scope, answer)),
            Settlement::Unknown(_) | Settlement::Released(_) => None,
        };
        let settled = self.backend.write("settle", move |tables| {
            let Some(before) = read_record(tables, &scope)? else {
                return Ok(Settled::Stale);
            };
            let State::Executing(attempt) = before.state.clone() else {
                return Ok(Settled::Stale);
            };
            let Some(change) = transition::settle(before, fence, &settlement, tables.now()) else {
                return Ok(Settled::Stale);
            };
            if let Some(receipt) = &receipt {
                tables.receipt_insert(&scope, receipt)?;
            }
            if matches!(change.record.state, State::Failed { .. }) {
                tables.approval_use_remove(&approval_key(&attempt.approval))?;
            }
            write_change(tables, &change)?;
            Ok(Settled::Written)
        });
        self.attempts.end(attempted, settled.is_ok());
        settled
    }

    fn reconcile(&self, scope: &Scope, answer: &CheckedAnswer) -> Result<Settled, Error> {
        let (scope, answer) = (scope.clone(), answer.clone());
        let receipt = receipt_document(&scope, &answer);
        self.backend.write("reconcile", move |tables| {
            let Some(before) = read_record(tables, &scope)? else {
                return Ok(Settled::Stale);
            };
            if matches!(before.state, State::Succeeded { .. }) {
                let is_the_same = read_answer(tables, &before)? == answer;
                return Ok(if is_the_same {
                    Settled::Written
                } else {
                    Settled::Stale
                });
            }
            let Some(change) = transition::reconcile(before, tables.now()) else {
                return Ok(Settled::Stale);
            };
            tables.receipt_insert(&scope, &receipt)?;
            write_change(tables, &change)?;
            Ok(Settled::Written)
        })
    }
}

fn is_waiting(record: &Record) -> bool {
    matches!(record.state, State::AwaitingApproval { .. })
}

fn call_row(fingerprint: &CallFingerprint, scope: &Scope) -> CallRow {
    CallRow {
        fingerprint: *fingerprint,
        scope: scope.clone(),
    }
}

/// Binds a free call identity to an operation that is there.
fn bind(tables: &mut dyn Tables, identity: &CallIdentity, row: &CallRow) -> Result<(), Error> {
    match tables.call(identity)? {
        Some(_) => Ok(()),
        None => tables.call_insert(identity, row),
    }
}

/// Tells whether an approval can begin a record. One that was decided here was consumed by the decision, for that record.
fn is_usable(
    tables: &mut dyn Tables,
    approval: &ApprovalEvidence,
    record: &Record,
    was_decided_here: bool,
) -> Result<bool, Error> {
    Ok(match tables.approval_use(&approval_key(approval))? {
        Some(scope) => was_decided_here && scope == record.scope,
        None => !was_decided_here,
    })
}

fn occupied(
    tables: &mut (impl Rows + ?Sized),
    record: Option<Record>,
) -> Result<Box<Operation>, Error> {
    const LOST: Error = Error::Damaged("an operation holds its key and is not there");
    let record = record.ok_or(LOST)?;
    let operation = record.operation(|| read_answer(tables, &record))?;
    operation.map(Box::new).ok_or(LOST)
}

/// What a caller asks for, encoded on the caller's own thread.
struct Asked {
    wanted: Wanted,
    identity: CallIdentity,
    call: CallRow,
    document: Document,
}

impl Asked {
    fn new(proposal: &Proposal<'_>) -> Self {
        Self {
            wanted: Wanted::of(proposal),
            identity: CallIdentity::of(proposal.principal, proposal.call),
            call: call_row(&proposal.fingerprint, &proposal.scope),
            document: StoredProposal::document(proposal),
        }
    }

    /// Tells whether the call's identity is free, or bound to this very use.
    fn can_bind(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        Ok(tables
            .call(&self.identity)?
            .is_none_or(|bound| bound == self.call))
    }

    /// Opens the operation with what was asked for.
    fn open(&self, tables: &mut dyn Tables, change: &transition::Change) -> Result<(), Error> {
        let record = &change.record;
        tables.operation_open(&record.to_row(), &self.document)?;
        bind(tables, &self.identity, &self.call)?;
        if let Some(intent) = &record.intent {
            let row = IntentRow {
                generation: intent.generation,
                scope: record.scope.clone(),
            };
            tables.intent_put(&intent.digest, &row)?;
        }
        audit::append(tables, record, &change.event)
    }
}
