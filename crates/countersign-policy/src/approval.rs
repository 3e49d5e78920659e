//! An approval as it is offered with a call.

use countersign_canonical::{Object, Value};
use countersign_contract::{
    ApprovalDigest, ApproverId, FaultCollector, IdempotencyKey, Path, Problem, RequestDigest,
    UtcSecond,
};

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

    /// Writes the approval in the form that [`read_approval`] reads.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let key = self.idempotency_key.as_deref().map(Value::from);
        let texts = [
            ("approval_id", &self.approval_id),
            ("operation_id", &self.operation_id),
            ("call_id", &self.call_id),
            ("provider", &self.provider),
            ("api_family", &self.api_family),
            ("adapter_revision", &self.adapter_revision),
            ("tool_name", &self.tool_name),
            ("subject_id", &self.subject_id),
            ("schema_version", &self.schema_version),
            ("approval_revision", &self.approval_revision),
            ("approval_digest", &self.approval_digest),
            ("approver_id", &self.approver_id),
        ];
        let mut object = Object::from(texts.map(|(name, text)| (name, text.as_str().into())));
        object.insert("idempotency_key".to_owned(), key.unwrap_or_default());
        object.insert(
            "expires_at".to_owned(),
            Value::Number(self.expires_at.into()),
        );
        object.into()
    }

    /// Tells whether all that it says of the call is the call's own, up to the digest, which is recomputed.
    ///
    /// Its own name, its expiry and its approver are for the caller to judge.
    pub(crate) fn is_of(&self, access: &AccessRequest<'_>, digest: &ApprovalDigest) -> bool {
        // Taken apart, so that no member can be forgotten.
        let Self {
            approval_id: _,
            operation_id,
            call_id,
            provider,
            api_family,
            adapter_revision,
            idempotency_key,
            tool_name,
            subject_id,
            schema_version,
            approval_revision,
            approval_digest,
            expires_at: _,
            approver_id: _,
        } = self;
        let AccessRequest {
            principal,
            call,
            contract,
        } = access;
        let key = call.idempotency_key.as_ref();
        operation_id == call.operation_id.as_str()
            && call_id == call.call_id.as_str()
            && provider == call.profile.provider()
            && api_family == call.profile.api_family()
            && adapter_revision == call.profile.adapter_revision()
            && idempotency_key.as_deref() == key.map(IdempotencyKey::as_str)
            && tool_name == call.name.as_str()
            && subject_id == principal.subject_id.as_str()
            && schema_version == contract.revisions.input_schema.as_str()
            && approval_revision == contract.revisions.policy.as_str()
            && ApprovalDigest::parse_hex(approval_digest).as_ref() == Some(digest)
    }
}

/// Reads an approval as part of a larger document: all its members, each a string, save for `idempotency_key` (a string or
/// null) and `expires_at` (seconds since 1970). Whether it approves anything is another question.
pub fn read_approval(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<Approval> {
    let members = [
        "approval_id",
        "operation_id",
        "call_id",
        "provider",
        "api_family",
        "adapter_revision",
        "idempotency_key",
        "tool_name",
        "subject_id",
        "schema_version",
        "approval_revision",
        "approval_digest",
        "expires_at",
        "approver_id",
    ];
    let object = faults.exact_object(path, value, &members)?;
    let expires_at = object.get("expires_at").and_then(Value::as_i64);
    let expires_at = expires_at.and_then(|seconds| u64::try_from(seconds).ok());
    let due = Problem::Expected("seconds since 1970, as an integer");
    let expires_at = faults.take(&path.member("expires_at"), expires_at.ok_or(due));
    let idempotency_key = match object.get("idempotency_key") {
        Some(Value::Null) | None => None,
        Some(_) => Some(read_text(path, object, "idempotency_key", faults)?),
    };
    let mut text = |name| read_text(path, object, name, faults);
    Some(Approval {
        approval_id: text("approval_id")?,
        operation_id: text("operation_id")?,
        call_id: text("call_id")?,
        provider: text("provider")?,
        api_family: text("api_family")?,
        adapter_revision: text("adapter_revision")?,
        idempotency_key,
        tool_name: text("tool_name")?,
        subject_id: text("subject_id")?,
        schema_version: text("schema_version")?,
        approval_revision: text("approval_revision")?,
        approval_digest: text("approval_digest")?,
        expires_at: expires_at?,
        approver_id: text("approver_id")?,
    })
}

fn read_text(
    path: &Path,
    object: &Object,
    name: &str,
    faults: &mut FaultCollector,
) -> Option<String> {
    let text = object.get(name).and_then(Value::as_str).map(str::to_owned);
    faults.take(
        &path.member(name),
        text.ok_or(Problem::Expected("a string")),
    )
}
