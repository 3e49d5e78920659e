//! What the ledger has answered lasts, and what it has refused is not there. What nobody could confirm may be either.

use countersign_ledger::StateKind;

use super::View;
use crate::oracle::{Fact, Standing, detail, of_operation};

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    for fact in &view.oracle.facts {
        let is_there = is_there(view, fact);
        match fact.standing {
            Standing::Acked if !is_there => return Err(format!("lost: {fact:?}")),
            Standing::Absent if is_there => return Err(format!("written all the same: {fact:?}")),
            Standing::Acked | Standing::Absent | Standing::Pending | Standing::Unknown => {}
        }
    }
    successes_last(view)?;
    trail_agrees(view)
}

fn is_there(view: &View<'_>, fact: &Fact) -> bool {
    view.oracle.trail.iter().any(|entry| {
        let text = detail(entry, fact.detail).and_then(|value| value.as_str());
        entry.event.starts_with(fact.event) && text == Some(&fact.text)
    })
}

/// What a caller was told of, the ledger has.
fn successes_last(view: &View<'_>) -> Result<(), String> {
    for told in &view.oracle.told {
        let operation = view.operation_of(&told.scope);
        let answer = operation.and_then(|operation| operation.answer.as_ref());
        if answer.map(|answer| &answer.as_answer().data) != Some(&told.data) {
            let kind = operation.map(|operation| operation.record.kind());
            return Err(format!("{:?}: a told success is {kind:?}", told.scope.key));
        }
    }
    Ok(())
}

/// The audit trail has no gaps, and its last word on each operation is how the operation stands.
fn trail_agrees(view: &View<'_>) -> Result<(), String> {
    for (index, entry) in view.oracle.trail.iter().enumerate() {
        if entry.sequence != index as u64 + 1 {
            return Err(format!("the audit trail has a gap at {}", entry.sequence));
        }
    }
    for (status_ref, operation) in view.operations {
        let status_ref = status_ref.to_string();
        let entries = view.oracle.trail.iter().rev();
        let mut of_this =
            entries.filter(|entry| of_operation(entry, "status_ref") == Some(&status_ref));
        let last = of_this.find_map(|entry| of_operation(entry, "state"));
        if last.and_then(StateKind::parse) != Some(operation.record.kind()) {
            let kind = operation.record.kind().as_str();
            return Err(format!(
                "{status_ref} is {kind}, and the audit trail says {last:?}"
            ));
        }
    }
    Ok(())
}
