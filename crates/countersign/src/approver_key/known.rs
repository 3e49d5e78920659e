//! The approvers whose signatures count.

use std::collections::BTreeMap;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_contract::ApproverId;
use countersign_ledger::{ApprovalCheck, Grant, Record};
use countersign_policy::ApprovalEvidence;

use super::{KeyName, KeyStore, PUBLIC_BYTES, SIGNED, Statement, grant_bytes};

/// Public keys by approver, as they were when the program started: a key that is put there later has no say in it.
///
/// While there is none at all, approvals need no signature. From the first key on, nothing else counts, whoever it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownApprovers(BTreeMap<KeyName, [u8; PUBLIC_BYTES]>);

impl KnownApprovers {
    /// Those who have a key in the user's data directory.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let keys = KeyStore::open()?.all()?.into_iter();
        Ok(Self(keys.map(|key| (key.name, key.public)).collect()))
    }

    fn has_signed(&self, approver: &ApproverId, bytes: &[u8], signature: &str) -> bool {
        let public = KeyName::of(approver).and_then(|name| self.0.get(&name));
        let signature = URL_SAFE_NO_PAD.decode(signature).ok();
        public.zip(signature).is_some_and(|(public, signature)| {
            let public = UnparsedPublicKey::new(&ED25519, public);
            public.verify(bytes, &signature).is_ok()
        })
    }
}

impl ApprovalCheck for KnownApprovers {
    fn holds(&self, record: &Record, approval: &ApprovalEvidence, grant: Option<&Grant>) -> bool {
        if self.0.is_empty() {
            return true;
        }
        if let Some(grant) = grant {
            return self.accepts(grant);
        }
        let signed = approval.approval_id.as_str().strip_prefix(SIGNED);
        let Some((nonce, signature)) = signed.and_then(|signed| signed.split_once('.')) else {
            return false;
        };
        let statement = Statement {
            status_ref: record.terms.status_ref,
            request: record.terms.request,
            approval: approval.digest,
            approver: &approval.approver,
            expires_at: approval.expires_at,
        };
        self.has_signed(&approval.approver, &statement.bytes(nonce), signature)
    }

    fn accepts(&self, grant: &Grant) -> bool {
        let is_signed =
            |signature: &String| self.has_signed(&grant.approver, &grant_bytes(grant), signature);
        self.0.is_empty() || grant.signature.as_ref().is_some_and(is_signed)
    }
}
