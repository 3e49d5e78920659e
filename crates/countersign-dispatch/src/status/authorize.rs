//! A question needs the access that its write needed, as it stands now.

use countersign_contract::ErrorCode;
use countersign_policy::{AccessRequest, Authorized, Decision};

use super::find_operation::FindQueryable;
use super::{StatusQuery, Target};

/// Access is to be decided.
#[derive(Debug)]
pub struct AuthorizeStatus<'a> {
    target: Target<'a>,
}

impl<'a> AuthorizeStatus<'a> {
    pub(super) fn new(target: Target<'a>) -> Self {
        Self { target }
    }

    /// The question.
    #[must_use]
    pub fn request(&self) -> AccessRequest<'a> {
        self.target.context.access()
    }

    /// Goes on with the authorizer's answer.
    #[must_use]
    pub fn answer(self, decision: Decision) -> StatusQuery<'a> {
        match Authorized::from_decision(self.request(), decision) {
            Some(authorized) => {
                StatusQuery::FindQueryable(FindQueryable::new(self.target, authorized))
            }
            None => self.target.refuse(ErrorCode::NotFound),
        }
    }
}
