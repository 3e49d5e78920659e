//! Before acting: the key is taken and the approval consumed, in one step of the ledger.

use countersign_contract::ErrorCode;
use countersign_policy::Approved;

use super::Dispatch;
use super::authorize::Write;
use super::execute::{Execute, Hold};
use super::find_operation::answer_from;
use crate::context::Context;
use crate::ledger::Reserved;
use crate::operation::{Proposal, Reservation};

/// The key is to be taken.
#[derive(Debug)]
pub struct Reserve<'a> {
    context: Context<'a>,
    approved: Approved<'a>,
    reservation: Reservation<'a>,
}

impl<'a> Reserve<'a> {
    pub(super) fn new(write: Write<'a>, approved: Approved<'a>) -> Self {
        Self {
            context: write.identified.context,
            reservation: Reservation {
                proposal: write.into_proposal(),
                approval: approved.evidence().clone(),
            },
            approved,
        }
    }

    /// What is to be written, all of it or nothing.
    #[must_use]
    pub fn reservation(&self) -> &Reservation<'a> {
        &self.reservation
    }

    /// Goes on with the ledger's answer. Whoever came second is answered from the first one's operation.
    #[must_use]
    pub fn answer(self, reserved: &Reserved) -> Dispatch<'a> {
        let Self {
            context,
            approved,
            reservation,
        } = self;
        match reserved {
            Reserved::Taken(lease) => {
                let Proposal { scope, terms, .. } = reservation.proposal;
                let hold = Hold {
                    scope,
                    lease: *lease,
                    status_ref: terms.status_ref,
                    is_repetition: false,
                };
                Dispatch::Execute(Execute::write(context, approved, hold))
            }
            Reserved::Occupied(operation) => Dispatch::Done(answer_from(&context, operation)),
            Reserved::CallConflict => Dispatch::Done(context.refuse(ErrorCode::CallIdConflict)),
            Reserved::ApprovalUnusable => {
                Dispatch::Done(context.refuse(ErrorCode::ApprovalInvalid))
            }
        }
    }
}
