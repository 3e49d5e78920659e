//! Which operation is meant, and is the question about the very same one?

use countersign_contract::{ErrorCode, Scope, StatusRef};
use countersign_policy::Authorized;

use super::ask_downstream::AskDownstream;
use super::{StatusQuery, Target};
use crate::operation::{Operation, OperationState};

/// The operation is to be found by its handle.
#[derive(Debug)]
pub struct FindQueryable<'a> {
    target: Target<'a>,
    authorized: Authorized<'a>,
}

impl<'a> FindQueryable<'a> {
    pub(super) fn new(target: Target<'a>, authorized: Authorized<'a>) -> Self {
        Self { target, authorized }
    }

    /// The handle.
    #[must_use]
    pub fn status_ref(&self) -> &StatusRef {
        &self.target.status_ref
    }

    /// Goes on with what the ledger found. Another subject's operation does not exist for this one.
    #[must_use]
    pub fn answer(self, found: Option<Operation>) -> StatusQuery<'a> {
        let Self { target, authorized } = self;
        let context = &target.context;
        let own = found.filter(|operation| {
            operation.scope.tenant_id == context.principal.tenant_id
                && operation.scope.subject_id == context.principal.subject_id
        });
        let Some(operation) = own else {
            return target.refuse(ErrorCode::NotFound);
        };
        let is_same_operation = target.expected_request == context.request
            && Scope::of(context.principal, context.call).as_ref() == Some(&operation.scope)
            && operation
                .terms
                .is_same_effect(context.call, context.contract, &context.request);
        if !is_same_operation {
            return target.error(ErrorCode::StatusConflict);
        }
        match &operation.state {
            OperationState::Reserved => target.error(ErrorCode::OutcomeUnknown),
            OperationState::Executing(_) | OperationState::Unknown => {
                StatusQuery::AskDownstream(AskDownstream::new(target, authorized, operation))
            }
            OperationState::Succeeded(answer) => {
                let record_answers = operation.terms.record_answers(
                    context.call,
                    context.contract,
                    &context.request,
                );
                if record_answers {
                    StatusQuery::Done(target.reconciled(answer))
                } else {
                    target.error(ErrorCode::StatusConflict)
                }
            }
        }
    }
}
