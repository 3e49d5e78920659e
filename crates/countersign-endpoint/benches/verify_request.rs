//! What it costs to read and verify one typical request.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the request is of the benchmark's own making"
)]

use std::hint::black_box;

use countersign_endpoint::{Catalog, ExecutionRequest, parse, sha256_json_ascii, sha256_json_utf8};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const ACTION: &str = "11cbc288-4a50-42dc-982c-18c92f429ce5";

fn verify_request(criterion: &mut Criterion) {
    let body = typical_body();
    let catalog = Catalog::colony();
    assert!(ExecutionRequest::parse(ACTION, &body, &catalog).is_ok());

    let mut group = criterion.benchmark_group("request");
    group.throughput(Throughput::Elements(1));
    group.bench_function(format!("verify {} bytes", body.len()), |bencher| {
        bencher.iter(|| ExecutionRequest::parse(ACTION, black_box(&body), &catalog));
    });
    group.bench_function("parse only", |bencher| {
        bencher.iter(|| parse(black_box(&body)));
    });
    group.finish();
}

/// A request of about a kibibyte, as a host's worker sends it.
fn typical_body() -> Vec<u8> {
    let mut request = serde_json::json!({
        "schema": "ColonyGovernedActionExecutionV1",
        "version": 1,
        "action_id": ACTION,
        "action_digest": "ab".repeat(32),
        "intent_id": format!("hti_{}", "c".repeat(32)),
        "intent_digest": "de".repeat(32),
        "tool_name": "colony_record_insight",
        "args": {"content": "Prefers tea, and café au lait on Sundays 😀. ".repeat(3), "insight_type": "preference", "confidence": 0.7},
        "approval": {
            "schema": "ColonyOwnerApprovalExecutionBindingV1",
            "version": 1,
            "approval_id": "APR-2F238499DA36",
            "decision_id": "dec:1/2",
            "revision": 1,
            "authorization_receipt_sha256": "0f".repeat(32),
            "decided_at": 1_784_000_000.0,
            "expires_at": 1_784_000_600.0,
        },
    });
    let arguments = parse(request["args"].to_string().as_bytes()).expect("strict JSON");
    request["args_sha256"] = sha256_json_ascii(&arguments).to_string().into();
    let unsigned = parse(request.to_string().as_bytes()).expect("strict JSON");
    request["execution_digest"] = sha256_json_utf8(&unsigned).to_string().into();
    request.to_string().into_bytes()
}

criterion_group!(benches, verify_request);
criterion_main!(benches);
