//! Documents that are valid until a test spoils them.

use countersign_canonical::{Limits, Utf8, Value, digest, encode, parse};
use countersign_governed::{
    ActionBinding, ActionId, Catalog, DispatchableGate, Envelope, Epoch, ExecutionRequest, Faults,
    Intent, OwnerGate, Receipt, ShapeRegistry,
};
use serde_json::json;

pub(crate) const ACTION_ID: &str = "8f8b2b83-022b-4320-a161-5022409a8a78";
pub(crate) const NOW: f64 = 1_784_000_000.0;

pub(crate) fn now() -> Epoch {
    Epoch::from_seconds(NOW).unwrap()
}

pub(crate) fn value(json: &serde_json::Value) -> Value {
    parse(json.to_string().as_bytes(), &Limits::passthrough()).unwrap()
}

pub(crate) fn json_of(value: &Value) -> serde_json::Value {
    serde_json::from_slice(&encode::<Utf8>(value)).unwrap()
}

pub(crate) fn context() -> serde_json::Value {
    json!({
        "api_request_id": "req-1", "authority_lane": "owner", "contact_id": "c-1", "platform": "sms",
        "sender_id": "s-1", "session_id": "sess-1", "task_id": "", "tool_call_id": "call-1", "turn_id": "turn-é",
    })
}

pub(crate) fn intent(tool: &str, arguments: &serde_json::Value) -> Result<Intent, Faults> {
    Intent::build(
        Catalog::colony(),
        tool,
        &value(arguments),
        &value(&context()),
    )
}

pub(crate) fn envelope() -> Envelope {
    Envelope::build(intent("colony_research", &json!({"topic": "history of tea 🍵"})).unwrap())
}

pub(crate) fn action(envelope: &Envelope) -> ActionBinding {
    ActionBinding {
        action_id: ActionId::parse(ACTION_ID).unwrap(),
        payload_sha256: envelope.sha256(),
    }
}

pub(crate) fn delivery_evidence(action: &ActionBinding) -> serde_json::Value {
    json!({
        "decision": "approved", "authority": "owner", "decision_id": "d-1", "approval_id": "APR-ABCDEF012345",
        "action_id": action.action_id.as_str(), "action_digest": action.payload_sha256.to_string(), "revision": 1,
        "principal": "owner:1", "decided_at_epoch": NOW - 100.0, "expires_at_epoch": NOW + 60.0, "channel": "sms",
        "thread_id": "t", "event_id": "e", "event_key": "k", "delivery_id": "d", "delivery_message_id": "m",
        "binding_method": "delivered_reply",
    })
}

pub(crate) fn grant_evidence(action: &ActionBinding) -> serde_json::Value {
    json!({
        "decision": "approved", "authority": "owner", "decision_id": "d-1", "approval_id": "APR-ABCDEF012345",
        "action_id": action.action_id.as_str(), "action_digest": action.payload_sha256.to_string(), "revision": 1,
        "principal": "owner:1", "decided_at_epoch": NOW - 100.0, "expires_at_epoch": NOW + 60.0,
        "bounded_grant_id": "g-1", "approval_source_request_id": "r-1", "bounded_grant_expires_at_epoch": "unlimited",
        "binding_method": "bounded_grant",
    })
}

pub(crate) fn receipt(evidence: &serde_json::Value) -> Receipt {
    let evidence = value(evidence);
    Receipt {
        receipt_key: "owner-gate".to_owned(),
        kind: "gate".to_owned(),
        status: "passed".to_owned(),
        external_id: Some("APR-ABCDEF012345".to_owned()),
        evidence_sha256: digest::<Utf8>(&evidence),
        evidence,
    }
}

pub(crate) fn validate(
    action: &ActionBinding,
    tool: &str,
    receipts: &[Receipt],
) -> Result<OwnerGate, Faults> {
    OwnerGate::validate(
        action,
        tool,
        receipts,
        now(),
        Catalog::colony(),
        &ShapeRegistry::default(),
    )
}

pub(crate) fn approval(envelope: &Envelope) -> DispatchableGate {
    let action = action(envelope);
    let receipts = [receipt(&delivery_evidence(&action))];
    let tool = envelope.intent().tool_name().as_str();
    validate(&action, tool, &receipts)
        .unwrap()
        .assert_dispatchable(now())
        .unwrap()
}

pub(crate) fn request() -> ExecutionRequest {
    let envelope = envelope();
    ExecutionRequest::build(Catalog::colony(), &envelope, approval(&envelope)).unwrap()
}

/// Ways to spoil a value without making it equal to what it was.
pub(crate) fn spoiled(original: &serde_json::Value) -> Vec<serde_json::Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(1),
        json!(1.0),
        json!("1"),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!("0".repeat(64)),
        json!(-9_223_372_036_854_775_808_i64),
        json!(18_446_744_073_709_551_615_u64),
    ];
    if let Some(text) = original.as_str() {
        values.extend([
            json!(format!("{text}\n")),
            json!(format!("{text}0")),
            json!(text.to_uppercase()),
            json!(text.chars().skip(1).collect::<String>()),
            json!(format!("\u{1c}{text}")),
            json!(format!("{text}\0")),
        ]);
    }
    values.retain(|value| value != original);
    values
}
