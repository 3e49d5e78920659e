//! The ledger over any back-end: each method is one transaction that reads, lets a transition decide, and writes.

mod approvals;
mod attempts;
mod grants;
mod identities;
mod inspection;
mod intents;
mod pipeline;
mod rulings;
mod work;

use std::sync::Arc;
use std::time::Duration;

use countersign_contract::CheckedAnswer;
use countersign_dispatch::ledger::Error;

use self::attempts::Attempts;
use self::identities::Identities;
use crate::approval_check::ApprovalCheck;
use crate::audit::{self, Event};
use crate::backend::{Backend, Version};
use crate::names::InstanceId;
use crate::ports::Changes;
use crate::proposal::{StoredProposal, read_receipt};
use crate::record::Record;
use crate::state::Lifetimes;
use crate::steady::{NoSteadyClock, SteadyClock};
use crate::tables::{ApprovalKey, Rows, Tables};
use crate::transition::Change;
use countersign_policy::ApprovalEvidence;

/// A ledger that outlasts whoever uses it, for one running host.
///
/// It implements the pipeline's [`Ledger`](countersign_dispatch::Ledger), and beside it what people and workers need:
/// [`Approvals`](crate::Approvals), [`Work`](crate::Work), [`Rulings`](crate::Rulings), [`Intents`](crate::Intents),
/// [`Grants`](crate::Grants), [`Inspection`](crate::Inspection).
pub struct DurableLedger<B> {
    backend: B,
    instance: InstanceId,
    lifetimes: Lifetimes,
    attempts: Arc<Attempts>,
    identities: Identities,
    steady: Arc<dyn SteadyClock>,
    check: Option<Arc<dyn ApprovalCheck>>,
}

impl<B: Backend> DurableLedger<B> {
    /// A ledger for a host that has just started. The instance's name is its own: no two starts share one.
    pub fn new(backend: B, instance: InstanceId, lifetimes: Lifetimes) -> Self {
        Self {
            backend,
            instance,
            lifetimes,
            attempts: Arc::default(),
            identities: Identities::default(),
            steady: Arc::new(NoSteadyClock),
            check: None,
        }
    }

    /// With a clock that nobody sets. Without one nothing is sent again by itself.
    #[must_use]
    pub fn with_steady_clock(self, clock: impl SteadyClock + 'static) -> Self {
        Self {
            steady: Arc::new(clock),
            ..self
        }
    }

    /// With a judge of approvals: what it does not believe begins nothing here, however it came into the ledger.
    #[must_use]
    pub fn with_approval_check(self, check: impl ApprovalCheck + 'static) -> Self {
        Self {
            check: Some(Arc::new(check)),
            ..self
        }
    }

    /// What keeps the rows.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// How long things last in it.
    pub fn lifetimes(&self) -> &Lifetimes {
        &self.lifetimes
    }

    /// Which host it is for.
    pub fn instance(&self) -> &InstanceId {
        &self.instance
    }
}

impl<B: Backend> Changes for DurableLedger<B> {
    fn version(&self) -> Version {
        self.backend.version()
    }

    fn wait(&self, since: Version, at_most: Duration) -> Version {
        self.backend.wait(since, at_most)
    }
}

impl<B: std::fmt::Debug> std::fmt::Debug for DurableLedger<B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DurableLedger")
            .field("backend", &self.backend)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

/// Writes a change of an operation that is there, and its audit entry.
fn write_change(tables: &mut dyn Tables, change: &Change) -> Result<(), Error> {
    tables.operation_update(&change.record.to_row())?;
    audit::append(tables, &change.record, &change.event)
}

/// Writes a record whose change the audit trail has nothing to say about.
fn write_quietly(tables: &mut dyn Tables, record: &Record) -> Result<(), Error> {
    tables.operation_update(&record.to_row())
}

fn read_record(
    tables: &mut (impl Rows + ?Sized),
    scope: &countersign_contract::Scope,
) -> Result<Option<Record>, Error> {
    let row = tables.operation(scope)?;
    row.as_ref().map(Record::from_row).transpose()
}

fn read_proposal(
    tables: &mut (impl Rows + ?Sized),
    record: &Record,
) -> Result<StoredProposal, Error> {
    let document = tables.proposal(&record.scope)?;
    let document = document.ok_or(Error::Damaged("a proposal is missing"))?;
    StoredProposal::read(&document, record)
}

fn read_answer(tables: &mut (impl Rows + ?Sized), record: &Record) -> Result<CheckedAnswer, Error> {
    let proposal = read_proposal(tables, record)?;
    let document = tables.receipt(&record.scope)?;
    let document = document.ok_or(Error::Damaged("a receipt is missing"))?;
    read_receipt(&document, &record.scope, &proposal)
}

fn approval_key(approval: &ApprovalEvidence) -> ApprovalKey {
    ApprovalKey {
        approval_id: approval.approval_id.clone(),
        digest: approval.digest,
    }
}

/// Appends what an earlier operation of a scope gave way to.
fn give_way(
    tables: &mut dyn Tables,
    before: Option<&Record>,
    event: Option<&Event>,
) -> Result<(), Error> {
    match (before, event) {
        (Some(record), Some(event)) => audit::append(tables, record, event),
        (None, _) | (_, None) => Ok(()),
    }
}
