//! Performs an operation that is due: by the pipeline, with everything checked anew as it stands now.

use countersign_contract::{
    Call, CallId, ErrorCode, Package, Principal, RequestDigest, ResponseId,
};
use countersign_dispatch::{
    BusinessState, DispatchRequest, Executor, Ledger, RedeliveryRequest, Registry, StatusRequest,
    StatusSource, ledger,
};
use countersign_ledger::{State, Task, Work};
use countersign_policy::{ApprovalEvidence, ApproverDirectory, Authorizer};

use crate::driver::{DispatchPorts, StatusPorts, dispatch, query_status, redeliver};

/// A ledger that the pipeline and workers use.
pub trait WorkLedger: Ledger + Work + Sync {}

impl<L: Ledger + Work + Sync> WorkLedger for L {}

/// Knows what a principal's claims are now.
pub trait PrincipalDirectory {
    /// The principal with its claims as they stand now; nothing where there is no such principal any more.
    fn current(&self, stored: &Principal) -> Option<Principal>;

    /// Tells whether this host performs a principal's operations at all. Those of others it leaves to theirs, whatever it knows
    /// or does not know of them.
    fn serves(&self, stored: &Principal) -> bool {
        let _ = stored;
        true
    }
}

/// What performing an operation reaches.
#[derive(Clone, Copy)]
pub struct WorkPorts<'p> {
    /// What is stored.
    pub ledger: &'p dyn WorkLedger,
    /// The tools as they are registered now.
    pub registry: &'p Registry,
    /// Principals as they are now.
    pub principals: &'p dyn PrincipalDirectory,
    /// Who may call what.
    pub authorizer: &'p dyn Authorizer,
    /// Who may approve what.
    pub approvers: &'p dyn ApproverDirectory,
    /// The state of resources.
    pub state: &'p dyn BusinessState,
    /// What acts.
    pub executor: &'p dyn Executor,
    /// The downstreams' receipts.
    pub source: &'p dyn StatusSource,
}

/// What is to be done about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// It is approved: begin it.
    Begin,
    /// Its outcome is unknown: ask the downstream for a receipt.
    Ask,
    /// Its outcome is unknown, and its downstream knows our key: ask for a receipt, and without one send it again.
    AskOrSendAgain,
    /// Nothing.
    Nothing,
}

/// What is to be done about a task, as it stood when it was handed out.
#[must_use]
pub fn plan(task: &Task) -> Plan {
    match &task.record.state {
        State::Reserved { .. } => Plan::Begin,
        State::Unknown { attempt, .. } => {
            let is_over = attempt.over_at <= task.at;
            let is_sendable = task.sendable_until.is_some_and(|until| task.at < until);
            if is_over && is_sendable {
                Plan::AskOrSendAgain
            } else {
                Plan::Ask
            }
        }
        State::AwaitingApproval { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Executing(_)
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Succeeded { .. }
        | State::ResolvedCommitted { .. }
        | State::ResolvedNotExecuted { .. } => Plan::Nothing,
    }
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Performed {
    /// It is over: this is its result.
    Done(Box<Package>),
    /// Something has changed: it never begins under this approval.
    Blocked(ErrorCode),
    /// Its outcome is still unknown.
    StillUnknown,
    /// There was nothing to be done.
    Nothing,
}

/// Performs a task. An error of the ledger comes out only while nothing has been sent.
pub fn perform(ports: &WorkPorts<'_>, task: &Task) -> Result<Performed, ledger::Error> {
    match (plan(task), &task.record.state) {
        (Plan::Begin, State::Reserved { approval, .. }) => begin(ports, task, approval),
        (Plan::Ask, _) => ask(ports, task),
        (Plan::AskOrSendAgain, State::Unknown { attempt, .. }) => match ask(ports, task)? {
            Performed::StillUnknown => send_again(ports, task, &attempt.approval),
            performed @ (Performed::Done(_) | Performed::Blocked(_) | Performed::Nothing) => {
                Ok(performed)
            }
        },
        (Plan::Begin | Plan::AskOrSendAgain | Plan::Nothing, _) => Ok(Performed::Nothing),
    }
}

/// Takes the call that was first stored through the whole pipeline, with the approval that was decided. Whatever refuses it
/// before it begins blocks it for good.
fn begin(
    ports: &WorkPorts<'_>,
    task: &Task,
    approval: &ApprovalEvidence,
) -> Result<Performed, ledger::Error> {
    let stored = &task.proposal;
    let Some(principal) = ports.principals.current(&stored.principal) else {
        return blocked(ports, task, ErrorCode::NotFound);
    };
    let request = DispatchRequest {
        principal: &principal,
        call: &stored.call,
        contract: ports.registry.get(&stored.call.name),
        approvals: &[stored.approval(&task.record, approval)],
        intent: task.record.intent,
        downstream_memory: task.record.downstream_memory,
        now: task.at.second(),
    };
    let package = dispatch(&dispatch_ports(ports), &request)?;
    match package.model_result().error_code() {
        None => Ok(Performed::Done(Box::new(package))),
        Some(ErrorCode::OutcomeUnknown | ErrorCode::OutputContractViolation) => {
            Ok(Performed::StillUnknown)
        }
        // Where it has begun meanwhile, there is nothing left to block.
        Some(code) => blocked(ports, task, code),
    }
}

fn blocked(
    ports: &WorkPorts<'_>,
    task: &Task,
    code: ErrorCode,
) -> Result<Performed, ledger::Error> {
    ports.ledger.block(task, code)?;
    Ok(Performed::Blocked(code))
}

fn ask(ports: &WorkPorts<'_>, task: &Task) -> Result<Performed, ledger::Error> {
    let package = ask_status(ports, task)?;
    let proven = package.filter(|package| package.model_result().error_code().is_none());
    Ok(proven.map_or(Performed::StillUnknown, |package| {
        Performed::Done(Box::new(package))
    }))
}

/// Asks for a receipt as the principal would, under a call identity of the host's own; nothing where there is no such principal.
/// Nothing is executed.
pub fn ask_status(ports: &WorkPorts<'_>, task: &Task) -> Result<Option<Package>, ledger::Error> {
    let principal = ports.principals.current(&task.proposal.principal);
    let (Some(principal), Some(call)) = (principal, question(task)) else {
        return Ok(None);
    };
    let contract = ports.registry.get(&call.name);
    let request = StatusRequest {
        principal: &principal,
        call: &call,
        contract,
        status_ref: task.record.terms.status_ref,
        expected_request: RequestDigest::of(&principal, &call, contract),
        now: task.at.second(),
    };
    let status_ports = StatusPorts {
        ledger: ports.ledger,
        authorizer: ports.authorizer,
        source: ports.source,
    };
    query_status(&status_ports, &request).map(Some)
}

/// The response that the host's own questions count as calls of.
const HOST_RESPONSE: &str = "countersign-host";

fn question(task: &Task) -> Option<Call> {
    let status_ref = task.record.terms.status_ref.to_string();
    Some(Call {
        response_id: ResponseId::new(HOST_RESPONSE).ok()?,
        call_id: CallId::new(&status_ref).ok()?,
        ..task.proposal.call.clone()
    })
}

fn send_again(
    ports: &WorkPorts<'_>,
    task: &Task,
    approval: &ApprovalEvidence,
) -> Result<Performed, ledger::Error> {
    let stored = &task.proposal;
    let Some(principal) = ports.principals.current(&stored.principal) else {
        return Ok(Performed::StillUnknown);
    };
    let request = RedeliveryRequest {
        principal: &principal,
        call: &stored.call,
        contract: ports.registry.get(&stored.call.name),
        terms: &task.record.terms,
        approval,
        now: task.at.second(),
    };
    let begin = || ports.ledger.send_again(task);
    let package = redeliver(&dispatch_ports(ports), &request, begin)?;
    let done = package.filter(|package| package.model_result().error_code().is_none());
    Ok(done.map_or(Performed::StillUnknown, |package| {
        Performed::Done(Box::new(package))
    }))
}

fn dispatch_ports<'p>(ports: &WorkPorts<'p>) -> DispatchPorts<'p> {
    DispatchPorts {
        ledger: ports.ledger,
        authorizer: ports.authorizer,
        approvers: ports.approvers,
        state: ports.state,
        executor: ports.executor,
    }
}

impl std::fmt::Debug for WorkPorts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WorkPorts").finish_non_exhaustive()
    }
}
