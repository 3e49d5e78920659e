//! Nobody has approved the call yet: that it waits is written down, so that whoever may decide finds it.

use countersign_contract::ErrorCode;

use super::Dispatch;
use super::authorize::Write;
use super::find_operation::answer_from;
use crate::context::Context;
use crate::ledger::Proposed;
use crate::operation::Proposal;

/// The write is to be recorded as waiting for a decision.
#[derive(Debug)]
pub struct Propose<'a> {
    context: Context<'a>,
    proposal: Proposal<'a>,
}

impl<'a> Propose<'a> {
    pub(super) fn new(write: Write<'a>) -> Self {
        Self {
            context: write.identified.context,
            proposal: write.into_proposal(),
        }
    }

    /// What is to be recorded.
    #[must_use]
    pub fn proposal(&self) -> &Proposal<'a> {
        &self.proposal
    }

    /// Ends with the ledger's answer: nothing acts on this call before somebody has decided.
    #[must_use]
    pub fn answer(self, proposed: &Proposed) -> Dispatch<'a> {
        let context = self.context;
        Dispatch::Done(match proposed {
            Proposed::Waiting => context.refuse(ErrorCode::ApprovalRequired),
            Proposed::Refused => context.refuse(ErrorCode::ApprovalInvalid),
            Proposed::TooManyWaiting => context.refuse(ErrorCode::RateLimit),
            Proposed::CallConflict => context.refuse(ErrorCode::CallIdConflict),
            Proposed::Occupied(operation) => answer_from(&context, operation),
        })
    }
}
