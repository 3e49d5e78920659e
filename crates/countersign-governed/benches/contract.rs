//! How fast contracts are checked, on one core.
#![expect(clippy::expect_used, reason = "a benchmark stops where it is broken")]

use std::hint::black_box;

use countersign_canonical::{Limits, Utf8, Value, digest, encode, parse};
use countersign_governed::{
    ActionBinding, ActionId, Catalog, Envelope, Epoch, ExecutionRequest, Intent, OwnerGate,
    Receipt, ShapeRegistry,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const NOW: f64 = 1_784_000_000.0;

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::passthrough()).expect("the fixture is JSON")
}

fn envelope() -> Envelope {
    let context = json(
        r#"{"api_request_id":"req-1","authority_lane":"owner","contact_id":"c-1","platform":"sms","sender_id":"s-1",
        "session_id":"sess-1","task_id":"","tool_call_id":"call-1","turn_id":"turn-1"}"#,
    );
    let arguments = json(r#"{"topic":"history of tea","depth":"deep"}"#);
    let intent = Intent::build(Catalog::colony(), "colony_research", &arguments, &context)
        .expect("a valid call");
    Envelope::build(intent)
}

fn gate(envelope: &Envelope, now: Epoch) -> OwnerGate {
    let action_id = "8f8b2b83-022b-4320-a161-5022409a8a78";
    let action = ActionBinding {
        action_id: ActionId::parse(action_id).expect("an action id"),
        payload_sha256: envelope.sha256(),
    };
    let evidence = json(&format!(
        r#"{{"decision":"approved","authority":"owner","decision_id":"d-1","approval_id":"APR-ABCDEF012345",
        "action_id":"{action_id}","action_digest":"{}","revision":1,"principal":"owner:1","decided_at_epoch":1783999900.0,
        "expires_at_epoch":1784000060.0,"channel":"sms","thread_id":"t","event_id":"e","event_key":"k","delivery_id":"d",
        "delivery_message_id":"m","binding_method":"delivered_reply"}}"#,
        envelope.sha256()
    ));
    let receipt = Receipt {
        receipt_key: "owner-gate".to_owned(),
        kind: "gate".to_owned(),
        status: "passed".to_owned(),
        external_id: Some("APR-ABCDEF012345".to_owned()),
        evidence_sha256: digest::<Utf8>(&evidence),
        evidence,
    };
    let shapes = ShapeRegistry::default();
    OwnerGate::validate(
        &action,
        "colony_research",
        &[receipt],
        now,
        Catalog::colony(),
        &shapes,
    )
    .expect("a valid gate")
}

fn contract(criterion: &mut Criterion) {
    let now = Epoch::from_seconds(NOW).expect("a time");
    let catalog = Catalog::colony();
    let envelope = envelope();
    let bytes = encode::<Utf8>(&envelope.intent().to_value());
    let gate = gate(&envelope, now);
    let mut group = criterion.benchmark_group("contract");
    group.throughput(Throughput::Elements(1));
    group.bench_function("parse_and_verify_intent", |bencher| {
        bencher.iter(|| Intent::parse(catalog, black_box(&bytes)).expect("a valid intent"));
    });
    group.bench_function("build_and_check_request", |bencher| {
        bencher.iter(|| {
            let approval = gate.clone().assert_dispatchable(now).expect("a live gate");
            ExecutionRequest::build(catalog, black_box(&envelope), approval)
                .expect("a valid request")
        });
    });
    let body = ExecutionRequest::build(
        catalog,
        &envelope,
        gate.assert_dispatchable(now).expect("a live gate"),
    )
    .expect("a valid request")
    .body();
    group.bench_function("check_request", |bencher| {
        bencher.iter(|| {
            ExecutionRequest::check(catalog, None, black_box(&body)).expect("a valid request")
        });
    });
    group.finish();
}

criterion_group!(benches, contract);
criterion_main!(benches);
