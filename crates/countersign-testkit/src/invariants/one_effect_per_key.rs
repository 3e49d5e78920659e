//! Under one key, for one tenant, subject and tool, the downstream acts at most once.

use std::collections::BTreeSet;

use super::View;

pub(super) fn check(view: &View<'_>) -> Result<(), String> {
    let mut scopes = BTreeSet::new();
    for effect in view.effects {
        if !scopes.insert(&effect.scope) {
            return Err(format!("{:?} acted twice", effect.scope.key));
        }
    }
    Ok(())
}
