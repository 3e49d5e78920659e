//! Running a fixture: every case against a shop and a ledger of its own.

use std::cell::Cell;

use countersign_canonical::Value;
use countersign_contract::{
    ErrorCode, Package, Path, Principal, Recovery, RequestDigest, Risk, ToolContract, UtcSecond,
};
use countersign_dispatch::{
    DispatchRequest, Execution, ExecutionOrder, Executor, Ledger, MemoryLedger, Registry,
    StatusRequest, ledger,
};
use countersign_policy::{AccessRequest, Approval};
use countersign_providers::{Family, payload};
use countersign_runtime::{DispatchPorts, StatusPorts, dispatch, query_status};
use countersign_shop::{Disturbance, Shop, ShopExecutor, approver, registry};

use crate::fixture::{ApprovalMode, Case, Fixture, Step, StepAction};
use crate::read::APPROVAL_TTL_SECONDS;

/// What a fixture came to.
#[derive(Clone, Debug)]
pub struct Run {
    /// What each case came to.
    pub cases: Vec<CaseRun>,
}

/// What a case came to.
#[derive(Clone, Debug)]
pub struct CaseRun {
    /// Its id.
    pub id: String,
    /// What each step came to.
    pub steps: Vec<StepRun>,
}

/// What a step came to.
#[derive(Clone, Debug)]
pub struct StepRun {
    /// Its id.
    pub id: String,
    /// Its result.
    pub package: Package,
    /// The result as the provider gets it; none where the package does not belong to the call.
    pub payload: Option<Value>,
    /// What is wrong with the package; nothing, or the pipeline is broken.
    pub validation_errors: Vec<String>,
    /// How many effects the shop has had by then.
    pub side_effect_count: u64,
    /// Whether all of it is as expected.
    pub passed: bool,
}

impl Run {
    /// Whether every step is as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.cases.iter().all(CaseRun::passed)
    }
}

impl CaseRun {
    /// Whether every step is as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.steps.iter().all(|step| step.passed)
    }
}

/// A fixture that is well-formed and asks for something that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An approval for a tool that is not there.
    #[error("{0}.approval: a tool that is not registered cannot be approved")]
    ApprovalOfUnknownTool(Path),
    /// A lost answer to a read.
    #[error("{0}.failure: only a write can time out after its commit")]
    LostReadAnswer(Path),
    /// A question about a step that has no handle.
    #[error("{0}.status_ref_from: the result of that step carries no status_ref")]
    NoStatusRef(Path),
    /// A question about a tool that is not there.
    #[error("{0}.action: the status of a tool that is not registered cannot be asked for")]
    StatusOfUnknownTool(Path),
    /// The ledger failed.
    #[error("{0}: {1}")]
    Ledger(Path, ledger::Error),
}

/// The ledger of one case.
pub struct CaseLedger {
    /// What is stored: nothing, when the case begins.
    pub ledger: Box<dyn Ledger>,
    /// Sets the ledger's own clock to a step's time, where it has one.
    pub set_time: Box<dyn Fn(UtcSecond)>,
}

impl CaseLedger {
    fn in_memory() -> Self {
        Self {
            ledger: Box::new(MemoryLedger::default()),
            set_time: Box::new(|_| {}),
        }
    }
}

impl std::fmt::Debug for CaseLedger {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CaseLedger").finish_non_exhaustive()
    }
}

/// Runs every case, each in isolation, over ledgers in memory.
pub fn run(fixture: &Fixture) -> Result<Run, RunError> {
    run_over(fixture, |_| Ok(CaseLedger::in_memory()))
}

/// Runs every case, each over an empty ledger that `open` gives for its number, from 0.
pub fn run_over<E: From<RunError>>(
    fixture: &Fixture,
    mut open: impl FnMut(usize) -> Result<CaseLedger, E>,
) -> Result<Run, E> {
    let registry = registry();
    let cases = fixture.cases.iter().enumerate().map(|(index, case)| {
        let path = Path::fixed("cases").index(index);
        let runner = CaseRunner::new(&registry, case, open(index)?);
        runner.run(&path).map_err(E::from)
    });
    Ok(Run {
        cases: cases.collect::<Result<_, E>>()?,
    })
}

struct CaseRunner<'c> {
    registry: &'c Registry,
    case: &'c Case,
    shop: Shop,
    ledger: CaseLedger,
    done: Vec<StepRun>,
}

impl<'c> CaseRunner<'c> {
    fn new(registry: &'c Registry, case: &'c Case, ledger: CaseLedger) -> Self {
        Self {
            registry,
            case,
            shop: Shop::default(),
            ledger,
            done: Vec::with_capacity(case.steps.len()),
        }
    }

    fn run(mut self, path: &Path) -> Result<CaseRun, RunError> {
        for (index, step) in self.case.steps.iter().enumerate() {
            let path = path.member("steps").index(index);
            let package = self.package(step, &path)?;
            let done = self.judge(step, package);
            self.done.push(done);
        }
        Ok(CaseRun {
            id: self.case.id.clone(),
            steps: self.done,
        })
    }

    fn package(&self, step: &Step, path: &Path) -> Result<Package, RunError> {
        let contract = self.registry.get(&step.call.name);
        (self.ledger.set_time)(step.now);
        match &step.action {
            StepAction::Dispatch {
                approval,
                disturbance,
            } => {
                let approvals = self.approvals(step, contract, *approval, path)?;
                self.dispatch(step, contract, &approvals, *disturbance, path)
            }
            StepAction::QueryStatus { of_step } => self.query(step, contract, *of_step, path),
        }
    }

    fn dispatch(
        &self,
        step: &Step,
        contract: Option<&ToolContract>,
        approvals: &[Approval],
        disturbance: Disturbance,
        path: &Path,
    ) -> Result<Package, RunError> {
        let line = Line {
            shop: ShopExecutor {
                shop: &self.shop,
                disturbance,
            },
            lost_read: Cell::new(false),
        };
        let ports = DispatchPorts {
            ledger: &*self.ledger.ledger,
            authorizer: &self.shop,
            approvers: &self.shop,
            state: &self.shop,
            executor: &line,
        };
        let request = DispatchRequest {
            principal: &self.case.principal,
            call: &step.call,
            contract,
            approvals,
            intent: None,
            downstream_memory: None,
            now: step.now,
        };
        let package = dispatch(&ports, &request);
        if line.lost_read.get() {
            return Err(RunError::LostReadAnswer(path.clone()));
        }
        package.map_err(|error| RunError::Ledger(path.clone(), error))
    }

    fn query(
        &self,
        step: &Step,
        contract: Option<&ToolContract>,
        of_step: usize,
        path: &Path,
    ) -> Result<Package, RunError> {
        let principal = &self.case.principal;
        let status_ref = self
            .done
            .get(of_step)
            .and_then(|done| done.package.protected_audit().downstream.status_ref)
            .ok_or_else(|| RunError::NoStatusRef(path.clone()))?;
        if contract.is_none() {
            return Err(RunError::StatusOfUnknownTool(path.clone()));
        }
        let ports = StatusPorts {
            ledger: &*self.ledger.ledger,
            authorizer: &self.shop,
            source: &self.shop,
        };
        let request = StatusRequest {
            principal,
            call: &step.call,
            contract,
            status_ref,
            expected_request: RequestDigest::of(principal, &step.call, contract),
            now: step.now,
        };
        query_status(&ports, &request).map_err(|error| RunError::Ledger(path.clone(), error))
    }

    fn approvals(
        &self,
        step: &Step,
        contract: Option<&ToolContract>,
        mode: ApprovalMode,
        path: &Path,
    ) -> Result<Vec<Approval>, RunError> {
        if mode == ApprovalMode::None {
            return Ok(Vec::new());
        }
        let contract = contract.ok_or_else(|| RunError::ApprovalOfUnknownTool(path.clone()))?;
        let mut approval = approval_of(&self.case.principal, step, contract);
        match mode {
            ApprovalMode::None | ApprovalMode::Valid => {}
            ApprovalMode::Expired => {
                approval.expires_at = step.now.as_unix_seconds().saturating_sub(1);
            }
            ApprovalMode::Mismatched => approval.approval_digest = "0".repeat(64),
        }
        Ok(vec![approval])
    }

    fn judge(&self, step: &Step, package: Package) -> StepRun {
        let call = &step.call;
        let contract = self.registry.get(&call.name);
        let (payload, validation_errors) =
            match package.verify(&self.case.principal, call, contract) {
                Ok(verified) => {
                    let family = Family::of_profile(call.profile);
                    let payload = family.and_then(|family| payload(family, &verified).ok());
                    (payload, Vec::new())
                }
                Err(faults) => (None, faults.iter().map(ToString::to_string).collect()),
            };
        let side_effect_count = self.shop.effect_count();
        let is_expected = validation_errors.is_empty()
            && side_effect_count == step.expected.side_effect_count
            && is_as_expected(&package, step);
        StepRun {
            id: step.id.clone(),
            package,
            payload,
            validation_errors,
            side_effect_count,
            passed: is_expected,
        }
    }
}

/// An approval of exactly this call by the shop's approver, for a minute.
///
/// Its id follows from the call's, so a call id near its limit has an approval id beyond it: such an approval is invalid.
fn approval_of(principal: &Principal, step: &Step, contract: &ToolContract) -> Approval {
    let access = AccessRequest {
        principal,
        call: &step.call,
        contract,
    };
    let request = RequestDigest::of(principal, &step.call, Some(contract));
    let approver = approver();
    let approval_id = format!("approval-{}", step.call.call_id);
    // The fixture's times leave room for the minute.
    let expires_at = step
        .now
        .checked_add(APPROVAL_TTL_SECONDS)
        .unwrap_or(UtcSecond::MAX);
    Approval::of(&access, &request, approval_id, &approver, expires_at)
}

fn is_as_expected(package: &Package, step: &Step) -> bool {
    let result = package.model_result();
    let expected = &step.expected;
    code(package) == expected.code
        && result.status() == expected.status
        && result.outcome() == expected.outcome
        && recovery(package) == expected.recovery
        && result.delivery() == expected.delivery
        && result.data().unwrap_or(&Value::Null) == &expected.data
}

/// The error code, or `OK`.
pub(crate) fn code(package: &Package) -> &'static str {
    package
        .model_result()
        .error_code()
        .map_or("OK", ErrorCode::as_str)
}

/// What the caller can do: nothing, where it succeeded.
pub(crate) fn recovery(package: &Package) -> Recovery {
    package
        .model_result()
        .error_code()
        .map_or(Recovery::None, |code| code.entry().recovery)
}

/// The line to the shop, which notes when a read's answer was to be lost: a fixture cannot ask for that.
struct Line<'s> {
    shop: ShopExecutor<'s>,
    lost_read: Cell<bool>,
}

impl Executor for Line<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let loses_answer = match self.shop.disturbance {
            Disturbance::AnswerLost | Disturbance::AnswerAndReceiptLost => true,
            Disturbance::None
            | Disturbance::TimeoutBeforeExecute
            | Disturbance::RateLimit
            | Disturbance::Unreachable => false,
        };
        if loses_answer && order.contract().risk == Risk::Read {
            self.lost_read.set(true);
        }
        self.shop.execute(order)
    }
}
