//! Unknown ends with a receipt, a repetition that the downstream recognizes, or a person who looked: with nothing else.

use std::collections::BTreeMap;

use countersign_ledger::AuditEntry;

use super::View;
use crate::oracle::{Fact, Standing, detail, of_operation};
use crate::tools::Tool;

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    let mut states: BTreeMap<[Option<&str>; 3], &str> = BTreeMap::new();
    for entry in &view.oracle.trail {
        let key = ["subject_id", "tool", "idempotency_key"].map(|name| of_operation(entry, name));
        let state = of_operation(entry, "state").unwrap_or_default();
        let before = states.insert(key, state);
        if before == Some("unknown") && state != "unknown" {
            left_unknown(view, entry)?;
        }
    }
    Ok(())
}

fn left_unknown(view: &View<'_>, entry: &AuditEntry) -> Result<(), String> {
    let acted = of_operation(entry, "status_ref").is_some_and(|status_ref| {
        let mut effects = view.effects.iter();
        effects.any(|effect| effect.status_ref.to_string() == status_ref)
    });
    let is_evident = match entry.event.as_str() {
        "sent_again" => {
            let is_letter = |tool: &str| tool == Tool::Letter.name().as_str();
            of_operation(entry, "tool").is_some_and(is_letter)
        }
        "reconciled" => acted,
        "ruled_committed" => acted && was_ruled(view, entry),
        // Whoever ruled had looked; whether it stayed so is another invariant.
        "ruled_not_executed" => was_ruled(view, entry),
        _ => false,
    };
    if is_evident {
        Ok(())
    } else {
        Err(format!(
            "entry {}, {}, ends what was unknown without evidence",
            entry.sequence, entry.event
        ))
    }
}

fn was_ruled(view: &View<'_>, entry: &AuditEntry) -> bool {
    let note = detail(entry, "note").and_then(|note| note.as_str());
    let is_it = |fact: &Fact| {
        fact.detail == "note"
            && Some(fact.text.as_str()) == note
            && fact.standing != Standing::Absent
    };
    view.oracle.facts.iter().any(is_it)
}
