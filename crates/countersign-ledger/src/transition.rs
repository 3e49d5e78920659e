//! What may become of an operation, one transition per file. Each is a function of what is stored, what is asked for and the
//! ledger's time; none reads or writes anything.

mod acknowledge;
mod block;
mod decide;
#[cfg(test)]
mod every_pair;
mod expire;
mod give_up;
mod lose_holder;
mod open;
mod postpone;
mod propose;
mod reconcile;
mod reserve;
mod rule;
mod send_again;
mod settle;

pub(crate) use acknowledge::acknowledge;
pub(crate) use block::block;
pub(crate) use decide::{Refusal, approve, deny};
pub(crate) use expire::expire;
pub(crate) use give_up::give_up;
pub(crate) use lose_holder::lose_holder;
pub(crate) use open::Wanted;
pub(crate) use postpone::postpone;
pub(crate) use propose::{Proposing, propose};
pub(crate) use reconcile::reconcile;
pub(crate) use reserve::{Reserving, reserve};
pub(crate) use rule::{RuleRefusal, rule_committed, rule_not_executed};
pub(crate) use send_again::{send_again, until_when_sendable};
pub(crate) use settle::settle;

use crate::audit::Event;
use crate::moment::Moment;
use crate::record::Record;
use crate::state::State;
use crate::steady::Steady;

/// What the clocks show in a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'c> {
    /// The ledger's time.
    pub(crate) now: Moment,
    /// The time that nobody sets, read before the transaction began: what it says to have passed has passed.
    pub(crate) steady: Option<&'c Steady>,
}

/// A change of an operation, and what the audit trail says of it.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) record: Record,
    pub(crate) event: Event,
}

impl Record {
    /// The record in another state from now on. Workers begin to count anew.
    fn into_state(self, state: State, now: Moment, due_at: Option<Moment>) -> Self {
        Self {
            state,
            changed_at: now,
            due_at,
            visits: 0,
            is_dead_letter: false,
            ..self
        }
    }
}
