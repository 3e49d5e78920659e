//! Bytes to both sides of governed actions, which must judge them alike.
#![no_main]

use std::sync::LazyLock;

use countersign_agreement::{Sides, compare_document, perform, resign, signed_request, smallest};
use countersign_canonical::{Limits, Object, Utf8, Value, encode, parse};
use countersign_endpoint as endpoint;
use countersign_governed::{Epoch, ExecutionResult, RequestBinding};
use libfuzzer_sys::fuzz_target;

const ACTION: &str = "11cbc288-4a50-42dc-982c-18c92f429ce5";
const NOW_SECONDS: f64 = 1_784_000_000.0;

static SIDES: LazyLock<Sides> = LazyLock::new(Sides::colony);

/// A request that is sent in vain of nothing but its handler.
static REQUEST: LazyLock<Value> =
    LazyLock::new(|| signed_request(ACTION, "colony_autonomy_enable", &Object::new().into()));

fuzz_target!(|input: &[u8]| {
    assert_eq!(compare_document(input), Ok(()));
    let verdicts = SIDES.judge_request(ACTION, input);
    assert!(verdicts.agree(), "{verdicts}");
    let Ok(document) = parse(input, &Limits::passthrough()) else {
        return;
    };
    for tool in SIDES.host.tools() {
        assert_agree(&document, |arguments| {
            (
                ACTION.to_owned(),
                signed_request(ACTION, tool.name().as_str(), arguments),
            )
        });
    }
    assert_agree(&document, |request| {
        let named = request.get("action_id").and_then(Value::as_str);
        (named.unwrap_or(ACTION).to_owned(), resign(request))
    });
    assert_believed(&document);
});

/// What parts the sides is shrunk before it is told.
fn assert_agree(document: &Value, request_of: impl Fn(&Value) -> (String, Value)) {
    let judge = |document: &Value| {
        let (path, request) = request_of(document);
        SIDES.judge_request(&path, &encode::<Utf8>(&request))
    };
    if judge(document).agree() {
        return;
    }
    let least = smallest(document, |document| !judge(document).agree());
    let (_, request) = request_of(&least);
    panic!(
        "{}{}",
        judge(&least),
        encode::<Utf8>(&request).escape_ascii()
    );
}

/// The host believes exactly what the endpoint performed.
fn assert_believed(verification: &Value) {
    let read = endpoint::parse_respelled(&encode::<Utf8>(verification)).ok();
    let Some(endpoint::Value::Object(verification)) = read else {
        return;
    };
    let performed = endpoint::Effect::new("eff@1", "done", verification.clone()).is_ok();
    let outcome = endpoint::HandlerOutcome::Performed {
        effect_id: "eff@1".to_owned(),
        outcome: "done".to_owned(),
        verification,
    };
    let body = encode::<Utf8>(&REQUEST);
    let result = perform(ACTION, &body, outcome, NOW_SECONDS).expect("the request is alive");
    let binding = RequestBinding::of_sent(&REQUEST).expect("the request is one");
    let now = Epoch::from_seconds(NOW_SECONDS).expect("a time");
    let believed = ExecutionResult::parse(&binding, result.as_bytes(), now);
    assert_eq!(
        believed.is_ok(),
        performed,
        "{believed:?} {}",
        result.as_str()
    );
}
