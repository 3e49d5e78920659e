//! The demonstration order shop: one tool that reads an order, one that drafts a refund.
//!
//! It is a downstream in memory with real contracts, its own idea of who sees which order, a count of its own effects,
//! receipts, and a line to it that can be disturbed. Scenarios, demonstrations and tests run against it.
//!
//! Module map: `contracts` (the two tools), `shop` (orders, drafts, receipts, and the ports they answer), `executor`
//! (acting on it).

mod contracts;
mod executor;
mod shop;

pub use contracts::registry;
pub use executor::{Disturbance, ShopExecutor};
pub use shop::{OrderStatus, Shop, approver};
