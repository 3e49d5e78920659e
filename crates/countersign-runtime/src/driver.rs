//! Performs what the pipeline's states name, one after the other, on the caller's thread.
//!
//! A port that panics has not passed its check: it denies. A ledger that panics has confirmed nothing. A handler that panics
//! may have acted: its outcome is lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use countersign_contract::{ApproverId, Package};
use countersign_dispatch::{
    BusinessState, Dispatch, DispatchRequest, Execution, Executor, Lease, Ledger, NotStarted,
    Redelivery, RedeliveryRequest, StateVerdict, StatusQuery, StatusRequest, StatusSource, ledger,
};
use countersign_policy::{
    AccessRequest, ApproverDirectory, ApproverStanding, Authorizer, Decision,
};

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
    carry_on(ports, Dispatch::start(request), monotonic_now())
}

/// Sends a write again whose outcome is unknown; nothing where something has changed.
pub(crate) fn redeliver(
    ports: &DispatchPorts<'_>,
    request: &RedeliveryRequest<'_>,
    begin: impl Fn() -> Result<Option<Lease>, ledger::Error>,
) -> Result<Option<Package>, ledger::Error> {
    let mut step = Redelivery::start(request);
    let mut asked_at = monotonic_now();
    loop {
        step = match step {
            Redelivery::Authorize(state) => {
                let access = state.request();
                let decision = shielded(|| ports.authorizer.decide(&access));
                state.answer(decision.unwrap_or(Decision::Denied))
            }
            Redelivery::CheckApproval(state) => state.answer(&ShieldedApprovers(ports.approvers)),
            Redelivery::Begin(state) => {
                asked_at = monotonic_now();
                let lease = answered(&begin)?;
                state.answer(lease)
            }
            Redelivery::Dispatch(step) => return carry_on(ports, *step, asked_at).map(Some),
            Redelivery::Drifted => return Ok(None),
        };
    }
}

fn carry_on(
    ports: &DispatchPorts<'_>,
    mut step: Dispatch<'_>,
    mut asked_at: Instant,
) -> Result<Package, ledger::Error> {
    loop {
        step = match step {
            Dispatch::BindCall(state) => {
                let (identity, fingerprint) = (state.identity(), state.fingerprint());
                let bound = answered(|| ports.ledger.bind_call(identity, fingerprint))?;
                state.answer(bound)
            }
            Dispatch::Authorize(state) => {
                let access = state.request();
                let decision = shielded(|| ports.authorizer.decide(&access));
                state.answer(decision.unwrap_or(Decision::Denied))
            }
            Dispatch::FindOperation(state) => {
                let (scope, identity) = (state.scope(), state.identity());
                let find = || {
                    ports
                        .ledger
                        .find_operation(scope, identity, state.fingerprint())
                };
                let found = answered(find)?;
                state.answer(found.as_ref())
            }
            Dispatch::CheckState(state) => {
                let verdict = shielded(|| ports.state.verdict(state.authorized()));
                state.answer(verdict.unwrap_or(StateVerdict::Forbids))
            }
            Dispatch::CheckApproval(state) => state.answer(&ShieldedApprovers(ports.approvers)),
            Dispatch::Propose(state) => {
                let proposed = answered(|| ports.ledger.propose(state.proposal()))?;
                state.answer(&proposed)
            }
            Dispatch::Reserve(state) => {
                asked_at = monotonic_now();
                let reserved = answered(|| ports.ledger.reserve(state.reservation()))?;
                state.answer(&reserved)
            }
            Dispatch::Execute(state) => {
                let is_late = state
                    .begin_within()
                    .is_some_and(|within| asked_at.elapsed() >= within);
                let execution = if is_late {
                    Execution::NotStarted(NotStarted::DeadlineExceeded)
                } else {
                    let execution = shielded(|| ports.executor.execute(&state.order()));
                    execution.unwrap_or(Execution::Failed)
                };
                state.answer(execution)
            }
            Dispatch::Settle(state) => {
                let (scope, fence) = (state.scope(), state.fence());
                let settled = answered(|| ports.ledger.settle(scope, fence, state.settlement()));
                state.answer(settled)
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
                let (identity, fingerprint) = (state.identity(), state.fingerprint());
                let bound = answered(|| ports.ledger.bind_call(identity, fingerprint))?;
                state.answer(bound)
            }
            StatusQuery::Authorize(state) => {
                let access = state.request();
                let decision = shielded(|| ports.authorizer.decide(&access));
                state.answer(decision.unwrap_or(Decision::Denied))
            }
            StatusQuery::FindQueryable(state) => {
                let found = answered(|| ports.ledger.find_queryable(state.status_ref()))?;
                state.answer(found)
            }
            StatusQuery::AskDownstream(state) => {
                let receipt = shielded(|| ports.source.receipt(&state.question()));
                state.answer(receipt.flatten())
            }
            StatusQuery::Reconcile(state) => {
                let settled = answered(|| ports.ledger.reconcile(state.scope(), state.proven()));
                state.answer(settled)
            }
            StatusQuery::Done(package) => return Ok(package),
        };
    }
}

/// Entitles nobody where the directory panics.
struct ShieldedApprovers<'p>(&'p dyn ApproverDirectory);

impl ApproverDirectory for ShieldedApprovers<'_> {
    fn standing(&self, approver: &ApproverId, request: &AccessRequest<'_>) -> ApproverStanding {
        shielded(|| self.0.standing(approver, request)).unwrap_or(ApproverStanding::NotEntitled)
    }
}

/// The clock that no one sets: it tells how long a reservation has been held.
fn monotonic_now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "a driver measures how long it has held a reservation"
    )]
    Instant::now()
}

/// Asks the ledger; one that panicked has confirmed nothing.
fn answered<T>(question: impl FnOnce() -> Result<T, ledger::Error>) -> Result<T, ledger::Error> {
    shielded(question).unwrap_or(Err(ledger::Error::Unconfirmed))
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
