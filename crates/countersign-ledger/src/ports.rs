//! What people and workers do with a ledger, beside the pipeline: one trait for each.

mod approvals;
mod changes;
mod grants;
mod inspection;
mod intents;
mod rulings;
mod work;

pub use approvals::{Approvals, Decided, Decision};
pub use changes::Changes;
pub use grants::{GrantAdded, Granted, Grants, MAX_USABLE_GRANTS};
pub use inspection::{Inspection, OperationDetail};
pub use intents::Intents;
pub use rulings::{Ruled, Rulings, Verdict};
pub use work::{Task, Work};
