//! Handlers that panic, fail, or answer what no contract accepts: before they act and after.

use std::sync::Mutex;

use countersign_canonical::{Object, Value};
use countersign_contract::{HandlerAnswer, IdempotencyKey, StatusRef};
use countersign_dispatch::{Execution, ExecutionOrder, Executor, NotStarted};
use countersign_shop::{Disturbance, Shop, ShopExecutor};

use super::stage::{Attempt, Change, FRESH, Stage};

/// Does as the shop does, and then spoils what the host hears of it.
struct Spoiling<'s> {
    shop: &'s Shop,
    acts: bool,
    spoil: Change<HandlerAnswer>,
}

impl Executor for Spoiling<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let mut answer = match acted(self.shop, order, self.acts) {
            Some(Execution::Answered(answer)) => answer,
            Some(other) => panic!("{other:?}"),
            None => plausible_answer(order),
        };
        (self.spoil)(&mut answer);
        Execution::Answered(answer)
    }
}

type End = fn() -> Execution;

/// Ends without an answer.
struct Ending<'s> {
    shop: &'s Shop,
    acts: bool,
    end: End,
}

impl Executor for Ending<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        acted(self.shop, order, self.acts);
        (self.end)()
    }
}

fn acted(shop: &Shop, order: &ExecutionOrder<'_>, acts: bool) -> Option<Execution> {
    let line = ShopExecutor {
        shop,
        disturbance: Disturbance::None,
    };
    acts.then(|| line.execute(order))
}

/// An answer in order, from a handler that did nothing.
fn plausible_answer(order: &ExecutionOrder<'_>) -> HandlerAnswer {
    let arguments = order.call().arguments.value().as_object().unwrap();
    let mut data = arguments.clone();
    if order.contract().name.as_str() == "get_order" {
        data.insert("status".to_owned(), "paid".into());
    } else {
        data.insert("draft_id".to_owned(), "DRAFT-1".into());
    }
    HandlerAnswer {
        data: Value::Object(data),
        producer_revision: order.contract().revisions.producer.to_string(),
        resource_revision: None,
        observed_at: "2026-07-19T00:00:00Z".to_owned(),
        downstream_request_id: None,
        receipt_id: None,
    }
}

fn set(answer: &mut HandlerAnswer, name: &str, value: Value) {
    let mut object: Object = answer.data.as_object().unwrap().clone();
    object.insert(name.to_owned(), value);
    answer.data = Value::Object(object);
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

/// Answers outside the contract, for the read and for the write alike.
const SPOILT: [(&str, Change<HandlerAnswer>); 17] = [
    ("null", |answer| answer.data = Value::Null),
    ("an empty object", |answer| {
        answer.data = Value::Object(Object::default());
    }),
    ("a list", |answer| answer.data = Value::Array(Vec::new())),
    ("a text", |answer| {
        answer.data = r#"{"order_ref": "ORDER-7", "status": "paid"}"#.into();
    }),
    ("a thousand levels", |answer| answer.data = nested(1_000)),
    ("a thousand levels in a member", |answer| {
        set(answer, "order_ref", nested(1_000));
    }),
    ("10 MB", |answer| {
        set(answer, "order_ref", "x".repeat(10 << 20).into());
    }),
    ("a million items", |answer| {
        answer.data = vec![Value::Null; 1_000_000].into();
    }),
    ("an unknown member", |answer| {
        set(answer, "note", "x".into());
    }),
    ("a secret", |answer| {
        set(answer, "Api-Key", "x".into());
    }),
    ("another order", |answer| {
        set(answer, "order_ref", "ORDER-8".into());
    }),
    ("a number for a text", |answer| {
        set(answer, "order_ref", 7.into());
    }),
    ("another producer", |answer| {
        answer.producer_revision.push('x');
    }),
    ("no time", |answer| answer.observed_at.clear()),
    ("a time that does not exist", |answer| {
        answer.observed_at = "2026-02-30T00:00:00Z".to_owned();
    }),
    ("a blank receipt", |answer| {
        answer.receipt_id = Some(" ".to_owned());
    }),
    ("an endless revision", |answer| {
        answer.resource_revision = Some("r".repeat(1 << 20));
    }),
];

#[test]
fn a_read_answer_outside_its_contract_is_refused() {
    for (what, spoil) in SPOILT {
        let stage = Stage::default();
        let executor = Spoiling {
            shop: &stage.shop,
            acts: true,
            spoil,
        };
        assert_eq!(
            stage.says_by(&executor, &Attempt::read()),
            ("OUTPUT_CONTRACT_VIOLATION", 0),
            "{what}"
        );
        // A read leaves no trace: the next one is as good as the first.
        assert_eq!(stage.says(&Attempt::read()), (FRESH, 0), "{what}");
    }
}

#[test]
fn a_write_answer_outside_its_contract_is_unknown_for_good() {
    for acts in [true, false] {
        let effects = u64::from(acts);
        for (what, spoil) in SPOILT {
            let stage = Stage::default();
            let executor = Spoiling {
                shop: &stage.shop,
                acts,
                spoil,
            };
            let attempt = Attempt::approved_refund();
            assert_eq!(
                stage.says_by(&executor, &attempt),
                ("OUTPUT_CONTRACT_VIOLATION", effects),
                "{what}"
            );
            // The host cannot know whether it acted, so that nothing runs again, on whatever line.
            assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", effects), "{what}");
            let answer = if acts {
                "receipt_reconciled"
            } else {
                "OUTCOME_UNKNOWN"
            };
            assert_eq!(
                stage.status(&attempt, "question-1"),
                (answer, effects),
                "{what}"
            );
        }
    }
}

#[test]
fn a_handler_without_an_answer() {
    let ends: [(&str, End); 4] = [
        ("panics", || panic!("the handler is broken")),
        ("panics with an odd payload", || {
            std::panic::panic_any(17_u8);
        }),
        ("fails", || Execution::Failed),
        ("is not heard", || Execution::AnswerLost),
    ];
    for (what, end) in ends {
        for acts in [true, false] {
            let effects = u64::from(acts);
            let stage = Stage::default();
            let executor = Ending {
                shop: &stage.shop,
                acts,
                end,
            };
            assert_eq!(
                stage.says_by(&executor, &Attempt::read().call_id("look-1")),
                ("TOOL_ERROR", 0),
                "{what}"
            );
            let attempt = Attempt::approved_refund();
            assert_eq!(
                stage.says_by(&executor, &attempt),
                ("OUTCOME_UNKNOWN", effects),
                "{what}"
            );
            assert_eq!(
                stage.says_by(&executor, &attempt),
                ("OUTCOME_UNKNOWN", effects),
                "{what}"
            );
            assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", effects), "{what}");
        }
    }
}

#[test]
fn a_read_that_did_not_start_says_why() {
    for (cause, code) in [
        (NotStarted::DeadlineExceeded, "TIMEOUT_BEFORE_EXECUTE"),
        (NotStarted::RateLimited, "RATE_LIMIT"),
        (NotStarted::Unreachable, "TOOL_ERROR"),
    ] {
        let stage = Stage::default();
        let executor = Refusing(cause);
        assert_eq!(stage.says_by(&executor, &Attempt::read()), (code, 0));
    }
}

struct Refusing(NotStarted);

impl Executor for Refusing {
    fn execute(&self, _: &ExecutionOrder<'_>) -> Execution {
        Execution::NotStarted(self.0)
    }
}

#[test]
fn every_attempt_tells_the_downstream_the_same() {
    struct Recording(Mutex<Vec<(StatusRef, IdempotencyKey)>>);
    impl Executor for Recording {
        fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
            let key = order.idempotency_key().unwrap().clone();
            let mut seen = self.0.lock().unwrap();
            seen.push((order.status_ref().unwrap(), key));
            Execution::NotStarted(NotStarted::RateLimited)
        }
    }
    let stage = Stage::default();
    let recording = Recording(Mutex::default());
    let attempt = Attempt::approved_refund();
    for _ in 0..3 {
        assert_eq!(stage.says_by(&recording, &attempt), ("RATE_LIMIT", 0));
    }
    // Another call of the same request under the same key means the same effect.
    let another = attempt.clone().call_id("call-2").approved();
    assert_eq!(stage.says_by(&recording, &another), ("RATE_LIMIT", 0));
    let seen = recording.0.into_inner().unwrap();
    let same = (attempt.status_ref(), attempt.call.idempotency_key.unwrap());
    assert_eq!(seen, vec![same; 4]);
}

#[test]
fn an_order_carries_identities_for_writes_only() {
    struct Looking;
    impl Executor for Looking {
        fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
            let is_write = order.contract().name.as_str() == "create_refund_draft";
            assert_eq!(order.idempotency_key().is_some(), is_write);
            assert_eq!(order.status_ref().is_some(), is_write);
            Execution::NotStarted(NotStarted::RateLimited)
        }
    }
    let stage = Stage::default();
    // Even where a read's call has a key.
    let read = Attempt::read().key("key-1");
    assert_eq!(stage.says_by(&Looking, &read), ("RATE_LIMIT", 0));
    let write = Attempt::approved_refund().call_id("call-2").approved();
    assert_eq!(stage.says_by(&Looking, &write), ("RATE_LIMIT", 0));
}
