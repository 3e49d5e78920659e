//! What a receipt proves is written down before anyone hears of it.

use countersign_contract::{CheckedAnswer, ErrorCode, Scope};

use super::{StatusQuery, Target};
use crate::ledger::{Error, Settled};

/// A proven success is to be written down.
#[derive(Debug)]
pub struct Reconcile<'a> {
    target: Target<'a>,
    scope: Scope,
    answer: CheckedAnswer,
}

impl<'a> Reconcile<'a> {
    pub(super) fn new(target: Target<'a>, scope: Scope, answer: CheckedAnswer) -> Self {
        Self {
            target,
            scope,
            answer,
        }
    }

    /// Whose.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// What the receipt says.
    #[must_use]
    pub fn proven(&self) -> &CheckedAnswer {
        &self.answer
    }

    /// Ends with the ledger's answer. What could not be written down stays unknown.
    #[must_use]
    pub fn answer(self, settled: Result<Settled, Error>) -> StatusQuery<'a> {
        match settled {
            Ok(Settled::Written) => StatusQuery::Done(self.target.reconciled(&self.answer)),
            Ok(Settled::Stale) | Err(_) => self.target.error(ErrorCode::OutcomeUnknown),
        }
    }
}
