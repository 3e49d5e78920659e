//! A record begins.

use std::time::Duration;

use countersign_contract::Scope;
use countersign_dispatch::{Intent, Proposal, Terms};

use crate::moment::Moment;
use crate::record::Record;
use crate::state::State;

/// What a transition has to know of what is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) scope: Scope,
    pub(crate) terms: Terms,
    pub(crate) intent: Option<Intent>,
    pub(crate) downstream_memory: Option<Duration>,
    pub(crate) timeout: Duration,
}

impl Wanted {
    pub(crate) fn of(proposal: &Proposal<'_>) -> Self {
        Self {
            scope: proposal.scope.clone(),
            terms: proposal.terms.clone(),
            intent: proposal.intent,
            downstream_memory: proposal.downstream_memory,
            timeout: proposal.contract.timeout,
        }
    }
}

/// A record of what is asked for. Under a scope that had one before, attempts are counted on.
pub(super) fn open(before: Option<&Record>, wanted: &Wanted, state: State, now: Moment) -> Record {
    Record {
        scope: wanted.scope.clone(),
        terms: wanted.terms.clone(),
        state,
        fence: before.map_or(0, |record| record.fence),
        was_unknown: false,
        intent: wanted.intent,
        downstream_memory: wanted.downstream_memory,
        timeout: wanted.timeout,
        opened_at: now,
        changed_at: now,
        due_at: None,
        visits: 0,
        is_dead_letter: false,
    }
}
