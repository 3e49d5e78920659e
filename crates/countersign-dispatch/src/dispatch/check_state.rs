//! Step 7: does the resource's state allow the action, now?

use countersign_contract::ErrorCode;
use countersign_policy::Authorized;

use super::Dispatch;
use super::authorize::Write;
use super::check_approval::CheckApproval;
use crate::ports::StateVerdict;

/// The resource's state is to be looked at.
#[derive(Debug)]
pub struct CheckState<'a> {
    write: Write<'a>,
}

impl<'a> CheckState<'a> {
    pub(super) fn new(write: Write<'a>) -> Self {
        Self { write }
    }

    /// For which call.
    #[must_use]
    pub fn authorized(&self) -> &Authorized<'a> {
        &self.write.authorized
    }

    /// Goes on with what the state allows.
    #[must_use]
    pub fn answer(self, verdict: StateVerdict) -> Dispatch<'a> {
        match verdict {
            StateVerdict::Allows => Dispatch::CheckApproval(CheckApproval::new(self.write)),
            StateVerdict::Forbids => Dispatch::Done(
                self.write
                    .identified
                    .context
                    .refuse(ErrorCode::BusinessRuleViolation),
            ),
        }
    }
}
