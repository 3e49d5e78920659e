//! The durable ledger of dispatch: what is stored, how it may change, and what a back-end has to keep.

mod backend;
mod cause;
mod document;
mod moment;
mod names;
mod query;
mod record;
mod state;
mod tables;

pub use backend::{Backend, Version};
pub use cause::{not_started_name, unknown_name};
pub use document::Document;
pub use moment::Moment;
pub use names::{GrantId, InstanceId, MAX_NOTE_CHARS, Note};
pub use query::{Cursor, MAX_PAGE, OperationFilter, Page};
pub use record::Record;
pub use state::{Attempt, Lifetimes, Proof, Ruling, State, StateKind};
pub use tables::{
    ApprovalKey, AuditRow, CallRow, GrantRow, IntentRow, OpenCounts, OperationRow, Rows, Tables,
};
