//! The ledger over a back-end: each promise of its ports.

pub mod approvals;
pub mod grants;
pub mod inspection;
pub mod intents;
pub mod pipeline;
pub mod rulings;
pub mod work;
