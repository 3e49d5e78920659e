//! The approvers whose signatures count.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_contract::ApproverId;
use countersign_ledger::{ApprovalCheck, Grant, Record};
use countersign_policy::ApprovalEvidence;

use super::{KeyName, KeyStore, PUBLIC_BYTES, SIGNED, Statement, grant_bytes};
use crate::output::complain;

/// Public keys by approver. What they have not signed begins nothing.
///
/// They are taken once: when the program starts or, where nobody had a key by then, when the first approval is judged that may
/// have been signed with one. A key that is put there later has no say in it.
#[derive(Debug)]
pub(crate) struct KnownApprovers {
    /// Nothing where there is no place for keys.
    store: Option<KeyStore>,
    keys: OnceLock<PublicKeys>,
}

type PublicKeys = BTreeMap<KeyName, [u8; PUBLIC_BYTES]>;

impl KnownApprovers {
    /// Those who have a key in the user's data directory, or will be the first to have one.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let known = Self {
            store: KeyStore::open().inspect_err(without_place).ok(),
            keys: OnceLock::new(),
        };
        known.take()?;
        Ok(known)
    }

    /// Takes the keys, if there are any.
    fn take(&self) -> anyhow::Result<Option<&PublicKeys>> {
        if self.keys.get().is_none()
            && let Some(store) = &self.store
        {
            let keys = store.all()?.into_iter();
            let keys: PublicKeys = keys.map(|key| (key.name, key.public)).collect();
            if !keys.is_empty() {
                // Whoever was first is right.
                let _ = self.keys.set(keys);
            }
        }
        Ok(self.keys.get())
    }

    fn is_signed(&self, record: &Record, approval: &ApprovalEvidence) -> bool {
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

    fn has_signed(&self, approver: &ApproverId, bytes: &[u8], signature: &str) -> bool {
        // Keys that cannot be read prove nothing.
        let keys = self.take().ok().flatten();
        let name = KeyName::of(approver);
        let public = keys.zip(name).and_then(|(keys, name)| keys.get(&name));
        let signature = URL_SAFE_NO_PAD.decode(signature).ok();
        public.zip(signature).is_some_and(|(public, signature)| {
            let public = UnparsedPublicKey::new(&ED25519, public);
            public.verify(bytes, &signature).is_ok()
        })
    }
}

impl ApprovalCheck for KnownApprovers {
    fn holds(&self, record: &Record, approval: &ApprovalEvidence, grant: Option<&Grant>) -> bool {
        let is_signed = match grant {
            Some(grant) => self.accepts(grant),
            None => self.is_signed(record, approval),
        };
        if !is_signed {
            let status_ref = record.terms.status_ref;
            complain(&format!(
                "{status_ref} does not begin: its approval is not signed with a key that this process knows (countersign approver show)"
            ));
        }
        is_signed
    }

    fn accepts(&self, grant: &Grant) -> bool {
        let is_signed =
            |signature: &String| self.has_signed(&grant.approver, &grant_bytes(grant), signature);
        grant.signature.as_ref().is_some_and(is_signed)
    }
}

fn without_place(error: &anyhow::Error) {
    complain(&format!(
        "nothing can be approved for this process: {error:#}"
    ));
}
