//! A question has a call identity of its own: one that dispatched never asks, and the reverse.

use countersign_contract::{CallFingerprint, ErrorCode, Purpose};

use super::authorize::AuthorizeStatus;
use super::{StatusQuery, Target};
use crate::ledger::CallBound;
use crate::operation::CallIdentity;

/// The question's call identity is to be bound.
#[derive(Debug)]
pub struct BindStatusCall<'a> {
    target: Target<'a>,
    identity: CallIdentity,
    fingerprint: CallFingerprint,
}

impl<'a> BindStatusCall<'a> {
    pub(super) fn new(target: Target<'a>) -> Self {
        let context = &target.context;
        let identity = CallIdentity::of(context.principal, context.call);
        let fingerprint = CallFingerprint::of(context.call, Purpose::QueryStatus, &context.request);
        Self {
            target,
            identity,
            fingerprint,
        }
    }

    /// The identity.
    #[must_use]
    pub fn identity(&self) -> &CallIdentity {
        &self.identity
    }

    /// What it is used for.
    #[must_use]
    pub fn fingerprint(&self) -> &CallFingerprint {
        &self.fingerprint
    }

    /// Goes on with the ledger's answer.
    #[must_use]
    pub fn answer(self, bound: CallBound) -> StatusQuery<'a> {
        match bound {
            CallBound::Bound => StatusQuery::Authorize(AuthorizeStatus::new(self.target)),
            CallBound::Conflict => self.target.refuse(ErrorCode::CallIdConflict),
        }
    }
}
