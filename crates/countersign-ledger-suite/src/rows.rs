//! Single tables: whatever is written is given back, and nothing else.

pub mod calls;
pub mod consumed;
pub mod counts;
pub mod operations;
pub mod paging;
pub mod queues;
pub mod standing;
pub mod trail;
