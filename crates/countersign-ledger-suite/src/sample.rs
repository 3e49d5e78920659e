//! What ledgers are given to store: calls of a tool that takes and answers a number.

use std::time::Duration;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    ApprovalDigest, ApprovalId, ApproverId, Arguments, Call, CallFingerprint, CallId,
    CheckedAnswer, HandlerAnswer, IdempotencyKey, IntentDigest, OperationId, Principal, Profile,
    Purpose, RequestDigest, ResponseId, Revision, Roles, Scope, StatusRef, SubjectId, TenantId,
    ToolContract, ToolName, UtcSecond,
};
use countersign_dispatch::{CallIdentity, Intent, Proposal, Reservation, Terms};
use countersign_ledger::{Decision, GrantId, InstanceId, Moment, Note, Record, State};
use countersign_policy::ApprovalEvidence;

/// The tool's timeout.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(500);

const CONTRACT: &str = r#"{
    "name": "count", "risk": "write", "source_label": "test",
    "revisions": {
        "input_schema": "i1", "output_schema": "o1", "effect": "e1",
        "handler": "h1", "producer": "p1", "policy": "r1"
    },
    "arguments": {"n": {"type": "integer"}}, "output": {"n": {"type": "integer"}},
    "limits": {"output_bytes": 64, "output_depth": 1}, "timeout_ms": 500
}"#;

/// One write. Whatever has the same name has the same key, call and operation id.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) principal: Principal,
    pub(crate) call: Call,
    pub(crate) contract: ToolContract,
    pub(crate) intent: Option<Intent>,
    pub(crate) downstream_memory: Option<Duration>,
}

impl Sample {
    pub(crate) fn new(name: &str) -> Self {
        let contract = ToolContract::from_value(&json(CONTRACT)).unwrap();
        Self {
            principal: Principal {
                tenant_id: tenant("tenant-a"),
                subject_id: SubjectId::new("subject-a").unwrap(),
                roles: Roles::default(),
            },
            call: Call {
                profile: Profile::OpenAiResponses,
                response_id: ResponseId::new("response-1").unwrap(),
                call_id: CallId::new(format!("call-{name}")).unwrap(),
                operation_id: OperationId::new(format!("operation-{name}")).unwrap(),
                idempotency_key: Some(IdempotencyKey::new(format!("key-{name}")).unwrap()),
                name: contract.name.clone(),
                arguments: arguments(1),
            },
            contract,
            intent: None,
            downstream_memory: None,
        }
    }

    pub(crate) fn of_tenant(mut self, name: &str) -> Self {
        self.principal.tenant_id = tenant(name);
        self
    }

    pub(crate) fn of_subject(mut self, name: &str) -> Self {
        self.principal.subject_id = SubjectId::new(name).unwrap();
        self
    }

    pub(crate) fn of_tool(mut self, name: &str) -> Self {
        self.contract.name = tool(name);
        self.call.name = tool(name);
        self
    }

    /// The same under another call identity.
    pub(crate) fn by_call(mut self, name: &str) -> Self {
        self.call.call_id = CallId::new(name).unwrap();
        self
    }

    /// The same key for other arguments.
    pub(crate) fn with_number(mut self, number: u32) -> Self {
        self.call.arguments = arguments(number);
        self
    }

    /// The same under another policy.
    pub(crate) fn under_policy(mut self, revision: &str) -> Self {
        self.contract.revisions.policy = Revision::new(revision).unwrap();
        self
    }

    pub(crate) fn remembered_for(mut self, memory: Duration) -> Self {
        self.downstream_memory = Some(memory);
        self
    }

    /// The same under the key that the host makes for an intent.
    pub(crate) fn under(mut self, intent: Intent) -> Self {
        self.call.idempotency_key = Some(intent.digest.key(intent.generation));
        self.intent = Some(intent);
        self
    }

    pub(crate) fn intent_digest(&self) -> IntentDigest {
        IntentDigest::of(&self.principal, &self.call)
    }

    pub(crate) fn identity(&self) -> CallIdentity {
        CallIdentity::of(&self.principal, &self.call)
    }

    pub(crate) fn request(&self) -> RequestDigest {
        RequestDigest::of(&self.principal, &self.call, Some(&self.contract))
    }

    pub(crate) fn fingerprint(&self) -> CallFingerprint {
        CallFingerprint::of(&self.call, Purpose::Dispatch, &self.request())
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::of(&self.principal, &self.call).unwrap()
    }

    pub(crate) fn status_ref(&self) -> StatusRef {
        StatusRef::of(&self.scope(), &self.request())
    }

    pub(crate) fn proposal(&self) -> Proposal<'_> {
        Proposal {
            scope: self.scope(),
            terms: self.terms(),
            principal: &self.principal,
            call: &self.call,
            fingerprint: self.fingerprint(),
            contract: &self.contract,
            intent: self.intent,
            downstream_memory: self.downstream_memory,
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            request: self.request(),
            profile: self.call.profile,
            revisions: self.contract.revisions.clone(),
            status_ref: self.status_ref(),
        }
    }

    /// An approval of this very call.
    pub(crate) fn evidence(&self, id: &str, by: &str, expires_at: UtcSecond) -> ApprovalEvidence {
        let approver = approver(by);
        ApprovalEvidence {
            approval_id: ApprovalId::new(id).unwrap(),
            digest: ApprovalDigest::of(&self.call, &self.contract, &self.request(), &approver),
            approver,
            expires_at,
        }
    }

    /// A reservation under an approval that never expires, which somebody outside the ledger gave.
    pub(crate) fn reservation(&self, approval_id: &str) -> Reservation<'_> {
        self.reservation_under(self.evidence(approval_id, "dana", UtcSecond::MAX))
    }

    pub(crate) fn reservation_under(&self, approval: ApprovalEvidence) -> Reservation<'_> {
        Reservation {
            proposal: self.proposal(),
            approval,
        }
    }

    pub(crate) fn answer(&self, number: u32) -> CheckedAnswer {
        let answer = HandlerAnswer {
            data: json(&format!(r#"{{"n": {number}}}"#)),
            producer_revision: "p1".to_owned(),
            resource_revision: Some("r-7".to_owned()),
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: None,
            receipt_id: Some(format!("receipt-{number}")),
        };
        answer.check(&self.contract, &self.call.arguments).unwrap()
    }

    /// The record of this write in a state, as a row holds it.
    pub(crate) fn record(&self, state: State, at: Moment) -> Record {
        Record {
            scope: self.scope(),
            terms: self.terms(),
            state,
            fence: 0,
            was_unknown: false,
            intent: self.intent,
            downstream_memory: self.downstream_memory,
            timeout: self.contract.timeout,
            opened_at: at,
            changed_at: at,
            due_at: None,
            visits: 0,
            is_dead_letter: false,
        }
    }
}

pub(crate) fn approve(by: &str, approval_id: &str, expires_at: UtcSecond) -> Decision {
    Decision::Approve {
        by: approver(by),
        approval_id: ApprovalId::new(approval_id).unwrap(),
        expires_at,
    }
}

pub(crate) fn deny(by: &str) -> Decision {
    Decision::Deny {
        by: approver(by),
        reason: Some(note("not today")),
    }
}

pub(crate) fn approver(name: &str) -> ApproverId {
    ApproverId::new(name).unwrap()
}

pub(crate) fn note(text: &str) -> Note {
    Note::new(text).unwrap()
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

pub(crate) fn tool(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

pub(crate) fn instance(name: &str) -> InstanceId {
    InstanceId::new(name).unwrap()
}

pub(crate) fn grant_id(name: &str) -> GrantId {
    GrantId::new(name).unwrap()
}

fn arguments(number: u32) -> Arguments {
    Arguments::new(json(&format!(r#"{{"n": {number}}}"#))).unwrap()
}

pub(crate) fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}
