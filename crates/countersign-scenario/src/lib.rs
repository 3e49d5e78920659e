//! Scenario fixtures (`tool-cases-v2`): cases of steps, each with the result it has to have.
//!
//! A [`Fixture`] is read strictly, with every fault listed. [`run`] takes each case through the real pipeline against a
//! demonstration shop of its own, over a ledger of its own ([`run_over`] says which), and gives a [`Run`]: what every step came to, its package and its provider
//! payload. [`Run::summary`] is the machine-readable sum of it.
//!
//! Module map: `fixture` (types), `read` (strict reading), `run` (execution), `summary` (what is printed), `builtin` (the
//! scenarios that ship with the program).

mod builtin;
mod fixture;
mod read;
mod run;
mod summary;

pub use builtin::builtin;
pub use fixture::{ApprovalMode, Case, Expected, Fixture, Step, StepAction};
pub use read::{Error, MAX_FIXTURE_BYTES};
pub use run::{CaseLedger, CaseRun, Run, RunError, StepRun, run, run_over};
