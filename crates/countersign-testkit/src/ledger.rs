//! The ledger of a world: which back-end keeps it, and what goes wrong with its writes.

use std::sync::Arc;

use countersign_ledger::{
    ApprovalKey, Approvals, Backend, Changes, DurableLedger, Inspection, InstanceId, Intents,
    LedgerClock, Lifetimes, MAX_PAGE, MemoryBackend, OperationFilter, Rulings,
};
use countersign_ledger_sqlite::SqliteBackend;
use countersign_ledger_suite::{Faults, Faulty};
use countersign_policy::ApprovalEvidence;
use countersign_runtime::WorkLedger;

use crate::broken::{Forgetful, Variant};
use crate::clock::Clocks;
use crate::tools::proven;

/// All that a host asks of its ledger.
pub(crate) trait HostLedger:
    WorkLedger + Approvals + Rulings + Intents + Inspection + Changes
{
}

impl<L: WorkLedger + Approvals + Rulings + Intents + Inspection + Changes> HostLedger for L {}

/// Which back-end keeps a world's ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeper {
    /// Memory.
    #[default]
    Memory,
    /// A `SQLite` file in a folder of its own, which each process opens for itself.
    Sqlite,
}

/// Opens the one ledger of a world for its processes.
pub(crate) struct Store {
    kept: Kept,
    faults: Faults,
    clock: Arc<dyn LedgerClock>,
    steady: Clocks,
    forgets_approvals: bool,
}

#[derive(Debug)]
enum Kept {
    Memory(MemoryBackend),
    Sqlite(tempfile::TempDir),
}

impl Store {
    pub(crate) fn new(
        keeper: Keeper,
        clock: Arc<dyn LedgerClock>,
        steady: Clocks,
        variant: Variant,
    ) -> Self {
        let kept = match keeper {
            Keeper::Memory => Kept::Memory(MemoryBackend::new(Arc::clone(&clock))),
            Keeper::Sqlite => Kept::Sqlite(proven(tempfile::tempdir())),
        };
        Self {
            kept,
            faults: Faults::default(),
            clock,
            steady,
            forgets_approvals: variant == Variant::ApprovalNotConsumed,
        }
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// A process starts, and opens the ledger.
    pub(crate) fn open(&self, instance: InstanceId) -> Box<dyn HostLedger> {
        match &self.kept {
            Kept::Memory(backend) => self.open_over(backend.clone(), instance),
            Kept::Sqlite(folder) => {
                let limits = countersign_ledger_sqlite::Limits::default();
                let clock = Arc::clone(&self.clock);
                let file = folder.path().join("ledger.db");
                let backend = proven(SqliteBackend::open_with(&file, limits, clock));
                self.open_over(backend, instance)
            }
        }
    }

    /// The rows of a ledger in memory: what tells it from another one.
    pub(crate) fn portrait(
        &self,
        instances: impl Iterator<Item = InstanceId>,
        given: &[ApprovalEvidence],
    ) -> String {
        let Kept::Memory(backend) = &self.kept else {
            return String::new();
        };
        let portrait = backend.read("portrait", |rows| {
            let page = rows.operations(&OperationFilter::default(), None, MAX_PAGE)?;
            let mut parts = Vec::new();
            for (_, row) in page {
                // The document holds all that the row's other columns say.
                let proposal = rows.proposal(&row.scope)?;
                let receipt = rows.receipt(&row.scope)?;
                for document in [Some(row.document), proposal, receipt] {
                    parts.push(format!("{:?}", document.map(|document| *document.digest())));
                }
            }
            for instance in instances {
                parts.push(format!("{:?}", rows.instance(&instance)?));
            }
            for approval in given {
                let key = ApprovalKey {
                    approval_id: approval.approval_id.clone(),
                    digest: approval.digest,
                };
                parts.push(format!("{:?}", rows.approval_use(&key)?));
            }
            Ok(parts.concat())
        });
        portrait.unwrap_or_default()
    }

    fn open_over(
        &self,
        backend: impl Backend + 'static,
        instance: InstanceId,
    ) -> Box<dyn HostLedger> {
        let faulty = Faulty::new(backend, self.faults.clone());
        let (lifetimes, steady) = (Lifetimes::default(), self.steady.clone());
        if self.forgets_approvals {
            let ledger = DurableLedger::new(Forgetful(faulty), instance, lifetimes);
            Box::new(ledger.with_steady_clock(steady))
        } else {
            let ledger = DurableLedger::new(faulty, instance, lifetimes);
            Box::new(ledger.with_steady_clock(steady))
        }
    }
}
