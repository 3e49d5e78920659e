//! Step 4: one call identity means one request, for one purpose.

use countersign_contract::{CallFingerprint, ErrorCode, Purpose};

use super::authorize::Authorize;
use super::{Dispatch, Offer};
use crate::context::Context;
use crate::ledger::CallBound;
use crate::operation::CallIdentity;

/// The call's identity is to be bound to what it is used for.
#[derive(Debug)]
pub struct BindCall<'a> {
    identified: Identified<'a>,
}

/// A call with what its identity is to be used for: what the states up to its reservation share.
#[derive(Debug)]
pub(super) struct Identified<'a> {
    pub(super) context: Context<'a>,
    pub(super) offer: Offer<'a>,
    pub(super) identity: CallIdentity,
    pub(super) fingerprint: CallFingerprint,
}

impl<'a> BindCall<'a> {
    pub(super) fn new(context: Context<'a>, offer: Offer<'a>) -> Self {
        let identity = CallIdentity::of(context.principal, context.call);
        let fingerprint = CallFingerprint::of(context.call, Purpose::Dispatch, &context.request);
        Self {
            identified: Identified {
                context,
                offer,
                identity,
                fingerprint,
            },
        }
    }

    /// The identity.
    #[must_use]
    pub fn identity(&self) -> &CallIdentity {
        &self.identified.identity
    }

    /// What it is used for.
    #[must_use]
    pub fn fingerprint(&self) -> &CallFingerprint {
        &self.identified.fingerprint
    }

    /// Goes on with the ledger's answer.
    #[must_use]
    pub fn answer(self, bound: CallBound) -> Dispatch<'a> {
        match bound {
            CallBound::Bound => Dispatch::Authorize(Authorize::new(self.identified)),
            CallBound::Conflict => {
                Dispatch::Done(self.identified.context.refuse(ErrorCode::CallIdConflict))
            }
        }
    }
}
