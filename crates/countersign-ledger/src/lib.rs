//! The durable ledger of dispatch: what is stored, how it may change, and what a back-end has to keep.
//!
//! [`DurableLedger`] implements the pipeline's own port and those of people and workers ([`Approvals`], [`Work`],
//! [`Rulings`], [`Intents`], [`Grants`], [`Inspection`]) over any [`Backend`]. A back-end keeps rows and knows no rule: what
//! may become of an operation is decided here, by pure transitions, whichever back-end keeps it.
//!
//! Invariants:
//! - Every change of state is one transaction with its audit entry, whose number follows the tenant's last one.
//! - An operation is executing before anything can be sent, and only the holder of its last attempt settles it.
//! - An approval is consumed once, and begins no other call than the one it was made for.
//! - Nothing turns unknown into another outcome but a receipt, a repetition that the downstream recognizes, or a person.
//! - Whatever is read is verified: canonical bytes, digest, and columns that agree with the document.
//! - Time is the ledger's own, read after the lock is held. What must not happen too soon or too late for an effect goes by a clock that
//!   nobody sets as well. No I/O, clock or randomness here.
//!
//! Module map: `state`, `record`, `proposal`, `grant`, `conditions`, `audit` (what is stored), `document` (as which bytes); `transition`
//! (what may become of it, one per file); `tables`, `backend` (what a back-end keeps), `memory` (one that forgets);
//! `approval_check` (whose approvals count);
//! `ports` (what it is asked for), `ledger` (how that is done), `query`, `names`, `moment`, `cause`.

mod approval_check;
mod audit;
mod backend;
mod cause;
mod conditions;
mod document;
mod grant;
mod ledger;
mod memory;
mod moment;
mod names;
mod ports;
mod proposal;
mod query;
mod record;
mod state;
mod steady;
mod tables;
mod transition;

pub use approval_check::ApprovalCheck;
pub use audit::AuditEntry;
pub use backend::{Backend, Version};
pub use cause::{not_started_name, unknown_name};
pub use conditions::{Condition, Conditions, MAX_CONDITIONS, MAX_CONDITIONS_BYTES};
pub use document::Document;
pub use grant::Grant;
pub use ledger::DurableLedger;
pub use memory::{LedgerClock, MemoryBackend};
pub use moment::Moment;
pub use names::{BootId, GrantId, InstanceId, MAX_NOTE_CHARS, Note};
pub use ports::{
    Approvals, Changes, Decided, Decision, GrantAdded, Granted, Grants, Inspection, Intents,
    MAX_USABLE_GRANTS, OperationDetail, Ruled, Rulings, Task, Verdict, Work,
};
pub use proposal::StoredProposal;
pub use query::{Cursor, MAX_PAGE, OperationFilter, Page};
pub use record::Record;
pub use state::{Attempt, Lifetimes, Proof, Ruling, State, StateKind};
pub use steady::{Steady, SteadyClock, SteadySpan};
pub use tables::{
    ApprovalKey, AuditRow, CallRow, GrantRow, IntentRow, OpenCounts, OperationRow, Rows, Tables,
};
