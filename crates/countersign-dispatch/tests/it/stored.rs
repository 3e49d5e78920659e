//! What a ledger is given to store.

use countersign_canonical::{Limits, parse};
use countersign_contract::{
    ApprovalDigest, ApprovalId, ApproverId, Arguments, Call, CallFingerprint, CallId,
    CheckedAnswer, HandlerAnswer, IdempotencyKey, OperationId, Principal, Profile, Purpose,
    RequestDigest, ResponseId, Roles, Scope, StatusRef, SubjectId, TenantId, ToolContract,
    UtcSecond,
};
use countersign_dispatch::{CallIdentity, Proposal, Reservation, Terms};
use countersign_policy::ApprovalEvidence;

/// One call of a tool that takes and answers a number.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) principal: Principal,
    pub(crate) call: Call,
    pub(crate) contract: ToolContract,
}

impl Stored {
    pub(crate) fn new(key: &str, number: u32) -> Self {
        let contract = ToolContract::from_value(&json(
            r#"{
                "name": "count", "risk": "write", "source_label": "test",
                "revisions": {
                    "input_schema": "i1", "output_schema": "o1", "effect": "e1",
                    "handler": "h1", "producer": "p1", "policy": "r1"
                },
                "arguments": {"n": {"type": "integer"}}, "output": {"n": {"type": "integer"}},
                "limits": {"output_bytes": 64, "output_depth": 1}, "timeout_ms": 500
            }"#,
        ))
        .unwrap();
        Self {
            principal: Principal {
                tenant_id: TenantId::new("tenant").unwrap(),
                subject_id: SubjectId::new("subject").unwrap(),
                roles: Roles::default(),
            },
            call: Call {
                profile: Profile::OpenAiResponses,
                response_id: ResponseId::new("response-1").unwrap(),
                call_id: CallId::new("call-1").unwrap(),
                operation_id: OperationId::new("operation-1").unwrap(),
                idempotency_key: Some(IdempotencyKey::new(key).unwrap()),
                name: contract.name.clone(),
                arguments: Arguments::new(json(&format!(r#"{{"n": {number}}}"#))).unwrap(),
            },
            contract,
        }
    }

    pub(crate) fn identity(&self) -> CallIdentity {
        CallIdentity::of(&self.principal, &self.call)
    }

    pub(crate) fn request(&self) -> RequestDigest {
        RequestDigest::of(&self.principal, &self.call, Some(&self.contract))
    }

    pub(crate) fn fingerprint(&self, purpose: Purpose) -> CallFingerprint {
        CallFingerprint::of(&self.call, purpose, &self.request())
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::of(&self.principal, &self.call).unwrap()
    }

    pub(crate) fn status_ref(&self) -> StatusRef {
        StatusRef::of(&self.scope(), &self.request())
    }

    /// A reservation under the call's own approval.
    pub(crate) fn reservation(&self) -> Reservation<'_> {
        let approver = ApproverId::new("dana").unwrap();
        let digest = ApprovalDigest::of(&self.call, &self.contract, &self.request(), &approver);
        self.reservation_under("approval-1", digest)
    }

    pub(crate) fn reservation_under(&self, id: &str, digest: ApprovalDigest) -> Reservation<'_> {
        Reservation {
            proposal: self.proposal(),
            approval: ApprovalEvidence {
                approval_id: ApprovalId::new(id).unwrap(),
                approver: ApproverId::new("dana").unwrap(),
                digest,
                expires_at: UtcSecond::MAX,
            },
        }
    }

    pub(crate) fn proposal(&self) -> Proposal<'_> {
        Proposal {
            scope: self.scope(),
            terms: Terms {
                request: self.request(),
                profile: self.call.profile,
                revisions: self.contract.revisions.clone(),
                status_ref: self.status_ref(),
            },
            principal: &self.principal,
            call: &self.call,
            fingerprint: self.fingerprint(Purpose::Dispatch),
            contract: &self.contract,
            intent: None,
            downstream_memory: None,
        }
    }

    pub(crate) fn answer(&self, number: u32) -> CheckedAnswer {
        let answer = HandlerAnswer {
            data: json(&format!(r#"{{"n": {number}}}"#)),
            producer_revision: "p1".to_owned(),
            resource_revision: None,
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: None,
            receipt_id: None,
        };
        answer.check(&self.contract, &self.call.arguments).unwrap()
    }
}

fn json(text: &str) -> countersign_canonical::Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}
