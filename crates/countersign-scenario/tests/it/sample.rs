//! A small fixture that passes, and ways to change it.

use countersign_scenario::{Error, Fixture, Run, RunError, run};
use serde_json::{Value, json};

/// One refund that is drafted, lost on the way, and reconciled.
pub(crate) fn fixture() -> Value {
    json!({
        "schema_version": "tool-cases-v2",
        "contract": {"model_result": "tool-model-result-v2", "protected_audit": "tool-audit-v2"},
        "cases": [{
            "id": "refund",
            "principal": {"tenant_id": "tenant-a", "subject_id": "user-1", "roles": []},
            "steps": [lost(), asked()],
        }],
    })
}

fn lost() -> Value {
    step(
        "lost",
        &json!({"action": "dispatch", "approval": "valid", "failure": "timeout_after_commit", "status_ref_from": null}),
        &json!({
            "code": "OUTCOME_UNKNOWN", "status": "unknown", "outcome": "unknown", "recovery": "query_status",
            "delivery": "fresh", "data": null, "side_effect_count": 1,
        }),
    )
}

fn asked() -> Value {
    step(
        "asked",
        &json!({"action": "query_status", "approval": "none", "failure": "none", "status_ref_from": "lost"}),
        &json!({
            "code": "OK", "status": "succeeded", "outcome": "committed", "recovery": "none",
            "delivery": "receipt_reconciled",
            "data": {"draft_id": "DRAFT-1", "order_ref": "ORDER-7", "reason": "damaged"},
            "side_effect_count": 1,
        }),
    )
}

fn step(id: &str, how: &Value, expected: &Value) -> Value {
    let mut step = json!({
        "step_id": id,
        "proposal": {"name": "create_refund_draft", "arguments": {"order_ref": "ORDER-7", "reason": "damaged"}},
        "execution_context": {
            "provider": "openai", "api_family": "responses", "adapter_revision": "openai-responses-v1",
            "response_id": "response-1", "call_id": format!("call-{id}"), "operation_id": "operation-1",
            "idempotency_key": "key-1",
        },
        "now": 1_784_419_200,
        "expected": expected,
    });
    for (name, value) in how.as_object().unwrap() {
        step[name] = value.clone();
    }
    step
}

/// The fixture with other values at JSON pointers; without a value the member is removed.
pub(crate) fn changed(changes: &[(&str, Option<Value>)]) -> Value {
    let mut fixture = fixture();
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = fixture.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(object), Some(value)) => {
                object.insert(name.to_owned(), value.clone());
            }
            (Value::Object(object), None) => {
                object.remove(name).unwrap();
            }
            (Value::Array(items), Some(value)) => {
                items[name.parse::<usize>().unwrap()] = value.clone();
            }
            (parent, _) => panic!("{pointer} leads to {parent}"),
        }
    }
    fixture
}

pub(crate) fn read(fixture: &Value) -> Result<Fixture, Error> {
    Fixture::read(fixture.to_string().as_bytes())
}

pub(crate) fn ran(fixture: &Value) -> Result<Run, RunError> {
    run(&read(fixture).unwrap_or_else(|error| panic!("{error}")))
}
