//! The dispatch pipeline: pure states that say what is to be done next, and take the answer.
//!
//! [`Dispatch`] takes a proposed call to its result; [`StatusQuery`] asks what became of a write. Neither does anything
//! itself: a driver performs what a state names through the ports ([`Ledger`], [`Executor`], [`BusinessState`],
//! [`StatusSource`], and the policy's) and hands the answer back.
//!
//! Invariants:
//! - Nothing executes but through an [`ExecutionOrder`], which only the state [`Execute`] makes. A write's state is
//!   reached with an approval and a reservation only; a status query has no such state.
//! - A result is packaged as a success only after the ledger has written it; what could not be written is unknown.
//! - A write is sent again only by [`Redelivery`], which a downstream that knows our key is needed for.
//! - Whatever goes wrong after a write may have begun ends as unknown, never as failed.
//! - No I/O, clock or randomness.
//!
//! Module map: `dispatch`, `status` and `redelivery` (one state per file, in the order of the checks), `context` (what they share);
//! `operation` (what is stored), `ledger` (the port to it), `memory_ledger`; `ports` (to the world), `registry`.

mod context;
mod dispatch;
pub mod ledger;
mod memory_ledger;
mod operation;
mod ports;
mod redelivery;
mod registry;
mod status;

pub use dispatch::{
    Authorize, BindCall, CheckApproval, CheckState, Dispatch, DispatchRequest, Execute,
    ExecutionOrder, FindOperation, Propose, Reserve, Settle,
};
pub use ledger::{CallBound, Ledger, Proposed, Reserved, Settled};
pub use memory_ledger::MemoryLedger;
pub use operation::{
    CallIdentity, Fence, Intent, Lease, Operation, OperationState, Proposal, Reservation,
    Settlement, Terms, UnknownCause,
};
pub use ports::{
    BusinessState, Execution, Executor, NotStarted, Receipt, StateVerdict, StatusSource,
};
pub use redelivery::{
    AuthorizeAgain, BeginAgain, CheckApprovalAgain, Redelivery, RedeliveryRequest,
};
pub use registry::{DuplicateTool, Registry};
pub use status::{
    AskDownstream, AuthorizeStatus, BindStatusCall, FindQueryable, Reconcile, StatusQuery,
    StatusQuestion, StatusRequest,
};

/// None of the pipeline's proofs can be made outside the module that mints it.
///
/// An authorization comes of a decision only, and an approval of a check only:
/// ```compile_fail,E0451
/// # fn forge(request: countersign_policy::AccessRequest<'_>) {
/// let need = countersign_policy::ApprovalNeed::Policy;
/// let forged = countersign_policy::Authorized { request, need };
/// # }
/// ```
/// ```compile_fail,E0451
/// # fn forge(
/// #     authorized: countersign_policy::Authorized<'_>,
/// #     evidence: countersign_policy::ApprovalEvidence,
/// # ) {
/// let forged = countersign_policy::Approved { authorized, evidence };
/// # }
/// ```
///
/// An order is made by the state that executes, which a reservation leads to:
/// ```compile_fail,E0451
/// # fn forge(
/// #     authorized: &countersign_policy::Authorized<'_>,
/// #     request: &countersign_contract::RequestDigest,
/// # ) {
/// let forged = countersign_dispatch::ExecutionOrder { authorized, request, status_ref: None };
/// # }
/// ```
/// ```compile_fail,E0624
/// # fn forge(state: countersign_dispatch::CheckApproval<'_>) {
/// let forged = countersign_dispatch::Execute::read(todo!(), todo!());
/// # }
/// ```
/// ```compile_fail,E0599
/// # fn skip(state: countersign_dispatch::Reserve<'_>) {
/// let order = state.order();
/// # }
/// ```
///
/// A state is used up by its answer, so that nothing executes twice:
/// ```compile_fail,E0382
/// # fn again(state: countersign_dispatch::Execute<'_>, executor: &dyn countersign_dispatch::Executor) {
/// let first = state.answer(countersign_dispatch::Execution::Failed);
/// let again = executor.execute(&state.order());
/// # }
/// ```
///
/// No state of a status query has an order:
/// ```compile_fail,E0599
/// # fn act(state: countersign_dispatch::AskDownstream<'_>) {
/// let order = state.order();
/// # }
/// ```
/// ```compile_fail,E0599
/// # fn act(state: countersign_dispatch::Reconcile<'_>) {
/// let order = state.order();
/// # }
/// ```
/// ```compile_fail,E0308
/// # fn act(question: &countersign_dispatch::StatusQuestion<'_>, executor: &dyn countersign_dispatch::Executor) {
/// let execution = executor.execute(question);
/// # }
/// ```
///
/// An answer counts only when it was checked, and a package only when it was verified:
/// ```compile_fail,E0451
/// # use countersign_contract::{HandlerAnswer, Timestamp};
/// # fn forge(answer: std::sync::Arc<HandlerAnswer>, observed_at: Timestamp) {
/// let forged = countersign_contract::CheckedAnswer { answer, observed_at };
/// # }
/// ```
/// ```compile_fail,E0308
/// # fn forge(answer: countersign_contract::HandlerAnswer) {
/// let forged = countersign_dispatch::Settlement::Succeeded(answer);
/// # }
/// ```
/// ```compile_fail,E0451
/// # fn forge(call: &countersign_contract::Call) {
/// let forged = countersign_contract::VerifiedPackage {
///     call,
///     model_result: String::new(),
///     status: countersign_contract::Status::Succeeded,
/// };
/// # }
/// ```
///
/// The same shapes compile where nothing is forged:
/// ```
/// # use countersign_dispatch::{Dispatch, Execute, Execution, Executor, Settlement};
/// fn act<'a>(state: Execute<'a>, executor: &dyn Executor) -> Dispatch<'a> {
///     let execution = executor.execute(&state.order());
///     state.answer(execution)
/// }
/// fn settle(answer: countersign_contract::CheckedAnswer) -> Settlement {
///     Settlement::Succeeded(answer)
/// }
/// ```
#[cfg(doctest)]
struct ProofsStayClosed;
