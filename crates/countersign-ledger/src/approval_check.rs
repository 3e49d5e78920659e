//! Who a host believes that an approval was given.

use countersign_policy::ApprovalEvidence;

use crate::grant::Grant;
use crate::record::Record;

/// Judges what a write is to begin under that was approved in the ledger, by more than that it stands there: whoever can write its
/// rows can write an approval. It is asked within the transaction that begins the write, so it answers at once.
pub trait ApprovalCheck: Send + Sync {
    /// Tells whether a write may begin under an approval. Where a grant gave it, that is a grant that stands and covers the call.
    fn holds(&self, record: &Record, approval: &ApprovalEvidence, grant: Option<&Grant>) -> bool;

    /// Tells whether a grant may approve anything.
    fn accepts(&self, grant: &Grant) -> bool;
}
