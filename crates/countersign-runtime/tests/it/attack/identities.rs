//! Call identities, keys, revisions, and what has changed between two calls.

use countersign_contract::UtcSecond;
use countersign_contract::{OperationId, Profile, ResponseId};
use countersign_dispatch::{DispatchRequest, MemoryLedger, ledger};
use countersign_runtime::dispatch;
use countersign_shop::{Disturbance, OrderStatus};

use super::stage::{
    Attempt, Change, FRESH, NOW, RECONCILED, REPLAY, Stage, principal, revision, said,
};

#[test]
fn one_identity_means_one_request() {
    let changes: [(&str, Change<Attempt>); 4] = [
        ("key", |other| *other = other.clone().key("key-2")),
        ("no key", |other| other.call.idempotency_key = None),
        ("arguments", |other| {
            *other = other
                .clone()
                .arguments(r#"{"order_ref": "ORDER-7", "reason": "other"}"#);
        }),
        ("operation", |other| {
            other.call.operation_id = OperationId::new("operation-2").unwrap();
        }),
    ];
    for (what, change) in changes {
        let stage = Stage::default();
        assert_eq!(stage.says(&Attempt::approved_refund()), (FRESH, 1));
        let other = Attempt::refund().with(change).approved();
        assert_eq!(stage.says(&other), ("CALL_ID_CONFLICT", 1), "{what}");
        // In another response it is another call.
        let elsewhere = other
            .with(|other| other.call.response_id = ResponseId::new("response-2").unwrap())
            .approved();
        assert_ne!(stage.says(&elsewhere).0, "CALL_ID_CONFLICT", "{what}");
    }
}

#[test]
fn keyless_and_then_keyed_is_a_conflict() {
    let stage = Stage::default();
    let keyed = Attempt::approved_refund();
    let keyless = keyed
        .clone()
        .with(|attempt| attempt.call.idempotency_key = None);
    assert_eq!(
        stage.says(&keyless.clone().approved()),
        ("IDEMPOTENCY_KEY_REQUIRED", 0)
    );
    assert_eq!(stage.says(&keyed), ("CALL_ID_CONFLICT", 0));
    assert_eq!(stage.says(&keyless), ("IDEMPOTENCY_KEY_REQUIRED", 0));
    assert_eq!(stage.says(&keyed.call_id("call-2").approved()), (FRESH, 1));
}

#[test]
fn asking_and_acting_never_share_an_identity() {
    let stage = Stage::default();
    let lost = Attempt::approved_refund().disturbed(Disturbance::AnswerLost);
    assert_eq!(stage.says(&lost), ("OUTCOME_UNKNOWN", 1));
    // An identity that acted does not ask.
    assert_eq!(stage.status(&lost, "call-1"), ("CALL_ID_CONFLICT", 1));
    // One that asked does not act, not even under a free key.
    assert_eq!(stage.status(&lost, "question-1"), (RECONCILED, 1));
    for key in ["key-1", "key-2"] {
        let acting = Attempt::refund().call_id("question-1").key(key).approved();
        assert_eq!(stage.says(&acting), ("CALL_ID_CONFLICT", 1), "{key}");
    }
    // An identity that was only refused has asked all the same.
    assert_eq!(
        stage.status(&Attempt::refund().key("key-3"), "question-2"),
        ("NOT_FOUND", 1)
    );
    let acting = Attempt::refund()
        .call_id("question-2")
        .key("key-3")
        .approved();
    assert_eq!(stage.says(&acting), ("CALL_ID_CONFLICT", 1));
}

#[test]
fn another_principal_owns_other_identities_and_keys() {
    let stage = Stage::default();
    assert_eq!(stage.says(&Attempt::approved_refund()), (FRESH, 1));
    // The same response, call and key in another tenant: unrelated in every way.
    let elsewhere = Attempt::refund()
        .with(|attempt| attempt.principal = principal("tenant-b", "user-1", &[]))
        .arguments(r#"{"order_ref": "ORDER-9", "reason": "duplicate"}"#)
        .approved();
    assert_eq!(stage.says(&elsewhere), (FRESH, 2));
    assert_eq!(stage.says(&elsewhere), (REPLAY, 2));
}

#[test]
fn a_key_means_one_request_under_one_contract() {
    let cases: [(&str, Change<Attempt>, &str); 8] = [
        (
            "request",
            |other| {
                *other = other
                    .clone()
                    .arguments(r#"{"order_ref": "ORDER-7", "reason": "other"}"#);
            },
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "profile",
            |other| other.call.profile = Profile::GeminiInteractions,
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "input revision",
            |other| other.contract.revisions.input_schema = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "output revision",
            |other| other.contract.revisions.output_schema = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "effect revision",
            |other| other.contract.revisions.effect = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "handler revision",
            |other| other.contract.revisions.handler = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "producer revision",
            |other| other.contract.revisions.producer = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "policy revision",
            |other| other.contract.revisions.policy = revision("other"),
            REPLAY,
        ),
    ];
    for (what, change, code) in cases {
        let stage = Stage::default();
        assert_eq!(stage.says(&Attempt::approved_refund()), (FRESH, 1));
        let other = Attempt::refund().call_id("call-2").with(change).approved();
        assert_eq!(stage.says(&other), (code, 1), "{what}");
    }
}

#[test]
fn an_unknown_outcome_does_not_ask_for_the_handler() {
    let cases: [(&str, Change<Attempt>, &str); 6] = [
        (
            "request",
            |other| {
                *other = other
                    .clone()
                    .arguments(r#"{"order_ref": "ORDER-7", "reason": "other"}"#);
            },
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "profile",
            |other| other.call.profile = Profile::GeminiInteractions,
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "effect revision",
            |other| other.contract.revisions.effect = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "producer revision",
            |other| other.contract.revisions.producer = revision("other"),
            "IDEMPOTENCY_CONFLICT",
        ),
        (
            "handler revision",
            |other| other.contract.revisions.handler = revision("other"),
            "OUTCOME_UNKNOWN",
        ),
        (
            "policy revision",
            |other| other.contract.revisions.policy = revision("other"),
            "OUTCOME_UNKNOWN",
        ),
    ];
    for (what, change, code) in cases {
        let stage = Stage::default();
        let lost = Attempt::approved_refund().disturbed(Disturbance::AnswerAndReceiptLost);
        assert_eq!(stage.says(&lost), ("OUTCOME_UNKNOWN", 1));
        let other = Attempt::refund().call_id("call-2").with(change).approved();
        assert_eq!(stage.says(&other), (code, 1), "{what}");
    }
}

#[test]
fn the_state_counts_until_the_first_attempt_and_no_longer() {
    for moved in [OrderStatus::Pending, OrderStatus::Refunded] {
        let stage = Stage::default();
        let attempt = Attempt::approved_refund();
        stage.shop.set_order_status("ORDER-7", moved);
        assert_eq!(stage.says(&attempt), ("BUSINESS_RULE_VIOLATION", 0));
        // The approval outlives the refusal.
        stage.shop.set_order_status("ORDER-7", OrderStatus::Paid);
        assert_eq!(stage.says(&attempt), (FRESH, 1));
        stage.shop.set_order_status("ORDER-7", moved);
        assert_eq!(stage.says(&attempt), (REPLAY, 1));
    }
}

#[test]
fn rights_count_every_time() {
    let stage = Stage::default();
    let support = Attempt::refund()
        .with(|attempt| attempt.principal = principal("tenant-a", "helper", &["support_admin"]))
        .approved();
    let revoked = support
        .clone()
        .with(|attempt| attempt.principal = principal("tenant-a", "helper", &[]));
    assert_eq!(stage.says(&revoked), ("NOT_FOUND", 0));
    assert_eq!(stage.says(&support), (FRESH, 1));
    assert_eq!(stage.says(&revoked), ("NOT_FOUND", 1));
    assert_eq!(stage.says(&support), (REPLAY, 1));

    let lost = support
        .key("key-2")
        .call_id("call-2")
        .approved()
        .disturbed(Disturbance::AnswerLost);
    assert_eq!(stage.says(&lost), ("OUTCOME_UNKNOWN", 2));
    let revoked = lost
        .clone()
        .with(|attempt| attempt.principal = principal("tenant-a", "helper", &[]));
    assert_eq!(stage.says(&revoked), ("NOT_FOUND", 2));
    assert_eq!(stage.status(&revoked, "question-1"), ("NOT_FOUND", 2));
    assert_eq!(stage.status(&lost, "question-1"), (RECONCILED, 2));
}

#[test]
fn absent_and_forbidden_look_the_same() {
    let stage = Stage::default();
    let seen = ["ORDER-8", "ORDER-9", "ORDER-404", "order-7"].map(|order| {
        let attempt = Attempt::read()
            .call_id(order)
            .arguments(&format!(r#"{{"order_ref": "{order}"}}"#));
        let package = stage.package(&attempt).unwrap();
        let proof = package
            .verify(&attempt.principal, &attempt.call, Some(&attempt.contract))
            .unwrap();
        proof.model_result().to_owned()
    });
    assert!(seen[0].contains("NOT_FOUND"), "{}", seen[0]);
    assert!(seen.iter().all(|text| *text == seen[0]), "{seen:?}");
}

#[test]
fn what_the_contract_refuses_binds_nothing() {
    let stage = Stage::default();
    for faulty in [
        r#"{"order_ref": "ORDER-7"}"#,
        r#"{"order_ref": "ORDER-7", "reason": "whim"}"#,
        r#"{"order_ref": "ORDER-7", "reason": "other", "amount": 5}"#,
        r#"{"order_ref": 7, "reason": "other"}"#,
        r#"{"order_ref": " ", "reason": "other"}"#,
        r#""{\"order_ref\": \"ORDER-7\", \"reason\": \"other\"}""#,
        "null",
        "[]",
    ] {
        let attempt = Attempt::refund().arguments(faulty).approved();
        assert_eq!(stage.says(&attempt), ("INVALID_ARGUMENTS", 0), "{faulty}");
        assert_eq!(
            stage.status(&attempt, "question-1"),
            ("INVALID_ARGUMENTS", 0),
            "{faulty}"
        );
    }
    assert_eq!(stage.says(&Attempt::approved_refund()), (FRESH, 1));
}

#[test]
fn a_tool_without_a_contract_of_its_own_is_unknown() {
    let stage = Stage::default();
    let line = stage.line(Disturbance::None);
    let write = Attempt::approved_refund();
    let read = Attempt::read();
    // Were the read's contract taken for the write's, it would need neither key nor approval.
    for contract in [None, Some(&read.contract)] {
        let request = DispatchRequest {
            principal: &write.principal,
            call: &write.call,
            contract,
            approvals: &write.approvals,
            intent: None,
            downstream_memory: None,
            now: UtcSecond::new(NOW).unwrap(),
        };
        let package = dispatch(&stage.ports(&line), &request).unwrap();
        assert_eq!(said(&package), "UNKNOWN_TOOL");
        package.verify(&write.principal, &write.call, None).unwrap();
        assert_eq!(stage.shop.effect_count(), 0);
    }
}

#[test]
fn a_full_ledger_refuses_and_runs_nothing() {
    let stage = Stage {
        ledger: Box::new(MemoryLedger::with_capacity(1)),
        ..Stage::default()
    };
    assert_eq!(stage.says(&Attempt::approved_refund()), (FRESH, 1));
    let second = Attempt::refund().key("key-2").call_id("call-2").approved();
    assert_eq!(
        stage.package(&second).unwrap_err(),
        ledger::Error::Full {
            what: "call identities",
            limit: 1
        }
    );
    assert_eq!(stage.says(&Attempt::approved_refund()), (REPLAY, 1));
}
