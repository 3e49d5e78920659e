//! An approval begins one attempt. It is free again only where that attempt is proven not to have begun.

use std::collections::BTreeMap;

use countersign_ledger::AuditEntry;

use super::View;
use crate::oracle::{member, of_operation};

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    // Each consumed approval, with the operation that it began.
    let mut consumed: BTreeMap<[String; 2], Option<&str>> = BTreeMap::new();
    for entry in &view.oracle.trail {
        match entry.event.as_str() {
            "begun" => {
                let operation = of_operation(entry, "status_ref");
                if consumed.insert(approval(entry), operation).is_some() {
                    return Err(format!(
                        "entry {} consumes an approval again",
                        entry.sequence
                    ));
                }
            }
            "not_started" => {
                let operation = of_operation(entry, "status_ref");
                consumed.retain(|_, begun| *begun != operation);
            }
            _ => {}
        }
    }
    Ok(())
}

fn approval(entry: &AuditEntry) -> [String; 2] {
    ["approval_id", "sha256"].map(|name| {
        let text = member(&entry.value, &["details", "approval", name]);
        let text = text.and_then(|value| value.as_str());
        text.unwrap_or_default().to_owned()
    })
}
