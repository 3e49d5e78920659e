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
//! - Whatever goes wrong after a write may have begun ends as unknown, never as failed.
//! - No I/O, clock or randomness.
//!
//! Module map: `dispatch` and `status` (one state per file, in the order of the checks), `context` (what they share);
//! `operation` (what is stored), `ledger` (the port to it), `memory_ledger`; `ports` (to the world), `registry`.

mod context;
mod dispatch;
pub mod ledger;
mod memory_ledger;
mod operation;
mod ports;
mod registry;
mod status;

pub use dispatch::{
    Authorize, BindCall, CheckApproval, CheckState, Dispatch, DispatchRequest, Execute,
    ExecutionOrder, FindOperation, Reserve, Settle,
};
pub use ledger::{CallBound, Ledger, Reserved, Settled};
pub use memory_ledger::MemoryLedger;
pub use operation::{
    CallIdentity, Fence, Operation, OperationState, Reservation, Settlement, Terms,
};
pub use ports::{
    BusinessState, Execution, Executor, NotStarted, Receipt, StateVerdict, StatusSource,
};
pub use registry::{DuplicateTool, Registry};
pub use status::{
    AskDownstream, AuthorizeStatus, BindStatusCall, FindQueryable, Reconcile, StatusQuery,
    StatusQuestion, StatusRequest,
};
