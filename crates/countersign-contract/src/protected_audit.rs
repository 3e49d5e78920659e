//! The audit projection: what ties a result to its call. It never leaves the host.

use countersign_canonical::{Encoder, Sink, ToolResult};

use crate::call::Call;
use crate::digest::{
    CallBindingDigest, PrincipalReference, RequestDigest, ResultDigest, StatusRef, hex_member,
};
use crate::identifier::{CallId, OperationId, ResponseId};
use crate::principal::Principal;
use crate::profile::Profile;
use crate::tool_contract::{ContractReference, ToolContract, encode_texts};

/// The schema version of the audit projection.
pub const AUDIT_SCHEMA: &str = "tool-audit-v2";
/// The audit projection's visibility; it has no other.
pub const AUDIT_VISIBILITY: &str = "protected_audit";

/// The audit projection of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtectedAudit {
    /// The host's operation.
    pub operation_id: OperationId,
    /// The principal, as a digest.
    pub principal: PrincipalReference,
    /// The protocol.
    pub profile: Profile,
    /// The provider response.
    pub response_id: ResponseId,
    /// The call within it.
    pub call_id: CallId,
    /// The tool and its revisions.
    pub tool_contract: ContractReference,
    /// The digests.
    pub binding: BindingDigests,
    /// What the downstream said about itself.
    pub downstream: Downstream,
}

/// The three digests of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindingDigests {
    /// The request.
    pub request: RequestDigest,
    /// The model's projection.
    pub result: ResultDigest,
    /// Everything together.
    pub call: CallBindingDigest,
}

/// Evidence from the downstream: bound in the call binding, shown to no model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Downstream {
    /// The downstream's id of the request.
    pub request_id: Option<String>,
    /// The downstream's receipt for the effect.
    pub receipt_id: Option<String>,
    /// The handle of a write.
    pub status_ref: Option<StatusRef>,
}

impl ProtectedAudit {
    pub(crate) fn new(
        principal: &Principal,
        call: &Call,
        contract: Option<&ToolContract>,
        request: RequestDigest,
        result: ResultDigest,
        downstream: Downstream,
    ) -> Self {
        let binding =
            CallBindingDigest::of(principal, call, contract, &request, &result, &downstream);
        Self {
            operation_id: call.operation_id.clone(),
            principal: PrincipalReference::of(principal),
            profile: call.profile,
            response_id: call.response_id.clone(),
            call_id: call.call_id.clone(),
            tool_contract: ContractReference::of(contract, &call.name),
            binding: BindingDigests {
                request,
                result,
                call: binding,
            },
            downstream,
        }
    }

    /// Writes the projection; members stand in canonical order.
    pub(crate) fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, ToolResult, S>) {
        encoder.begin_object();
        encoder.key("binding");
        encoder.begin_object();
        hex_member(
            encoder,
            "call_binding_sha256",
            self.binding.call.as_digest(),
        );
        hex_member(encoder, "request_sha256", self.binding.request.as_digest());
        hex_member(encoder, "result_sha256", self.binding.result.as_digest());
        encoder.end_object();
        encoder.key("downstream");
        self.downstream.encode(encoder);
        encoder.key("operation_id");
        encoder.string(self.operation_id.as_str());
        encoder.key("principal_ref");
        encoder.string(&self.principal.to_string());
        encoder.key("provider_context");
        let context = provider_context(self.profile, &self.response_id, &self.call_id);
        encode_texts(&context, encoder);
        encoder.key("redactions");
        encoder.begin_array();
        encoder.end_array();
        encoder.key("schema_version");
        encoder.string(AUDIT_SCHEMA);
        encoder.key("tool_contract");
        encode_texts(&self.tool_contract.texts(), encoder);
        encoder.key("visibility");
        encoder.string(AUDIT_VISIBILITY);
        encoder.end_object();
    }
}

/// The provider context's members in canonical order.
pub(crate) fn provider_context<'a>(
    profile: Profile,
    response_id: &'a ResponseId,
    call_id: &'a CallId,
) -> [(&'static str, &'a str); 5] {
    [
        ("adapter_revision", profile.adapter_revision()),
        ("api_family", profile.api_family()),
        ("call_id", call_id.as_str()),
        ("provider", profile.provider()),
        ("response_id", response_id.as_str()),
    ]
}

impl Downstream {
    /// Only the handle of a write: what an error can carry.
    #[must_use]
    pub fn status_only(status_ref: Option<StatusRef>) -> Self {
        Self {
            request_id: None,
            receipt_id: None,
            status_ref,
        }
    }

    pub(crate) fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, ToolResult, S>) {
        encoder.begin_object();
        encoder.key("receipt_id");
        encoder.optional_string(self.receipt_id.as_deref());
        encoder.key("request_id");
        encoder.optional_string(self.request_id.as_deref());
        encoder.key("status_ref");
        encoder.optional_string(
            self.status_ref
                .map(|reference| reference.to_string())
                .as_deref(),
        );
        encoder.end_object();
    }
}
