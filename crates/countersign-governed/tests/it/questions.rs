//! Documents that a command line reads from a file.

use countersign_governed::{
    Catalog, Epoch, ExecutionRequest, ShapeRegistry, build_intent_document, build_request_document,
    check_gate_document, check_result_document,
};
use serde_json::json;

use crate::fixtures::{
    ACTION_ID, NOW, action, context, delivery_evidence, envelope, json_of, receipt, request, value,
};

fn receipts() -> serde_json::Value {
    let receipt = receipt(&delivery_evidence(&action(&envelope())));
    json!([
        {"receipt_key": "n", "kind": "note", "status": "passed", "external_id": null, "evidence": {},
         "evidence_sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
        {"receipt_key": receipt.receipt_key, "kind": receipt.kind, "status": receipt.status,
         "external_id": receipt.external_id, "evidence": json_of(&receipt.evidence),
         "evidence_sha256": receipt.evidence_sha256.to_string()},
    ])
}

#[test]
fn a_call_becomes_an_intent() {
    let call = json!({"tool": "colony_research", "args": {"topic": "history of tea 🍵"}, "context": context()});
    let intent = build_intent_document(Catalog::colony(), &value(&call)).unwrap();
    assert_eq!(intent, *envelope().intent());
    for (field, place) in [
        ("tool", "/tool"),
        ("args", "/args"),
        ("context", "/context"),
    ] {
        let mut shorter = call.clone();
        shorter.as_object_mut().unwrap().remove(field);
        let faults = build_intent_document(Catalog::colony(), &value(&shorter)).unwrap_err();
        assert_eq!(faults.to_string(), format!("{place}: is missing"));
    }
}

#[test]
fn an_approved_action_becomes_a_request() {
    let document = json!({
        "action_id": ACTION_ID, "envelope": json_of(envelope().value()), "receipts": receipts(), "now": NOW,
    });
    let build = |document: &serde_json::Value, now: Option<f64>| {
        let now = now.map(|now| Epoch::from_seconds(now).unwrap());
        build_request_document(
            Catalog::colony(),
            &ShapeRegistry::default(),
            &value(document),
            now,
        )
    };
    let approved: ExecutionRequest = build(&document, None).unwrap();
    assert_eq!(approved, request());
    let late = build(&document, Some(NOW + 60.0)).unwrap_err();
    assert_eq!(late.to_string(), "the document: has expired");
    let mut spoiled = document.clone();
    spoiled["action_id"] = json!("8F8B2B83-022B-4320-A161-5022409A8A78");
    spoiled["receipts"][1]["evidence_sha256"] = json!("x");
    spoiled["envelope"]["intent"]["args"]["topic"] = json!(1);
    spoiled["extra"] = json!(1);
    insta::assert_snapshot!(build(&spoiled, None).unwrap_err(), @r"
    /extra: is not a field of this contract
    /action_id: must be an action id (a lower-case UUID of version 4)
    /envelope/intent/args/topic: must be text
    /envelope/intent/args_sha256: is not the digest of args
    /receipts/1/evidence_sha256: must be a SHA-256 digest (64 lower-case hexadecimal digits)
    ");
}

#[test]
fn a_gate_and_a_result_are_judged_at_the_time_that_is_given() {
    let bound = action(&envelope());
    let gate = json!({
        "action": {"action_id": ACTION_ID, "payload_sha256": bound.payload_sha256.to_string()},
        "tool": "colony_research", "receipts": receipts(),
    });
    let check = |now: Option<Epoch>| {
        check_gate_document(
            Catalog::colony(),
            &ShapeRegistry::default(),
            &value(&gate),
            now,
        )
    };
    assert_eq!(check(None).unwrap_err().to_string(), "/now: is missing");
    let answer = check(Epoch::from_seconds(NOW)).unwrap();
    assert!(!answer.gate.is_expired(answer.now));
    let early = check(Epoch::from_seconds(NOW - 131.0)).unwrap_err();
    assert!(early.to_string().contains("in the future"), "{early}");
    assert!(
        check_result_document(
            &value(&json!({"request": {}, "result": {}, "now": true})),
            None
        )
        .is_err()
    );
}
