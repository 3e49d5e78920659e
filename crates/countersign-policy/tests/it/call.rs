//! Calls to be decided about.

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    Arguments, Call, CallId, IdempotencyKey, OperationId, Principal, Profile, ResponseId, Role,
    Roles, SubjectId, TenantId, ToolContract, ToolName,
};
use countersign_policy::{AccessRequest, RuleBook};

/// One call with everything that a policy sees.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) principal: Principal,
    pub(crate) call: Call,
    pub(crate) contract: ToolContract,
}

impl Asked {
    pub(crate) fn new(
        [tenant, subject]: [&str; 2],
        roles: &[&str],
        tool: &str,
        arguments: &str,
    ) -> Self {
        let roles = roles.iter().map(|role| Role::new(role).unwrap()).collect();
        Self {
            principal: Principal {
                tenant_id: TenantId::new(tenant).unwrap(),
                subject_id: SubjectId::new(subject).unwrap(),
                roles: Roles::new(roles).unwrap(),
            },
            call: Call {
                profile: Profile::OpenAiResponses,
                response_id: ResponseId::new("response-1").unwrap(),
                call_id: CallId::new("call-1").unwrap(),
                operation_id: OperationId::new("operation-1").unwrap(),
                idempotency_key: Some(IdempotencyKey::new("key-1").unwrap()),
                name: ToolName::new(tool).unwrap(),
                arguments: Arguments::new(json(arguments)).unwrap(),
            },
            contract: contract(tool),
        }
    }

    pub(crate) fn access(&self) -> AccessRequest<'_> {
        AccessRequest {
            principal: &self.principal,
            call: &self.call,
            contract: &self.contract,
        }
    }
}

pub(crate) fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}

pub(crate) fn book(text: &str) -> RuleBook {
    RuleBook::from_value(&json(text)).unwrap()
}

fn contract(tool: &str) -> ToolContract {
    let document = format!(
        r#"{{
            "name": "{tool}", "risk": "write", "source_label": "test",
            "revisions": {{
                "input_schema": "input-v1", "output_schema": "output-v1", "effect": "effect-v1",
                "handler": "handler-v1", "producer": "producer-v1", "policy": "policy-v1"
            }},
            "arguments": {{}}, "output": {{}},
            "limits": {{"output_bytes": 64, "output_depth": 1}}, "timeout_ms": 500
        }}"#
    );
    ToolContract::from_value(&json(&document)).unwrap()
}
