//! Whatever is called a success happened, and its answer is the downstream's own: in the ledger, and in what callers were told.

use countersign_contract::CheckedAnswer;
use countersign_ledger::State;

use super::View;

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    for operation in view.operations.values() {
        let needs_answer = match &operation.record.state {
            State::Succeeded { .. } => true,
            State::ResolvedCommitted { has_answer, .. } => *has_answer,
            State::AwaitingApproval { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Reserved { .. }
            | State::Executing(_)
            | State::Blocked { .. }
            | State::Failed { .. }
            | State::Unknown { .. }
            | State::ResolvedNotExecuted { .. } => false,
        };
        if !needs_answer {
            continue;
        }
        let scope = &operation.record.scope;
        let effect = view.effect_of(scope);
        let stored = operation.answer.as_ref().map(CheckedAnswer::as_answer);
        if stored.is_none() || stored != effect.map(|effect| &effect.answer) {
            return Err(format!(
                "{:?}: the ledger's receipt is not the downstream's",
                scope.key
            ));
        }
    }
    for told in &view.oracle.told {
        let effect = view.effect_of(&told.scope);
        if effect.map(|effect| &effect.answer.data) != Some(&told.data) {
            return Err(format!(
                "{:?}: a caller was told what did not happen",
                told.scope.key
            ));
        }
    }
    Ok(())
}
