//! A result package: the model's projection and the audit projection of one call, bound together.

use countersign_canonical::{Encoder, Sink, ToolResult, Value};

use crate::answer::CheckedAnswer;
use crate::call::Call;
use crate::digest::{RequestDigest, ResultDigest, StatusRef};
use crate::error_catalog::ErrorCode;
use crate::fault::Faults;
use crate::model_result::{Delivery, ModelResult, SuccessResult};
use crate::principal::Principal;
use crate::protected_audit::{Downstream, ProtectedAudit};
use crate::time::UtcSecond;
use crate::tool_contract::ToolContract;
use crate::verify::{VerifiedPackage, verify};
use crate::wire;

/// The result of one call, as the host keeps it.
///
/// Built here only, so its digests always fit its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    model_result: ModelResult,
    protected_audit: ProtectedAudit,
}

impl Package {
    /// Packages a checked answer for a call.
    ///
    /// `request` is the digest of the call's own request under the contract.
    #[must_use]
    pub fn success(
        principal: &Principal,
        call: &Call,
        contract: &ToolContract,
        request: RequestDigest,
        answer: &CheckedAnswer,
        status_ref: Option<StatusRef>,
        delivery: Delivery,
    ) -> Self {
        let model_result = ModelResult::Success(SuccessResult {
            data: answer.data().clone(),
            delivery,
            source_label: contract.source_label.clone(),
            producer_revision: contract.revisions.producer.clone(),
            resource_revision: answer.resource_revision().map(str::to_owned),
            observed_at: answer.observed_at().clone(),
        });
        let downstream = Downstream {
            request_id: answer.downstream_request_id().map(str::to_owned),
            receipt_id: answer.receipt_id().map(str::to_owned),
            status_ref,
        };
        Self::bind(
            principal,
            call,
            Some(contract),
            request,
            model_result,
            downstream,
        )
    }

    /// Packages a catalog error for a call.
    #[must_use]
    pub fn error(
        principal: &Principal,
        call: &Call,
        contract: Option<&ToolContract>,
        request: RequestDigest,
        code: ErrorCode,
        now: UtcSecond,
        status_ref: Option<StatusRef>,
    ) -> Self {
        let model_result = ModelResult::Error {
            code,
            observed_at: now.into(),
        };
        let downstream = Downstream::status_only(status_ref);
        Self::bind(principal, call, contract, request, model_result, downstream)
    }

    fn bind(
        principal: &Principal,
        call: &Call,
        contract: Option<&ToolContract>,
        request: RequestDigest,
        model_result: ModelResult,
        downstream: Downstream,
    ) -> Self {
        let result = ResultDigest::new(wire::digest_of(|encoder| model_result.encode(encoder)));
        let protected_audit =
            ProtectedAudit::new(principal, call, contract, request, result, downstream);
        Self {
            model_result,
            protected_audit,
        }
    }

    /// The model's projection.
    #[must_use]
    pub fn model_result(&self) -> &ModelResult {
        &self.model_result
    }

    /// The audit projection.
    #[must_use]
    pub fn protected_audit(&self) -> &ProtectedAudit {
        &self.protected_audit
    }

    /// The whole package in canonical form, as the host keeps it.
    #[must_use]
    pub fn to_canonical(&self) -> Vec<u8> {
        wire::bytes_of(|encoder| self.encode(encoder))
    }

    /// Proves that the package belongs to this call, as for a package that came from outside.
    pub fn verify<'a>(
        &self,
        principal: &Principal,
        call: &'a Call,
        contract: Option<&ToolContract>,
    ) -> Result<VerifiedPackage<'a>, Faults> {
        verify(principal, call, contract, &Value::from(self))
    }

    fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, ToolResult, S>) {
        encoder.begin_object();
        encoder.key("model_result");
        self.model_result.encode(encoder);
        encoder.key("protected_audit");
        self.protected_audit.encode(encoder);
        encoder.end_object();
    }
}

impl From<&Package> for Value {
    fn from(package: &Package) -> Self {
        wire::value_of(|encoder| package.encode(encoder))
    }
}
