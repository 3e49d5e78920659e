//! One suite of tests that every back-end of the durable ledger passes.
//!
//! A back-end implements [`Build`], and its tests are one line: [`suite!`]. Where several processes reach the same tables it
//! implements [`BuildAcrossProcesses`] too, and [`suite_across_processes!`] runs the races between six of them.
//!
//! Invariants:
//! - For tests only; nothing of the product depends on it.
//! - It knows no back-end. What it expects is what `Rows`, `Tables`, `Backend` and the ports of the ledger document.
//! - Time is a clock that the suite sets; real waits are for wake-ups only, and have bounds.
//!
//! Module map: `build` (what a back-end offers), `clock`, `faulty` (a back-end whose writes fail), `suite` (the cases as tests); `rows` (single tables),
//! `transactions` (what holds of each, and waiting), `ports` (the ledger's promises), `races` and `processes`, `tampering`;
//! `sample`, `states`, `plain`, `stage`, `race`, `running` (what they are written with).

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a case of a test fails by a panic"
)]

mod build;
mod clock;
mod faulty;
mod plain;
#[doc(hidden)]
pub mod ports;
#[doc(hidden)]
pub mod processes;
mod race;
#[doc(hidden)]
pub mod races;
#[doc(hidden)]
pub mod rows;
mod running;
mod sample;
mod stage;
mod states;
mod suite;
#[doc(hidden)]
pub mod tampering;
#[doc(hidden)]
pub mod transactions;

pub use build::{Build, BuildAcrossProcesses, Part};
pub use clock::SettableClock;
pub use faulty::{Faults, Faulty, LedgerFault};
