//! Keys of approvers: what proves that a decision was made by whoever knows a passphrase.
//!
//! A key is an Ed25519 seed in a file of its owner's, encrypted under a passphrase that is typed on the controlling terminal and
//! comes from nowhere else. Its signature travels in what the ledger keeps anyway: an approval's name, and a grant.

mod known;
mod sealed;
mod store;
mod unlocked;

pub(crate) use self::known::KnownApprovers;
pub(crate) use self::sealed::{KeyName, SealedKey};
pub(crate) use self::store::KeyStore;
pub(crate) use self::unlocked::UnlockedKey;

use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::{ApprovalDigest, ApproverId, RequestDigest, StatusRef, UtcSecond};
use countersign_ledger::Grant;

/// Bytes of a public key.
const PUBLIC_BYTES: usize = 32;
/// Bytes of a secret seed.
const SEED_BYTES: usize = 32;
/// What the name of a signed approval begins with.
const SIGNED: &str = "signed_";

/// What an approver signs about one call: the call, how long, and which time this is.
#[derive(Clone, Copy, Debug)]
struct Statement<'s> {
    status_ref: StatusRef,
    request: RequestDigest,
    approval: ApprovalDigest,
    approver: &'s ApproverId,
    expires_at: UtcSecond,
}

impl Statement<'_> {
    fn bytes(&self, nonce: &str) -> Vec<u8> {
        encode::<Utf8>(&Value::from([
            ("schema", "countersign-decision-v1".into()),
            ("decision", "approve".into()),
            ("status_ref", self.status_ref.to_string().into()),
            ("request_sha256", self.request.to_string().into()),
            ("approval_sha256", self.approval.to_string().into()),
            ("approver_id", self.approver.as_str().into()),
            ("expires_at", self.expires_at.to_string().into()),
            ("nonce", nonce.into()),
        ]))
    }
}

fn grant_bytes(grant: &Grant) -> Vec<u8> {
    encode::<Utf8>(&Value::from([
        ("schema", "countersign-grant-signature-v1".into()),
        ("statement", grant.statement()),
    ]))
}
