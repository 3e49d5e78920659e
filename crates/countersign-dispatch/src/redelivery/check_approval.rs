//! Does the approval that was consumed still stand?

use countersign_policy::{Approved, ApproverDirectory, Authorized};

use super::begin::BeginAgain;
use super::{Redelivery, Repeated};

/// The approval is to be looked at.
#[derive(Debug)]
pub struct CheckApprovalAgain<'a> {
    repeated: Repeated<'a>,
    authorized: Authorized<'a>,
}

impl<'a> CheckApprovalAgain<'a> {
    pub(super) fn new(repeated: Repeated<'a>, authorized: Authorized<'a>) -> Self {
        Self {
            repeated,
            authorized,
        }
    }

    /// Goes on with who may approve, as it stands now.
    #[must_use]
    pub fn answer(self, approvers: &dyn ApproverDirectory) -> Redelivery<'a> {
        let Self {
            repeated,
            authorized,
        } = self;
        let request = &repeated.context.request;
        match Approved::again(authorized, request, repeated.approval, approvers) {
            Ok(approved) => Redelivery::Begin(BeginAgain::new(repeated, approved)),
            Err(_) => Redelivery::Drifted,
        }
    }
}
