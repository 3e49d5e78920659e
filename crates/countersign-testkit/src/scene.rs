//! Everything that jobs reach: processes, people, the downstream, clocks, and the judge.

use std::cell::RefCell;
use std::rc::Rc;

use countersign_contract::{ApprovalDigest, Call, Principal, ToolContract};
use countersign_dispatch::{ExecutionOrder, Ledger};
use countersign_ledger::{InstanceId, Moment, Task, Work};
use countersign_policy::{Approval, ApprovalEvidence, Authorizer};

use crate::broken::Variant;
use crate::clock::Clocks;
use crate::downstream::Downstream;
use crate::ledger::{HostLedger, Keeper, Store};
use crate::line::Line;
use crate::oracle::{Oracle, Warrant};
use crate::shelf::Shelf;
use crate::society::{ActionNumber, Society};
use crate::tools::present;

/// The most things of each kind that one run puts on a shelf.
const PLACES: usize = 2048;

/// What states borrow.
#[derive(Debug)]
pub(crate) struct Shelves {
    pub(crate) principals: Shelf<Principal>,
    pub(crate) calls: Shelf<Call>,
    pub(crate) contracts: Shelf<ToolContract>,
    pub(crate) approvals: Shelf<Vec<Approval>>,
    pub(crate) tasks: Shelf<Task>,
}

impl Shelves {
    pub(crate) fn new() -> Self {
        Self {
            principals: Shelf::with_places(PLACES),
            calls: Shelf::with_places(PLACES),
            contracts: Shelf::with_places(PLACES),
            approvals: Shelf::with_places(PLACES),
            tasks: Shelf::with_places(PLACES),
        }
    }
}

/// A process with its ledger.
pub(crate) struct Process {
    pub(crate) ledger: Rc<dyn HostLedger>,
    /// The same ledger, as the pipeline is given it.
    pub(crate) pipeline: Box<dyn Ledger>,
    /// The same ledger, as workers are given it.
    pub(crate) work: Box<dyn Work>,
    /// By how much its clock is ahead, in milliseconds.
    pub(crate) ahead: i64,
}

/// The name of a process that started as the so-manieth.
pub(crate) fn instance(number: usize) -> InstanceId {
    present(InstanceId::new(&format!("process-{number}")))
}

/// What a job reaches.
pub(crate) struct Scene<'a> {
    pub(crate) shelves: &'a Shelves,
    pub(crate) clocks: Clocks,
    pub(crate) society: Rc<Society>,
    pub(crate) authorizer: Box<dyn Authorizer>,
    pub(crate) downstream: Rc<Downstream>,
    pub(crate) line: Box<dyn Line>,
    pub(crate) oracle: RefCell<Oracle>,
    pub(crate) store: Store,
    variant: Variant,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(shelves: &'a Shelves, keeper: Keeper, variant: Variant) -> Self {
        let clocks = Clocks::new();
        let society = Rc::new(Society::new());
        Self {
            shelves,
            store: Store::new(
                keeper,
                variant.ledger_clock(&clocks),
                clocks.clone(),
                variant,
            ),
            downstream: Rc::new(Downstream::new(clocks.clone())),
            authorizer: variant.authorizer(&society),
            line: variant.line(),
            oracle: RefCell::default(),
            clocks,
            society,
            variant,
        }
    }

    /// A process starts.
    pub(crate) fn start(&self, number: usize) -> Process {
        let ledger: Rc<dyn HostLedger> = self.store.open(instance(number)).into();
        Process {
            pipeline: self.variant.pipeline(&ledger),
            work: self.variant.work(&ledger),
            ledger,
            ahead: 0,
        }
    }

    /// What the judge knows about something that is about to be sent.
    pub(crate) fn warrant(
        &self,
        under: Option<&(ApprovalEvidence, Option<Moment>)>,
        started: ActionNumber,
        order: &ExecutionOrder<'_>,
    ) -> Warrant {
        let approval = under.map(|(approval, _)| approval.clone());
        let given = &self.oracle.borrow().given;
        let is = |test: &dyn Fn(&ApprovalEvidence) -> bool| approval.as_ref().is_some_and(test);
        let (call, contract, society) = (order.call(), order.contract(), &self.society);
        Warrant {
            is_given: is(&|approval| given.contains(approval)),
            is_exact: is(&|approval| {
                let approver = &approval.approver;
                let of_call = ApprovalDigest::of(call, contract, order.request(), approver);
                of_call == approval.digest
            }),
            was_entitled: is(&|approval| society.was_entitled(&approval.approver, started)),
            was_authorized: society.was_authorized(&order.principal().subject_id, started),
            was_registered: society.was_registered(contract, started),
            consumed_at: under.and_then(|(_, at)| *at),
            approval,
        }
    }
}
