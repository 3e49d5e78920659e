//! A person rules on an unknown outcome.

use countersign_contract::{ApproverId, CheckedAnswer, StatusRef};
use countersign_dispatch::ledger::Error;

use crate::moment::Moment;
use crate::names::Note;
use crate::record::Record;
use crate::state::StateKind;

/// Rules on operations whose outcome is unknown.
///
/// - **Durability**: a ruling that was answered lasts, with who made it and on which evidence.
/// - **Ordering**: the first ruling or receipt counts.
/// - **Idempotency**: a second ruling hears how it stands.
pub trait Rulings {
    /// Rules. That nothing was executed cannot be said while the attempt may still be under way.
    fn rule(
        &self,
        status_ref: &StatusRef,
        verdict: &Verdict,
        by: &ApproverId,
        note: &Note,
    ) -> Result<Ruled, Error>;
}

/// What a person found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It acted, and this is its answer.
    CommittedWith(CheckedAnswer),
    /// It acted; what it answered is not known. A model hears no more than that the outcome is unknown.
    Committed,
    /// It did not act: the same key may be used under a new approval.
    NotExecuted,
}

/// What became of a ruling.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruled {
    /// It counts.
    Counts(Box<Record>),
    /// The outcome is not unknown.
    NotUnknown(StateKind),
    /// Until then the attempt may be under way.
    TooEarly(Moment),
    /// There is no such operation.
    NotFound,
}
