//! What is unknown stays so until a receipt for that very operation says otherwise.

use countersign_contract::{HandlerAnswer, Profile, RequestDigest, StatusRef};
use countersign_dispatch::{Receipt, StatusQuestion, StatusSource};
use countersign_runtime::StatusPorts;
use countersign_shop::Disturbance;

use super::stage::{
    Attempt, Change, FRESH, RECONCILED, REPLAY, Said, Stage, principal, revision, said,
};

/// A refund whose answer was lost.
fn lost(stage: &Stage, disturbance: Disturbance) -> Attempt {
    let attempt = Attempt::approved_refund().disturbed(disturbance);
    assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1));
    attempt.disturbed(Disturbance::None)
}

#[test]
fn an_unknown_outcome_is_never_executed_again() {
    for disturbance in [Disturbance::AnswerLost, Disturbance::AnswerAndReceiptLost] {
        let stage = Stage::default();
        let attempt = lost(&stage, disturbance);
        // The same call, another call of the same request, and one with a fresh approval.
        assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1));
        let another = attempt.clone().call_id("call-2");
        assert_eq!(stage.says(&another), ("OUTCOME_UNKNOWN", 1));
        assert_eq!(stage.says(&another.approved()), ("OUTCOME_UNKNOWN", 1));
    }
}

#[test]
fn a_receipt_reconciles_once_and_for_all() {
    let stage = Stage::default();
    let attempt = lost(&stage, Disturbance::AnswerLost);
    assert_eq!(stage.status(&attempt, "question-1"), (RECONCILED, 1));
    assert_eq!(stage.status(&attempt, "question-1"), (RECONCILED, 1));
    assert_eq!(stage.status(&attempt, "question-2"), (RECONCILED, 1));
    assert_eq!(stage.says(&attempt), (REPLAY, 1));
    assert_eq!(stage.says(&attempt.call_id("call-2")), (REPLAY, 1));
}

#[test]
fn without_a_receipt_it_stays_unknown() {
    let stage = Stage::default();
    let attempt = lost(&stage, Disturbance::AnswerAndReceiptLost);
    for question in ["question-1", "question-1", "question-2"] {
        assert_eq!(stage.status(&attempt, question), ("OUTCOME_UNKNOWN", 1));
    }
    assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1));
}

#[test]
fn only_what_ever_was_unknown_can_be_asked_for() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund();
    assert_eq!(stage.status(&attempt, "question-1"), ("NOT_FOUND", 0));
    assert_eq!(stage.says(&attempt), (FRESH, 1));
    assert_eq!(stage.status(&attempt, "question-1"), ("NOT_FOUND", 1));
    let invented = StatusRef::parse("status_00000000000000000000000000000000").unwrap();
    let asker = attempt.asking("question-2");
    assert_eq!(
        stage.status_as(&asker, invented, attempt.request()),
        ("NOT_FOUND", 1)
    );
}

#[test]
fn a_handle_is_its_owners() {
    let stage = Stage::default();
    let attempt = lost(&stage, Disturbance::AnswerLost);
    let others = [
        // Support sees the order, and still not another subject's operation.
        principal("tenant-a", "helper", &["support_admin"]),
        // Nor does the namesake in another tenant see anything.
        principal("tenant-b", "user-1", &["support_admin"]),
    ];
    for other in others {
        let asker = attempt
            .asking("question-1")
            .with(|asker| asker.principal = other);
        for expected in [attempt.request(), asker.request()] {
            assert_eq!(
                stage.status_as(&asker, attempt.status_ref(), expected),
                ("NOT_FOUND", 1)
            );
        }
    }
    assert_eq!(stage.status(&attempt, "question-1"), (RECONCILED, 1));
}

#[test]
fn a_question_about_another_operation_is_a_conflict() {
    let changes: [(&str, Change<Attempt>); 8] = [
        ("key", |asker| *asker = asker.clone().key("key-2")),
        ("no key", |asker| asker.call.idempotency_key = None),
        ("arguments", |asker| {
            *asker = asker
                .clone()
                .arguments(r#"{"order_ref": "ORDER-7", "reason": "other"}"#);
        }),
        ("profile", |asker| {
            asker.call.profile = Profile::AnthropicMessages;
        }),
        ("effect", |asker| {
            asker.contract.revisions.effect = revision("other");
        }),
        ("output", |asker| {
            asker.contract.revisions.output_schema = revision("other");
        }),
        ("producer", |asker| {
            asker.contract.revisions.producer = revision("other");
        }),
        ("handler", |asker| {
            asker.contract.revisions.handler = revision("other");
        }),
    ];
    for (what, change) in changes {
        let stage = Stage::default();
        let attempt = lost(&stage, Disturbance::AnswerLost);
        let asker = attempt.asking("question-1").with(change);
        for expected in [attempt.request(), asker.request()] {
            assert_eq!(
                stage.status_as(&asker, attempt.status_ref(), expected),
                ("STATUS_CONFLICT", 1),
                "{what}"
            );
        }
        assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1), "{what}");
    }
    // The expected digest alone.
    let stage = Stage::default();
    let attempt = lost(&stage, Disturbance::AnswerLost);
    let other = RequestDigest::parse_hex(&"0".repeat(64)).unwrap();
    assert_eq!(
        stage.status_as(&attempt.asking("question-1"), attempt.status_ref(), other),
        ("STATUS_CONFLICT", 1)
    );
    // The policy's revision does not matter to what has happened.
    let asker = attempt
        .asking("question-2")
        .with(|asker| asker.contract.revisions.policy = revision("other"));
    assert_eq!(
        stage.status_as(&asker, attempt.status_ref(), attempt.request()),
        (RECONCILED, 1)
    );
}

#[test]
fn after_a_handler_change_not_even_a_reconciled_result_is_given() {
    let stage = Stage::default();
    let attempt = lost(&stage, Disturbance::AnswerLost);
    assert_eq!(stage.status(&attempt, "question-1"), (RECONCILED, 1));
    let changed = attempt
        .asking("question-2")
        .with(|asker| asker.contract.revisions.handler = revision("other"));
    assert_eq!(
        stage.status_as(&changed, attempt.status_ref(), attempt.request()),
        ("STATUS_CONFLICT", 1)
    );
}

/// Answers every question with one receipt.
struct Forger(Receipt);

impl StatusSource for Forger {
    fn receipt(&self, _: &StatusQuestion<'_>) -> Option<Receipt> {
        Some(self.0.clone())
    }
}

fn receipt(of: &Attempt) -> Receipt {
    let mut data = of.call.arguments.value().as_object().unwrap().clone();
    data.insert("draft_id".to_owned(), "DRAFT-99".into());
    Receipt {
        request: of.request(),
        status_ref: of.status_ref(),
        answer: HandlerAnswer {
            data: data.into(),
            producer_revision: "refunds-mock-v2".to_owned(),
            resource_revision: None,
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: None,
            receipt_id: Some("receipt-99".to_owned()),
        },
    }
}

#[test]
fn a_receipt_has_to_be_for_this_operation_and_within_its_contract() {
    let cases: [(&str, Change<Receipt>, Said); 7] = [
        (
            "another request",
            |receipt| receipt.request = RequestDigest::parse_hex(&"1".repeat(64)).unwrap(),
            "STATUS_CONFLICT",
        ),
        (
            "another handle",
            |receipt| {
                receipt.status_ref =
                    StatusRef::parse("status_11111111111111111111111111111111").unwrap();
            },
            "STATUS_CONFLICT",
        ),
        (
            "another operation",
            |found| *found = receipt(&Attempt::refund().key("key-2")),
            "STATUS_CONFLICT",
        ),
        (
            "another order",
            |receipt| {
                let mut data = receipt.answer.data.as_object().unwrap().clone();
                data.insert("order_ref".to_owned(), "ORDER-8".into());
                receipt.answer.data = data.into();
            },
            "OUTPUT_CONTRACT_VIOLATION",
        ),
        (
            "no data",
            |receipt| receipt.answer.data = countersign_canonical::Value::Null,
            "OUTPUT_CONTRACT_VIOLATION",
        ),
        (
            "another producer",
            |receipt| receipt.answer.producer_revision.push('x'),
            "OUTPUT_CONTRACT_VIOLATION",
        ),
        ("in order", |_| {}, RECONCILED),
    ];
    let stage = Stage::default();
    let attempt = lost(&stage, Disturbance::AnswerAndReceiptLost);
    for (what, change, expected) in cases {
        assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1), "{what}");
        let mut receipt = receipt(&attempt);
        change(&mut receipt);
        let source = Forger(receipt);
        let ports = StatusPorts {
            source: &source,
            ..stage.status_ports()
        };
        let package = attempt
            .asking("question-1")
            .query(&ports, attempt.status_ref(), attempt.request())
            .unwrap();
        assert_eq!(said(&package), expected, "{what}");
    }
    assert_eq!(stage.says(&attempt), (REPLAY, 1));
}
