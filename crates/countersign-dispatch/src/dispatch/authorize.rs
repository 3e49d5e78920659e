//! Step 5: may this principal make this call, now? Absent and forbidden look the same.

use countersign_contract::{ErrorCode, Risk, Scope, StatusRef};
use countersign_policy::{AccessRequest, Authorized, Decision};

use super::Dispatch;
use super::bind_call::Identified;
use super::execute::Execute;
use super::find_operation::FindOperation;
use crate::operation::{Proposal, Terms};

/// Access is to be decided.
#[derive(Debug)]
pub struct Authorize<'a> {
    identified: Identified<'a>,
}

impl<'a> Authorize<'a> {
    pub(super) fn new(identified: Identified<'a>) -> Self {
        Self { identified }
    }

    /// The question.
    #[must_use]
    pub fn request(&self) -> AccessRequest<'a> {
        self.identified.context.access()
    }

    /// Goes on with the authorizer's answer: a read executes, a write needs a key.
    #[must_use]
    pub fn answer(self, decision: Decision) -> Dispatch<'a> {
        let identified = self.identified;
        let context = identified.context;
        let Some(authorized) = Authorized::from_decision(context.access(), decision) else {
            return Dispatch::Done(context.refuse(ErrorCode::NotFound));
        };
        match context.contract.risk {
            Risk::Read => Dispatch::Execute(Execute::read(context, authorized)),
            Risk::Write => match Scope::of(context.principal, context.call) {
                Some(scope) => {
                    let write = Write {
                        identified,
                        authorized,
                        scope,
                    };
                    Dispatch::FindOperation(FindOperation::new(write))
                }
                None => Dispatch::Done(context.refuse(ErrorCode::IdempotencyKeyRequired)),
            },
        }
    }
}

/// An authorized write under a key: what the states before its reservation share.
#[derive(Debug)]
pub(super) struct Write<'a> {
    pub(super) identified: Identified<'a>,
    pub(super) authorized: Authorized<'a>,
    pub(super) scope: Scope,
}

impl<'a> Write<'a> {
    /// What the ledger is told of it.
    pub(super) fn into_proposal(self) -> Proposal<'a> {
        let Identified {
            context,
            offer,
            fingerprint,
            ..
        } = self.identified;
        let terms = Terms {
            request: context.request,
            profile: context.call.profile,
            revisions: context.contract.revisions.clone(),
            status_ref: StatusRef::of(&self.scope, &context.request),
        };
        Proposal {
            scope: self.scope,
            terms,
            principal: context.principal,
            call: context.call,
            fingerprint,
            contract: context.contract,
            intent: offer.intent,
            downstream_memory: offer.downstream_memory,
        }
    }
}
