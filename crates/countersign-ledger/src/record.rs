//! An operation as it is stored.

mod decode;
mod encode;

use std::time::Duration;

use countersign_contract::Scope;
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{Fence, Intent, Operation, OperationState, Terms};

use crate::document::Document;
use crate::moment::Moment;
use crate::state::{State, StateKind};
use crate::tables::OperationRow;

/// What is damaged where an operation's row is.
pub(crate) const DAMAGED: &str = "an operation is not what was written";

/// One operation, with everything that decides what may become of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Within which it acts at most once.
    pub scope: Scope,
    /// Its terms.
    pub terms: Terms,
    /// What is known of it.
    pub state: State,
    /// The number of the last attempt. It only grows, over all that ever happens under the scope.
    pub fence: u64,
    /// Whether its outcome ever was unknown.
    pub was_unknown: bool,
    /// What the host made the key of.
    pub intent: Option<Intent>,
    /// How long its downstream knows our key again.
    pub downstream_memory: Option<Duration>,
    /// The tool's timeout.
    pub timeout: Duration,
    /// When it was first asked for.
    pub opened_at: Moment,
    /// When its state last changed.
    pub changed_at: Moment,
    /// When a worker is to look at it next; nothing where none is to.
    pub due_at: Option<Moment>,
    /// How often workers have looked at it in this state.
    pub visits: u32,
    /// Whether workers have given up on it, and a person has to look. A flag, never an outcome.
    pub is_dead_letter: bool,
}

impl Record {
    /// Its state without data.
    #[must_use]
    pub fn kind(&self) -> StateKind {
        self.state.kind()
    }

    /// What the pipeline is told of it; nothing where it is proven to have had no effect, or nobody has decided yet.
    ///
    /// A success comes with its answer, which is stored apart.
    pub(crate) fn operation(
        &self,
        answer: impl FnOnce() -> Result<countersign_contract::CheckedAnswer, Error>,
    ) -> Result<Option<Operation>, Error> {
        let state = match &self.state {
            State::Reserved { .. } => OperationState::Reserved,
            State::Executing(_) => OperationState::Executing(Fence::new(self.fence)),
            State::Unknown { .. }
            | State::ResolvedCommitted {
                has_answer: false, ..
            } => OperationState::Unknown,
            State::Succeeded { .. }
            | State::ResolvedCommitted {
                has_answer: true, ..
            } => OperationState::Succeeded(answer()?),
            State::AwaitingApproval { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Blocked { .. }
            | State::Failed { .. }
            | State::ResolvedNotExecuted { .. } => return Ok(None),
        };
        Ok(Some(Operation {
            scope: self.scope.clone(),
            terms: self.terms.clone(),
            state,
            was_unknown: self.was_unknown,
        }))
    }

    /// The row to keep: the document, and what rows are found by.
    #[must_use]
    pub fn to_row(&self) -> OperationRow {
        OperationRow {
            scope: self.scope.clone(),
            status_ref: self.terms.status_ref,
            state: self.kind(),
            holder: self.state.holder().cloned(),
            due_at: self.due_at,
            expires_at: self.state.expires_at(),
            opened_at: self.opened_at,
            changed_at: self.changed_at,
            is_dead_letter: self.is_dead_letter,
            document: Document::of(&encode::value(self)),
        }
    }

    /// Reads a row; an error where it is not exactly as it was written.
    pub fn from_row(row: &OperationRow) -> Result<Self, Error> {
        let record = row.document.read_with(DAMAGED, decode::record)?;
        let is_as_written = row.scope == record.scope
            && row.status_ref == record.terms.status_ref
            && row.state == record.kind()
            && row.holder.as_ref() == record.state.holder()
            && row.due_at == record.due_at
            && row.expires_at == record.state.expires_at()
            && row.opened_at == record.opened_at
            && row.changed_at == record.changed_at
            && row.is_dead_letter == record.is_dead_letter;
        if is_as_written {
            Ok(record)
        } else {
            Err(Error::Damaged(DAMAGED))
        }
    }
}
