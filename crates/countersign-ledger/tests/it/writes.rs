//! Writes of a tool that takes and answers a number.

use std::time::Duration;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    ApprovalDigest, ApprovalId, ApproverId, Arguments, Call, CallFingerprint, CallId,
    CheckedAnswer, HandlerAnswer, IdempotencyKey, OperationId, Principal, Profile, Purpose,
    RequestDigest, ResponseId, Roles, Scope, StatusRef, SubjectId, TenantId, ToolContract,
    UtcSecond,
};
use countersign_dispatch::{Proposal, Reservation, Terms};
use countersign_policy::ApprovalEvidence;

pub(crate) struct Write {
    pub(crate) principal: Principal,
    pub(crate) call: Call,
    pub(crate) contract: ToolContract,
}

impl Write {
    pub(crate) fn new(key: &str, number: usize) -> Self {
        let contract = json(
            r#"{
                "name": "count", "risk": "write", "source_label": "test",
                "revisions": {
                    "input_schema": "i1", "output_schema": "o1", "effect": "e1",
                    "handler": "h1", "producer": "p1", "policy": "r1"
                },
                "arguments": {"n": {"type": "integer"}}, "output": {"n": {"type": "integer"}},
                "limits": {"output_bytes": 64, "output_depth": 1}, "timeout_ms": 500
            }"#,
        );
        let contract = ToolContract::from_value(&contract).unwrap();
        Self {
            principal: Principal {
                tenant_id: TenantId::new("tenant-a").unwrap(),
                subject_id: SubjectId::new("subject-a").unwrap(),
                roles: Roles::default(),
            },
            call: Call {
                profile: Profile::OpenAiResponses,
                response_id: ResponseId::new("response-1").unwrap(),
                call_id: CallId::new(format!("call-{key}-{number}")).unwrap(),
                operation_id: OperationId::new("operation-1").unwrap(),
                idempotency_key: Some(IdempotencyKey::new(key).unwrap()),
                name: contract.name.clone(),
                arguments: Arguments::new(json(&format!(r#"{{"n": {number}}}"#))).unwrap(),
            },
            contract,
        }
    }

    pub(crate) fn request(&self) -> RequestDigest {
        RequestDigest::of(&self.principal, &self.call, Some(&self.contract))
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::of(&self.principal, &self.call).unwrap()
    }

    pub(crate) fn status_ref(&self) -> StatusRef {
        StatusRef::of(&self.scope(), &self.request())
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms {
            request: self.request(),
            profile: self.call.profile,
            revisions: self.contract.revisions.clone(),
            status_ref: self.status_ref(),
        }
    }

    pub(crate) fn proposal(&self) -> Proposal<'_> {
        Proposal {
            scope: self.scope(),
            terms: self.terms(),
            principal: &self.principal,
            call: &self.call,
            fingerprint: CallFingerprint::of(&self.call, Purpose::Dispatch, &self.request()),
            contract: &self.contract,
            intent: None,
            downstream_memory: Some(Duration::from_mins(10)),
        }
    }

    pub(crate) fn evidence(&self, name: &str, expires_at: UtcSecond) -> ApprovalEvidence {
        let approver = ApproverId::new("dana").unwrap();
        ApprovalEvidence {
            approval_id: ApprovalId::new(name).unwrap(),
            digest: ApprovalDigest::of(&self.call, &self.contract, &self.request(), &approver),
            approver,
            expires_at,
        }
    }

    pub(crate) fn reservation(&self, approval: ApprovalEvidence) -> Reservation<'_> {
        Reservation {
            proposal: self.proposal(),
            approval,
        }
    }

    pub(crate) fn answer(&self) -> CheckedAnswer {
        let answer = HandlerAnswer {
            data: json(r#"{"n": 7}"#),
            producer_revision: "p1".to_owned(),
            resource_revision: Some("r-7".to_owned()),
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: None,
            receipt_id: Some("receipt-7".to_owned()),
        };
        answer.check(&self.contract, &self.call.arguments).unwrap()
    }
}

pub(crate) fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}
