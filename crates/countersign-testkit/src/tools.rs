//! The two tools of every world, and the calls that can be made of them.

use std::time::Duration;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    ApprovalId, ApproverId, Arguments, Call, CallId, HandlerAnswer, IdempotencyKey, OperationId,
    Principal, Profile, ResponseId, Role, Roles, SubjectId, TenantId, ToolContract, ToolName,
};
use countersign_ledger::Note;

/// How long either tool may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// How long the downstream of [`Tool::Letter`] knows a key again.
pub(crate) const MEMORY: Duration = Duration::from_mins(10);
/// Who may act for a subject.
const ROLE: &str = "agent";

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// Its downstream does again whatever it is told again.
    Payment,
    /// Its downstream knows a key again for a while.
    Letter,
}

impl Tool {
    pub(crate) const ALL: [Self; 2] = [Self::Payment, Self::Letter];

    pub(crate) fn name(self) -> ToolName {
        proven(ToolName::new(self.text()))
    }

    fn text(self) -> &'static str {
        match self {
            Self::Payment => "send_payment",
            Self::Letter => "send_letter",
        }
    }

    pub(crate) fn named(name: &ToolName) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|tool| tool.text() == name.as_str())
    }

    pub(crate) fn memory(self) -> Option<Duration> {
        match self {
            Self::Payment => None,
            Self::Letter => Some(MEMORY),
        }
    }

    /// Its contract in some revisions.
    pub(crate) fn contract(self, revisions: ToolRevisions) -> ToolContract {
        let ToolRevisions {
            policy,
            handler,
            effect,
        } = revisions;
        let document = format!(
            r#"{{
            "name": "{name}", "risk": "write", "source_label": "simulation",
            "revisions": {{
                "input_schema": "input-1", "output_schema": "output-1", "effect": "effect-{effect}",
                "handler": "handler-{handler}", "producer": "producer-1", "policy": "policy-{policy}"
            }},
            "arguments": {{"order": {{"type": "string", "min_length": 1, "max_length": 16}}}},
            "output": {{
                "number": {{"type": "string", "max_length": 64}},
                "order": {{"type": "string", "max_length": 16, "equals_argument": "order"}}
            }},
            "limits": {{"output_bytes": 256, "output_depth": 1}},
            "timeout_ms": {timeout}
        }}"#,
            name = self.text(),
            timeout = TIMEOUT.as_millis(),
        );
        let value = proven(parse(document.as_bytes(), &Limits::tool_result()));
        proven(ToolContract::from_value(&value))
    }
}

/// Which revisions of its contract a tool has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolRevisions {
    pub(crate) policy: u8,
    pub(crate) handler: u8,
    pub(crate) effect: u8,
}

/// What somebody wants done. Small numbers stand for names, so that lists of actions stay readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Whose wish.
    pub subject: u8,
    /// With which tool.
    pub tool: Tool,
    /// On which order.
    pub order: u8,
    /// Under which key of the caller's own; nothing where the host makes it.
    pub key: Option<u8>,
    /// The call's id: the same for a call that is sent again.
    pub id: u8,
}

impl Wish {
    /// The call, without a key where the host makes it.
    pub(crate) fn call(self) -> Call {
        let order = format!("order-{}", self.order);
        let arguments = Value::from([("order", order.as_str().into())]);
        let key = self.key.map(|key| format!("key-{key}"));
        Call {
            profile: Profile::AnthropicMessages,
            response_id: proven(ResponseId::new(format!("response-{}", self.id))),
            call_id: proven(CallId::new(format!("call-{}", self.id))),
            operation_id: proven(OperationId::new(format!("operation-{}", self.id))),
            idempotency_key: key.map(|key| proven(IdempotencyKey::new(key))),
            name: self.tool.name(),
            arguments: proven(Arguments::new(arguments)),
        }
    }
}

/// The principal of a subject, with or without its role.
pub(crate) fn principal(subject: u8, has_role: bool) -> Principal {
    let roles = if has_role {
        vec![proven(Role::new(ROLE))]
    } else {
        Vec::new()
    };
    Principal {
        tenant_id: tenant(),
        subject_id: subject_id(subject),
        roles: proven(Roles::new(roles)),
    }
}

pub(crate) fn has_role(principal: &Principal) -> bool {
    principal.roles.contains(ROLE)
}

pub(crate) fn tenant() -> TenantId {
    proven(TenantId::new("tenant"))
}

pub(crate) fn subject_id(subject: u8) -> SubjectId {
    proven(SubjectId::new(format!("subject-{subject}")))
}

pub(crate) fn approver_id(approver: u8) -> ApproverId {
    proven(ApproverId::new(format!("approver-{approver}")))
}

pub(crate) fn approval_id(number: usize) -> ApprovalId {
    proven(ApprovalId::new(format!("approval-{number}")))
}

pub(crate) fn note(number: usize) -> Note {
    present(Note::new(&format!(
        "looked at the downstream, ruling-{number}"
    )))
}

/// What the downstream answers about its effect of a number.
pub(crate) fn answer(number: usize, order: &str) -> HandlerAnswer {
    let effect = format!("EFFECT-{number}");
    HandlerAnswer {
        data: Value::from([("number", effect.as_str().into()), ("order", order.into())]),
        producer_revision: "producer-1".to_owned(),
        resource_revision: None,
        observed_at: "2026-12-01T00:00:00Z".to_owned(),
        downstream_request_id: None,
        receipt_id: Some(format!("receipt-{number}")),
    }
}

#[expect(
    clippy::expect_used,
    reason = "what it is given is part of this program, and every run reads it"
)]
pub(crate) fn proven<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.expect("the simulation's own data is in order")
}

#[expect(
    clippy::expect_used,
    reason = "what it is given is part of this program, and every run reads it"
)]
pub(crate) fn present<T>(option: Option<T>) -> T {
    option.expect("the simulation's own data is in order")
}
