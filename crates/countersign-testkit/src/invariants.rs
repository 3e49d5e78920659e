//! What has to hold after everything that happens: one invariant per file.

mod acked_is_never_lost;
mod approval_consumed_once;
mod effect_was_approved;
mod no_effect_is_true;
mod nothing_is_stuck;
mod one_effect_per_key;
mod success_has_receipt;
mod unknown_needs_evidence;

use std::collections::BTreeMap;

use countersign_contract::{Scope, StatusRef};
use countersign_ledger::OperationDetail;

use crate::downstream::Effect;
use crate::oracle::Oracle;

/// What an invariant is judged by: the ledger as anybody can read it, and what really happened.
#[derive(Debug)]
pub(crate) struct View<'v> {
    pub(crate) operations: &'v BTreeMap<StatusRef, OperationDetail>,
    pub(crate) effects: &'v [Effect],
    pub(crate) oracle: &'v Oracle,
    /// Whether faults have stopped and workers have had their time.
    pub(crate) is_over: bool,
}

impl View<'_> {
    pub(crate) fn effect_of(&self, scope: &Scope) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.scope == *scope)
    }

    pub(crate) fn operation_of(&self, scope: &Scope) -> Option<&OperationDetail> {
        let mut operations = self.operations.values();
        operations.find(|operation| operation.record.scope == *scope)
    }
}

/// Judges a view; what it says tells what does not hold.
type Invariant = fn(&View<'_>) -> Result<(), String>;

pub(crate) const INVARIANTS: [(&str, Invariant); 8] = [
    ("at most one effect per key", one_effect_per_key::check),
    ("success only with a receipt", success_has_receipt::check),
    (
        "what is said to have had no effect had none",
        no_effect_is_true::check,
    ),
    (
        "an acknowledged fact is never lost",
        acked_is_never_lost::check,
    ),
    (
        "unknown ends with evidence only",
        unknown_needs_evidence::check,
    ),
    (
        "every effect was approved under its exact contract",
        effect_was_approved::check,
    ),
    (
        "every approval is consumed at most once",
        approval_consumed_once::check,
    ),
    ("no state is stuck", nothing_is_stuck::check),
];
