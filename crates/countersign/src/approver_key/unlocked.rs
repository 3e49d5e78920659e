//! A key in memory, which signs.

use std::fmt;

use anyhow::anyhow;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_contract::{ApprovalDigest, ApprovalId, ApproverId, UtcSecond};
use countersign_ledger::{Decision, Grant, OperationDetail};
use zeroize::Zeroizing;

use super::sealed::{KeyName, random};
use super::{PUBLIC_BYTES, SEED_BYTES, SIGNED, Statement, grant_bytes};

/// Bytes that make two signatures about the same differ.
const NONCE_BYTES: usize = 12;

/// A key whose passphrase was typed. It is wiped when it goes.
pub(crate) struct UnlockedKey {
    name: KeyName,
    public: [u8; PUBLIC_BYTES],
    seed: Zeroizing<[u8; SEED_BYTES]>,
}

impl UnlockedKey {
    pub(super) fn new(name: KeyName, seed: Zeroizing<[u8; SEED_BYTES]>) -> anyhow::Result<Self> {
        let pair = pair(&seed)?;
        let public = pair.public_key().as_ref().try_into();
        let public = public.map_err(|_| anyhow!("this key has no public half"))?;
        Ok(Self { name, public, seed })
    }

    pub(crate) fn name(&self) -> &KeyName {
        &self.name
    }

    pub(super) fn public(&self) -> &[u8; PUBLIC_BYTES] {
        &self.public
    }

    pub(super) fn seed(&self) -> &[u8; SEED_BYTES] {
        &self.seed
    }

    /// Approves a call that was shown, for as long as it says. The approval's name is the signature.
    pub(crate) fn approve(
        &self,
        call: &OperationDetail,
        approver: &ApproverId,
        expires_at: UtcSecond,
    ) -> anyhow::Result<Decision> {
        let (terms, proposal) = (&call.record.terms, &call.proposal);
        let request = terms.request;
        let statement = Statement {
            status_ref: terms.status_ref,
            request,
            approval: ApprovalDigest::of(&proposal.call, &proposal.contract, &request, approver),
            approver,
            expires_at,
        };
        let nonce = URL_SAFE_NO_PAD.encode(random::<NONCE_BYTES>()?);
        let signature = self.sign(&statement.bytes(&nonce))?;
        Ok(Decision::Approve {
            by: approver.clone(),
            approval_id: ApprovalId::new(format!("{SIGNED}{nonce}.{signature}"))?,
            expires_at,
        })
    }

    /// Signs a grant.
    pub(crate) fn grant(&self, grant: Grant) -> anyhow::Result<Grant> {
        let signature = self.sign(&grant_bytes(&grant))?;
        Ok(Grant {
            signature: Some(signature),
            ..grant
        })
    }

    fn sign(&self, bytes: &[u8]) -> anyhow::Result<String> {
        let signature = pair(&self.seed)?.sign(bytes);
        Ok(URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }
}

fn pair(seed: &Zeroizing<[u8; SEED_BYTES]>) -> anyhow::Result<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(&**seed).map_err(|_| anyhow!("this key cannot sign"))
}

impl fmt::Debug for UnlockedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        formatter
            .debug_struct("UnlockedKey")
            .field("name", name)
            .finish_non_exhaustive()
    }
}
