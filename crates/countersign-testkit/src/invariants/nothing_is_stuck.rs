//! Once faults have stopped and workers have had their time, everything has ended or waits for a person, flagged.

use super::View;

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    if !view.is_over {
        return Ok(());
    }
    for operation in view.operations.values() {
        let record = &operation.record;
        if record.kind().is_open() && !record.is_dead_letter {
            return Err(format!(
                "{:?} is {} for ever",
                record.scope.key,
                record.kind().as_str()
            ));
        }
    }
    Ok(())
}
