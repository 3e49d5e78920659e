//! A deterministic simulation: hosts, people and a faulty world around one ledger, from one seed, in virtual time.
//!
//! What is simulated is the production code: the pipeline's states, one call of a port per step, so that any number of calls
//! are under way at a time and a crash at any boundary drops them; the durable ledger over memory or SQLite, shared by
//! several processes; the runtime's plan of what workers do. Around them stand a downstream that counts what it really did,
//! clocks that anybody may set, and people who give and lose rights.
//!
//! Invariants:
//! - A run is a list of [`Action`]s and nothing else: the same list gives the same run, and a part of it is a list too.
//! - The judge knows what really happened and what was answered, and judges the ledger by what anybody can read of it.
//! - What is broken on purpose is a decorator ([`Variant`]); the production code is the same in every world.
//!
//! Module map: `action` (what can happen), `generate` (lists from seeds), `world` (how it happens), `run` (runs, and the
//! shortest list that fails); `job`, `flight`, `scene` (what is under way, and what it reaches); `ledger`, `downstream`,
//! `line`, `society`, `clock`, `tools` (the world's parts); `oracle`, `invariants` (the judge); `broken` (what is built
//! wrong); `explore` (every order of a small world); `shelf`, `random`.

mod action;
mod broken;
mod clock;
mod downstream;
mod explore;
mod flight;
mod generate;
mod invariants;
mod job;
mod ledger;
mod line;
mod oracle;
mod random;
mod run;
mod scene;
mod shelf;
mod society;
mod tools;
mod world;

pub use action::{Action, Brings, Fate, Listed, Part};
pub use broken::Variant;
pub use countersign_ledger_suite::LedgerFault;
pub use explore::{Bounds, Explored, explore};
pub use generate::actions;
pub use ledger::Keeper;
pub use run::{Finding, Setting, Violation, find, run};
pub use tools::{Tool, Wish};
