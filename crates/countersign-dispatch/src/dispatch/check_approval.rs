//! Step 8: is there an approval for exactly this call?

use countersign_contract::ErrorCode;
use countersign_policy::{ApprovalRefusal, Approved, ApproverDirectory};

use super::Dispatch;
use super::authorize::Write;
use super::propose::Propose;
use super::reserve::Reserve;

/// The approvals offered are to be looked at.
#[derive(Debug)]
pub struct CheckApproval<'a> {
    write: Write<'a>,
}

impl<'a> CheckApproval<'a> {
    pub(super) fn new(write: Write<'a>) -> Self {
        Self { write }
    }

    /// Goes on with who may approve, as it stands now.
    #[must_use]
    pub fn answer(self, approvers: &dyn ApproverDirectory) -> Dispatch<'a> {
        let context = self.write.identified.context;
        let offered = self.write.identified.offer.approvals;
        match Approved::check(
            self.write.authorized,
            &context.request,
            offered,
            approvers,
            context.now,
        ) {
            Ok(approved) => Dispatch::Reserve(Reserve::new(self.write, approved)),
            Err(ApprovalRefusal::Required) => Dispatch::Propose(Box::new(Propose::new(self.write))),
            Err(ApprovalRefusal::Invalid) => {
                Dispatch::Done(context.refuse(ErrorCode::ApprovalInvalid))
            }
        }
    }
}
