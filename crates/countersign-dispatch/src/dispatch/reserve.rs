//! Before acting: the key is taken and the approval consumed, in one step of the ledger.

use countersign_contract::{ErrorCode, Scope, StatusRef};
use countersign_policy::Approved;

use super::Dispatch;
use super::bind_call::Identified;
use super::execute::Execute;
use super::find_operation::answer_from;
use crate::context::Context;
use crate::ledger::Reserved;
use crate::operation::{Reservation, Terms};

/// An approved write is to be reserved.
#[derive(Debug)]
pub struct Reserve<'a> {
    context: Context<'a>,
    approved: Approved<'a>,
    reservation: Reservation,
}

impl<'a> Reserve<'a> {
    pub(super) fn new(identified: Identified<'a>, approved: Approved<'a>, scope: Scope) -> Self {
        let Identified {
            context,
            identity,
            fingerprint,
            ..
        } = identified;
        let terms = Terms {
            request: context.request,
            profile: context.call.profile,
            revisions: context.contract.revisions.clone(),
            status_ref: StatusRef::of(&scope, &context.request),
        };
        let reservation = Reservation {
            scope,
            terms,
            approval: approved.evidence().clone(),
            first_call: identity,
            fingerprint,
            decided_at: context.now,
        };
        Self {
            context,
            approved,
            reservation,
        }
    }

    /// What is to be written.
    #[must_use]
    pub fn reservation(&self) -> &Reservation {
        &self.reservation
    }

    /// Goes on with the ledger's answer. Whoever was second gets what the first one's operation says.
    #[must_use]
    pub fn answer(self, reserved: &Reserved) -> Dispatch<'a> {
        let Self {
            context,
            approved,
            reservation,
        } = self;
        match reserved {
            Reserved::Taken(fence) => {
                Dispatch::Execute(Execute::write(context, approved, reservation, *fence))
            }
            Reserved::Occupied(operation) => Dispatch::Done(answer_from(&context, operation)),
            Reserved::ApprovalConsumed => {
                Dispatch::Done(context.refuse(ErrorCode::ApprovalInvalid))
            }
        }
    }
}
