//! An approval as it is offered with a call.

use countersign_contract::{ApprovalDigest, ApproverId, RequestDigest, UtcSecond};

use crate::decision::AccessRequest;

/// An approval that somebody offers: text from outside, in which nothing is trusted.
///
/// It authorizes a call only once [`Approved::check`](crate::Approved::check) has found every member to be the call's
/// own, the digest to be the recomputed one, and the approver to be entitled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Names the approval. Not unique by itself.
    pub approval_id: String,
    /// The operation approved.
    pub operation_id: String,
    /// The call approved.
    pub call_id: String,
    /// The provider it came from.
    pub provider: String,
    /// The provider's API family.
    pub api_family: String,
    /// The adapter's revision.
    pub adapter_revision: String,
    /// The key it is to act under.
    pub idempotency_key: Option<String>,
    /// The tool.
    pub tool_name: String,
    /// On whose behalf.
    pub subject_id: String,
    /// The input schema's revision.
    pub schema_version: String,
    /// The policy's revision.
    pub approval_revision: String,
    /// What binds all of it, with arguments, effect and approver: 64 hex digits.
    pub approval_digest: String,
    /// The first second at which it is dead, since the epoch.
    pub expires_at: u64,
    /// Who approved.
    pub approver_id: String,
}

impl Approval {
    /// Writes down that `approver` approves exactly this call until `expires_at`.
    #[must_use]
    pub fn of(
        access: &AccessRequest<'_>,
        request: &RequestDigest,
        approval_id: String,
        approver: &ApproverId,
        expires_at: UtcSecond,
    ) -> Self {
        let digest = ApprovalDigest::of(access.call, access.contract, request, approver);
        Self::with_digest(access, &digest, approval_id, approver, expires_at)
    }

    pub(crate) fn with_digest(
        access: &AccessRequest<'_>,
        digest: &ApprovalDigest,
        approval_id: String,
        approver: &ApproverId,
        expires_at: UtcSecond,
    ) -> Self {
        let AccessRequest {
            principal,
            call,
            contract,
        } = access;
        Self {
            approval_id,
            operation_id: call.operation_id.as_str().to_owned(),
            call_id: call.call_id.as_str().to_owned(),
            provider: call.profile.provider().to_owned(),
            api_family: call.profile.api_family().to_owned(),
            adapter_revision: call.profile.adapter_revision().to_owned(),
            idempotency_key: call
                .idempotency_key
                .as_ref()
                .map(|key| key.as_str().to_owned()),
            tool_name: call.name.as_str().to_owned(),
            subject_id: principal.subject_id.as_str().to_owned(),
            schema_version: contract.revisions.input_schema.as_str().to_owned(),
            approval_revision: contract.revisions.policy.as_str().to_owned(),
            approval_digest: digest.to_string(),
            expires_at: expires_at.as_unix_seconds(),
            approver_id: approver.as_str().to_owned(),
        }
    }
}
