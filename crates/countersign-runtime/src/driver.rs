//! Performs what the pipeline's states name, one after the other, on the caller's thread.
//!
//! A port that panics has not passed its check: it denies. A handler that panics may have acted: its outcome is lost.

use std::panic::{AssertUnwindSafe, catch_unwind};

use countersign_contract::Package;
use countersign_dispatch::{
    BusinessState, Dispatch, DispatchRequest, Execution, Executor, Ledger, StateVerdict,
    StatusQuery, StatusRequest, StatusSource, ledger,
};
use countersign_policy::{ApproverDirectory, Authorizer, Decision};

/// What a dispatch reaches.
#[derive(Clone, Copy)]
pub struct DispatchPorts<'p> {
    /// What is stored.
    pub ledger: &'p dyn Ledger,
    /// Who may call what.
    pub authorizer: &'p dyn Authorizer,
    /// Who may approve what.
    pub approvers: &'p dyn ApproverDirectory,
    /// The state of resources.
    pub state: &'p dyn BusinessState,
    /// What acts.
    pub executor: &'p dyn Executor,
}

/// What a status query reaches: nothing that acts.
#[derive(Clone, Copy)]
pub struct StatusPorts<'p> {
    /// What is stored.
    pub ledger: &'p dyn Ledger,
    /// Who may call what.
    pub authorizer: &'p dyn Authorizer,
    /// The downstreams' receipts.
    pub source: &'p dyn StatusSource,
}

/// Takes a call through the whole pipeline to its result.
///
/// An error of the ledger comes out only while nothing has been sent; from then on the result says what is known.
pub fn dispatch(
    ports: &DispatchPorts<'_>,
    request: &DispatchRequest<'_>,
) -> Result<Package, ledger::Error> {
    let mut step = Dispatch::start(request);
    loop {
        step = match step {
            Dispatch::BindCall(state) => {
                let bound = ports
                    .ledger
                    .bind_call(state.identity(), state.fingerprint())?;
                state.answer(bound)
            }
            Dispatch::Authorize(state) => {
                let access = state.request();
                let decision = shielded(|| ports.authorizer.decide(&access));
                state.answer(decision.unwrap_or(Decision::Denied))
            }
            Dispatch::FindOperation(state) => {
                let found = ports.ledger.find_operation(state.scope())?;
                state.answer(found.as_ref())
            }
            Dispatch::CheckState(state) => {
                let verdict = shielded(|| ports.state.verdict(state.authorized()));
                state.answer(verdict.unwrap_or(StateVerdict::Forbids))
            }
            Dispatch::CheckApproval(state) => state.answer(ports.approvers),
            Dispatch::Reserve(state) => {
                let reserved = ports.ledger.reserve(state.reservation())?;
                state.answer(&reserved)
            }
            Dispatch::Execute(state) => {
                let execution = shielded(|| ports.executor.execute(&state.order()));
                state.answer(execution.unwrap_or(Execution::Failed))
            }
            Dispatch::Settle(state) => {
                let (scope, fence) = (state.scope(), state.fence());
                let settled = shielded(|| ports.ledger.settle(scope, fence, state.settlement()));
                state.answer(settled.unwrap_or(Err(ledger::Error::Unavailable)))
            }
            Dispatch::Done(package) => return Ok(package),
        };
    }
}

/// Asks what became of a write. No handler is reachable from here.
pub fn query_status(
    ports: &StatusPorts<'_>,
    request: &StatusRequest<'_>,
) -> Result<Package, ledger::Error> {
    let mut step = StatusQuery::start(request);
    loop {
        step = match step {
            StatusQuery::BindCall(state) => {
                let bound = ports
                    .ledger
                    .bind_call(state.identity(), state.fingerprint())?;
                state.answer(bound)
            }
            StatusQuery::Authorize(state) => {
                let access = state.request();
                let decision = shielded(|| ports.authorizer.decide(&access));
                state.answer(decision.unwrap_or(Decision::Denied))
            }
            StatusQuery::FindQueryable(state) => {
                let found = ports.ledger.find_queryable(state.status_ref())?;
                state.answer(found)
            }
            StatusQuery::AskDownstream(state) => {
                let receipt = shielded(|| ports.source.receipt(&state.question()));
                state.answer(receipt.flatten())
            }
            StatusQuery::Reconcile(state) => {
                let settled = shielded(|| ports.ledger.reconcile(state.scope(), state.proven()));
                state.answer(settled.unwrap_or(Err(ledger::Error::Unavailable)))
            }
            StatusQuery::Done(package) => return Ok(package),
        };
    }
}

/// Runs foreign code; nothing where it panicked.
///
/// Unwinding cannot leave our own state half-changed: the states are consumed whole, and the ports guard theirs.
fn shielded<T>(port: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(port)).ok()
}

impl std::fmt::Debug for DispatchPorts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DispatchPorts")
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for StatusPorts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StatusPorts")
            .finish_non_exhaustive()
    }
}
