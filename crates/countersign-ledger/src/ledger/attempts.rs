//! The attempts of this host, so that one that has ended without its end in the ledger is not taken for one that goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_contract::Scope;

/// The most operations that are remembered; what is beyond counts as performed for as long as the host lives.
const CAPACITY: usize = 10_000;

/// Which operations this host performs, and of which it does not know whether the ledger says that it does.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    // How many callers may hold an operation: all but one of them will be told that it is taken.
    under_way: BTreeMap<Scope, usize>,
    unsettled: BTreeSet<Scope>,
}

impl Attempts {
    /// From here on the operation may be performed.
    pub(super) fn begin(&self, scope: &Scope) {
        *self.state().under_way.entry(scope.clone()).or_default() += 1;
    }

    /// An attempt is over, or did not begin.
    pub(super) fn end(&self, scope: &Scope, is_recorded: bool) {
        let mut state = self.state();
        if let Some(count) = state.under_way.get_mut(scope) {
            *count -= 1;
            if *count == 0 {
                state.under_way.remove(scope);
            }
        }
        if !is_recorded && state.unsettled.len() < CAPACITY {
            state.unsettled.insert(scope.clone());
        }
    }

    /// Operations that are not performed any more, whatever the ledger says.
    pub(super) fn lost(&self, limit: usize) -> Vec<Scope> {
        let state = self.state();
        let is_over = |scope: &&Scope| !state.under_way.contains_key(*scope);
        let lost = state.unsettled.iter().filter(is_over);
        lost.take(limit).cloned().collect()
    }

    /// Whether the operation may be performed at the moment.
    pub(super) fn is_under_way(&self, scope: &Scope) -> bool {
        self.state().under_way.contains_key(scope)
    }

    /// The ledger says what is known of an operation.
    pub(super) fn forget(&self, scope: &Scope) {
        self.state().unsettled.remove(scope);
    }

    /// INVARIANT: nothing panics while the lock is held, so that a poisoned one guards a whole state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
