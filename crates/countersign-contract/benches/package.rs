//! Packages: building one from its parts, and proving that one belongs to its call.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark stops where its own input is wrong"
)]

use std::hint::black_box;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    Call, CheckedAnswer, Delivery, ErrorCode, HandlerAnswer, Package, Principal, RequestDigest,
    Scope, StatusRef, ToolContract, UtcSecond, verify,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A write's call, with what its results are made of.
struct Setting {
    principal: Principal,
    call: Call,
    contract: ToolContract,
    answer: CheckedAnswer,
}

impl Setting {
    fn new() -> Self {
        let contract = include_bytes!("../../../testdata/contracts/create_refund_draft.json");
        let contract = ToolContract::from_value(&json(contract)).unwrap();
        let call = Call::from_value(&json(
            br#"{
                "provider": "openai", "api_family": "responses", "adapter_revision": "openai-responses-v1",
                "response_id": "resp_68a1f2c3d4e5f60718293a4b5c6d7e8f", "call_id": "call_Yc1BzDqL0tXvH2mKpR7sWfGn",
                "operation_id": "operation-0193-7f3a", "idempotency_key": "refund-ORDER-7-2026-07-19",
                "name": "create_refund_draft", "arguments": {"order_ref": "ORDER-7", "reason": "damaged"}
            }"#,
        ))
        .unwrap();
        let principal =
            json(br#"{"tenant_id": "tenant-a", "subject_id": "user-1", "roles": ["support"]}"#);
        let answer = HandlerAnswer {
            data: json(br#"{"draft_id": "DRAFT-1", "order_ref": "ORDER-7", "reason": "damaged"}"#),
            producer_revision: "refunds-mock-v2".to_owned(),
            resource_revision: Some("draft-1-r1".to_owned()),
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: Some("refund-request-1".to_owned()),
            receipt_id: Some("refund-receipt-1".to_owned()),
        };
        Self {
            principal: Principal::from_value(&principal).unwrap(),
            answer: answer.check(&contract, &call.arguments).unwrap(),
            call,
            contract,
        }
    }

    fn request(&self) -> RequestDigest {
        RequestDigest::of(&self.principal, &self.call, Some(&self.contract))
    }

    fn status_ref(&self, request: &RequestDigest) -> Option<StatusRef> {
        Scope::of(&self.principal, &self.call).map(|scope| StatusRef::of(&scope, request))
    }

    fn success(&self) -> Package {
        let request = self.request();
        Package::success(
            &self.principal,
            &self.call,
            &self.contract,
            request,
            &self.answer,
            self.status_ref(&request),
            Delivery::Fresh,
        )
    }

    fn error(&self) -> Package {
        let request = self.request();
        Package::error(
            &self.principal,
            &self.call,
            Some(&self.contract),
            request,
            ErrorCode::OutcomeUnknown,
            UtcSecond::new(1_784_419_200).unwrap(),
            self.status_ref(&request),
        )
    }
}

fn json(text: &[u8]) -> Value {
    parse(text, &Limits::tool_result()).unwrap()
}

fn packages(criterion: &mut Criterion) {
    let setting = Setting::new();
    let mut group = criterion.benchmark_group("package");
    group.throughput(Throughput::Elements(1));
    for (kind, package) in [("success", setting.success()), ("error", setting.error())] {
        let value = Value::from(&package);
        group.bench_function(format!("verify_{kind}"), |bencher| {
            bencher.iter(|| {
                verify(
                    &setting.principal,
                    &setting.call,
                    Some(&setting.contract),
                    black_box(&value),
                )
                .unwrap()
            });
        });
        group.bench_function(format!("to_canonical_{kind}"), |bencher| {
            bencher.iter(|| black_box(&package).to_canonical());
        });
    }
    group.bench_function("build_success", |bencher| {
        bencher.iter(|| setting.success());
    });
    group.bench_function("build_error", |bencher| {
        bencher.iter(|| setting.error());
    });
    group.bench_function("build_and_verify_success", |bencher| {
        bencher.iter(|| {
            setting
                .success()
                .verify(&setting.principal, &setting.call, Some(&setting.contract))
                .map(|proof| proof.model_result().len())
                .unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, packages);
criterion_main!(benches);
