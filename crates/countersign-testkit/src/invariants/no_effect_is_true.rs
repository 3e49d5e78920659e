//! A state that proves that nothing acted, or comes before anything can, is true.

use countersign_ledger::StateKind;

use super::View;

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    for effect in view.effects {
        let Some(operation) = view.operation_of(&effect.scope) else {
            return Err(format!(
                "{:?} acted, and the ledger knows nothing of it",
                effect.scope.key
            ));
        };
        let kind = operation.record.kind();
        let is_before = matches!(kind, StateKind::AwaitingApproval | StateKind::Reserved);
        if is_before || kind.is_without_effect() {
            return Err(format!(
                "{:?} acted, and is {}",
                effect.scope.key,
                kind.as_str()
            ));
        }
    }
    Ok(())
}
