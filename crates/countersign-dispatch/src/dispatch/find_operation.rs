//! Step 6: what is known under the key. A known operation answers; nothing runs again.

use countersign_contract::{CallFingerprint, Delivery, ErrorCode, Package, Scope};

use super::Dispatch;
use super::authorize::Write;
use super::check_state::CheckState;
use crate::context::Context;
use crate::operation::{CallIdentity, Operation, OperationState};

/// The key's operation is to be found.
#[derive(Debug)]
pub struct FindOperation<'a> {
    write: Write<'a>,
}

impl<'a> FindOperation<'a> {
    pub(super) fn new(write: Write<'a>) -> Self {
        Self { write }
    }

    /// Where it would be.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.write.scope
    }

    /// Who looks for it.
    #[must_use]
    pub fn identity(&self) -> &CallIdentity {
        &self.write.identified.identity
    }

    /// What that identity is used for.
    #[must_use]
    pub fn fingerprint(&self) -> &CallFingerprint {
        &self.write.identified.fingerprint
    }

    /// Goes on with what the ledger found.
    #[must_use]
    pub fn answer(self, found: Option<&Operation>) -> Dispatch<'a> {
        match found {
            // Whether it is that approval, the ledger says when the operation is to begin.
            Some(operation)
                if operation.state == OperationState::Reserved
                    && !self.write.identified.offer.approvals.is_empty() =>
            {
                Dispatch::CheckState(CheckState::new(self.write))
            }
            Some(operation) => {
                Dispatch::Done(answer_from(&self.write.identified.context, operation))
            }
            None => Dispatch::CheckState(CheckState::new(self.write)),
        }
    }
}

/// What an operation under the same key says to this call: its record, that it is unknown, or that the key was used for
/// something else.
pub(super) fn answer_from(context: &Context<'_>, operation: &Operation) -> Package {
    let Context {
        call,
        contract,
        request,
        ..
    } = context;
    let terms = &operation.terms;
    match &operation.state {
        OperationState::Succeeded(answer) if terms.record_answers(call, contract, request) => {
            context.success(answer, Some(terms.status_ref), Delivery::LocalReplay)
        }
        OperationState::Reserved | OperationState::Executing(_) | OperationState::Unknown
            if terms.is_same_effect(call, contract, request) =>
        {
            context.error(ErrorCode::OutcomeUnknown, Some(terms.status_ref))
        }
        OperationState::Reserved
        | OperationState::Executing(_)
        | OperationState::Unknown
        | OperationState::Succeeded(_) => context.refuse(ErrorCode::IdempotencyConflict),
    }
}
