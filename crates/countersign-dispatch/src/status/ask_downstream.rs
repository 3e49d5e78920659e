//! Only the downstream can say what happened, and only a receipt for this very operation says it.

use countersign_contract::{
    Call, ErrorCode, IdempotencyKey, Principal, RequestDigest, StatusRef, ToolContract,
};
use countersign_policy::Authorized;

use super::reconcile::Reconcile;
use super::{StatusQuery, Target};
use crate::operation::Operation;
use crate::ports::Receipt;

/// The downstream is to be asked for its receipt.
#[derive(Debug)]
pub struct AskDownstream<'a> {
    target: Target<'a>,
    authorized: Authorized<'a>,
    operation: Operation,
}

/// A question to a downstream's status operation.
#[derive(Clone, Copy, Debug)]
pub struct StatusQuestion<'q> {
    authorized: &'q Authorized<'q>,
    operation: &'q Operation,
}

impl<'q> StatusQuestion<'q> {
    /// For whom the write was made.
    #[must_use]
    pub fn principal(&self) -> &'q Principal {
        self.authorized.principal()
    }

    /// The write, under the question's call identity.
    #[must_use]
    pub fn call(&self) -> &'q Call {
        self.authorized.call()
    }

    /// Its contract.
    #[must_use]
    pub fn contract(&self) -> &'q ToolContract {
        self.authorized.contract()
    }

    /// The key it acted under.
    #[must_use]
    pub fn idempotency_key(&self) -> &'q IdempotencyKey {
        &self.operation.scope.key
    }

    /// Its request.
    #[must_use]
    pub fn request(&self) -> &'q RequestDigest {
        &self.operation.terms.request
    }

    /// Its handle.
    #[must_use]
    pub fn status_ref(&self) -> StatusRef {
        self.operation.terms.status_ref
    }
}

impl<'a> AskDownstream<'a> {
    pub(super) fn new(
        target: Target<'a>,
        authorized: Authorized<'a>,
        operation: Operation,
    ) -> Self {
        Self {
            target,
            authorized,
            operation,
        }
    }

    /// What to ask.
    #[must_use]
    pub fn question(&self) -> StatusQuestion<'_> {
        StatusQuestion {
            authorized: &self.authorized,
            operation: &self.operation,
        }
    }

    /// Goes on with the downstream's receipt. Without one, the outcome stays unknown.
    #[must_use]
    pub fn answer(self, receipt: Option<Receipt>) -> StatusQuery<'a> {
        let Self {
            target, operation, ..
        } = self;
        let context = &target.context;
        let Some(receipt) = receipt else {
            return target.error(ErrorCode::OutcomeUnknown);
        };
        let terms = &operation.terms;
        let is_for_this_operation = receipt.request == terms.request
            && receipt.status_ref == terms.status_ref
            && terms.record_answers(context.call, context.contract, &context.request);
        if !is_for_this_operation {
            return target.error(ErrorCode::StatusConflict);
        }
        match receipt
            .answer
            .check(context.contract, &context.call.arguments)
        {
            Ok(answer) => StatusQuery::Reconcile(Reconcile::new(target, operation.scope, answer)),
            Err(_) => target.error(ErrorCode::OutputContractViolation),
        }
    }
}
