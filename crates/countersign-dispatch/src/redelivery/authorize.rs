//! May this principal still make this call?

use countersign_policy::{AccessRequest, Authorized, Decision};

use super::check_approval::CheckApprovalAgain;
use super::{Redelivery, Repeated};

/// Access is to be decided.
#[derive(Debug)]
pub struct AuthorizeAgain<'a> {
    repeated: Repeated<'a>,
}

impl<'a> AuthorizeAgain<'a> {
    pub(super) fn new(repeated: Repeated<'a>) -> Self {
        Self { repeated }
    }

    /// The question.
    #[must_use]
    pub fn request(&self) -> AccessRequest<'a> {
        self.repeated.context.access()
    }

    /// Goes on with the authorizer's answer.
    #[must_use]
    pub fn answer(self, decision: Decision) -> Redelivery<'a> {
        match Authorized::from_decision(self.request(), decision) {
            Some(authorized) => {
                Redelivery::CheckApproval(CheckApprovalAgain::new(self.repeated, authorized))
            }
            None => Redelivery::Drifted,
        }
    }
}
