//! The questions, kind by kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use countersign_canonical::{Ascii, Object, Utf8, Value, digest};
use countersign_governed::contract::{
    APPROVAL_BINDING_SCHEMA, CALL_IDENTITY_SCHEMA, CONTEXT_FIELDS, EFFECT_SCHEMA,
    EXECUTION_REQUEST_SCHEMA, EXECUTION_RESULT_SCHEMA, INTENT_SCHEMA,
};

use super::arguments::{
    any_value, bounded_object, kept, near, near_object, number, random_text, tool,
};
use super::change::{change, spell};
use crate::cli::GovernedKind;
use crate::commands::vectors::random::Random;

/// When all vectors play.
const NOW: i64 = 1_784_000_000;

/// Makes a vector without its answer.
pub(super) fn question(kind: GovernedKind, random: &mut Random) -> Object {
    let (name, mut question) = match kind {
        GovernedKind::ToolArgs => ("tool_args", tool_args(random)),
        GovernedKind::Intent => ("intent", intent_question(random)),
        GovernedKind::IntentBuild => ("intent_build", intent_build(random)),
        GovernedKind::ExecutionRequest => ("execution_request", execution_request(random)),
        GovernedKind::Gate => ("gate", gate(random)),
        GovernedKind::ExecutionResult => ("execution_result", execution_result(random)),
    };
    question.insert("kind".to_owned(), name.into());
    question
}

fn tool_args(random: &mut Random) -> Object {
    let (name, arguments) = near_call(random);
    let input = spell(random, &arguments);
    Object::from([("tool", name), ("args_b64", base64(&input))])
}

fn intent_build(random: &mut Random) -> Object {
    let (name, arguments) = near_call(random);
    let context = context(random);
    let context = changed(random, context, 3);
    Object::from([("tool", name), ("args", arguments), ("context", context)])
}

fn intent_question(random: &mut Random) -> Object {
    let (name, arguments) = kept_call(random);
    let intent = Object::from([
        ("schema", INTENT_SCHEMA.into()),
        ("version", 1_i64.into()),
        ("tool_name", name),
        ("args", arguments),
        ("context", context(random)),
    ]);
    let intent = spoil(random, intent, sign_intent);
    let input = spell(random, &intent);
    Object::from([("input_b64", base64(&input))])
}

fn execution_request(random: &mut Random) -> Object {
    let request = unsigned_request(random);
    let action_id = request.get("action_id").cloned().unwrap_or_default();
    let request = spoil(random, request, sign_request);
    let path = if random.once_in(15) {
        random.uuid().into()
    } else {
        action_id
    };
    let input = spell(random, &request);
    Object::from([("path_action_id", path), ("input_b64", base64(&input))])
}

fn execution_result(random: &mut Random) -> Object {
    let request = unsigned_request(random);
    let request = sign_request(request);
    let effect = Object::from([
        ("schema", EFFECT_SCHEMA.into()),
        ("version", 1_i64.into()),
        ("effect_id", format!("eff-{}", random.hex(4)).into()),
        (
            "outcome",
            random.pick(&["created", "updated", "done"]).into(),
        ),
        (
            "verification",
            if random.once_in(4) {
                near_object(random)
            } else {
                bounded_object(random)
            },
        ),
    ]);
    let mut result = Object::from([
        ("schema", EXECUTION_RESULT_SCHEMA.into()),
        ("version", 1_i64.into()),
        ("status", "completed".into()),
        ("effect_state", "performed".into()),
        ("effect", effect.into()),
        ("observed_at", time(random, 0)),
    ]);
    for field in [
        "execution_digest",
        "action_id",
        "action_digest",
        "intent_id",
        "intent_digest",
        "tool_name",
    ] {
        result.insert(
            field.to_owned(),
            request.get(field).cloned().unwrap_or_default(),
        );
    }
    let result = spoil(random, result, sign_result);
    let request = changed(random, request.into(), 15);
    Object::from([("request", request), ("result", result), ("now", now())])
}

fn gate(random: &mut Random) -> Object {
    let (tool, _) = near_call(random);
    let action = Object::from([
        ("action_id", random.uuid().into()),
        ("payload_sha256", random.hex(64).into()),
    ]);
    let count = random.pick(&[1, 1, 1, 1, 1, 1, 0, 2]);
    let mut receipts: Vec<Value> = (0..count).map(|_| receipt(random, &action)).collect();
    if random.once_in(4) {
        receipts.push(note());
    }
    Object::from([
        ("action", action.into()),
        ("receipts", Value::Array(receipts)),
        ("tool", tool),
        ("now", now()),
    ])
}

fn receipt(random: &mut Random, action: &Object) -> Value {
    let approval_id = format!("APR-{}", random.hex(12).to_uppercase());
    let of_action = |name: &str| action.get(name).cloned().unwrap_or_default();
    let mut evidence = Object::from([
        ("decision", "approved".into()),
        ("authority", "owner".into()),
        ("decision_id", "d-1".into()),
        ("approval_id", approval_id.as_str().into()),
        ("action_id", of_action("action_id")),
        ("action_digest", of_action("payload_sha256")),
        ("revision", 1_i64.into()),
        ("principal", "owner:1".into()),
        ("decided_at_epoch", time(random, -100)),
        ("expires_at_epoch", time(random, 60)),
    ]);
    if random.once_in(3) {
        let (later, near) = (time(random, 60), time(random, 0));
        let expiry = random.pick(&["unlimited".into(), later, near]);
        evidence.insert("bounded_grant_expires_at_epoch".to_owned(), expiry);
        for (name, text) in [
            ("bounded_grant_id", "g-1"),
            ("approval_source_request_id", "r-1"),
            ("binding_method", "bounded_grant"),
        ] {
            evidence.insert(name.to_owned(), text.into());
        }
    } else {
        for name in [
            "channel",
            "thread_id",
            "event_id",
            "event_key",
            "delivery_id",
            "delivery_message_id",
        ] {
            evidence.insert(name.to_owned(), "v".into());
        }
        let method = random.pick(&["delivered_reply", "delivered_reply", "bounded_grant"]);
        evidence.insert("binding_method".to_owned(), method.into());
    }
    let evidence = changed(random, evidence.into(), 3);
    let receipt = Object::from([
        ("receipt_key", "owner-gate".into()),
        ("kind", "gate".into()),
        ("status", "passed".into()),
        ("external_id", approval_id.into()),
        ("evidence_sha256", utf8(&evidence)),
        ("evidence", evidence),
    ]);
    changed(random, receipt.into(), 8)
}

fn note() -> Value {
    let evidence = Value::Object(Object::new());
    Value::from([
        ("receipt_key", "note".into()),
        ("kind", "note".into()),
        ("status", "passed".into()),
        ("external_id", Value::Null),
        ("evidence_sha256", utf8(&evidence)),
        ("evidence", evidence),
    ])
}

fn unsigned_request(random: &mut Random) -> Object {
    let (name, arguments) = if random.once_in(5) {
        near_call(random)
    } else {
        kept_call(random)
    };
    let decision_id = random.pick(&[
        "d-1".to_owned(),
        "dec:1/2".to_owned(),
        "d".repeat(128),
        "d".repeat(129),
    ]);
    let decided_at = random.below(100);
    let decided_at = NOW - i64::try_from(decided_at).unwrap_or(0);
    let lifetime = random.pick(&[1_i64, 60, 86_400, 86_401, 0, -1, 600, 600, 600]);
    let expires_at = decided_at + lifetime;
    let approval = Object::from([
        ("schema", APPROVAL_BINDING_SCHEMA.into()),
        ("version", 1_i64.into()),
        (
            "approval_id",
            format!("APR-{}", random.hex(12).to_uppercase()).into(),
        ),
        ("decision_id", decision_id.into()),
        ("revision", 1_i64.into()),
        ("authorization_receipt_sha256", random.hex(64).into()),
        ("decided_at", seconds(random, decided_at)),
        ("expires_at", seconds(random, expires_at)),
    ]);
    Object::from([
        ("schema", EXECUTION_REQUEST_SCHEMA.into()),
        ("version", 1_i64.into()),
        ("action_id", random.uuid().into()),
        ("action_digest", random.hex(64).into()),
        ("intent_id", format!("hti_{}", random.hex(32)).into()),
        ("intent_digest", random.hex(64).into()),
        ("tool_name", name),
        ("args", arguments),
        ("approval", approval.into()),
    ])
}

fn kept_call(random: &mut Random) -> (Value, Value) {
    tool(random).map_or_else(Default::default, |tool| {
        let arguments = kept(random, tool);
        (tool.name().as_str().into(), arguments.into())
    })
}

fn near_call(random: &mut Random) -> (Value, Value) {
    let (name, arguments) = tool(random).map_or_else(Default::default, |tool| {
        (tool.name().as_str().into(), near(random, tool))
    });
    if random.once_in(25) {
        return ("colony_unknown".into(), arguments);
    }
    (name, arguments)
}

fn context(random: &mut Random) -> Value {
    let texts = CONTEXT_FIELDS.map(|field| {
        let text = match random.below(12) {
            0 => "x".repeat(512 + random.below(2)),
            1 => "é".repeat(512),
            2 => random_text(random).replace('\0', ""),
            _ => format!("v-{}", random.hex(6)),
        };
        (field, text.into())
    });
    Value::from(texts)
}

/// Signs a document; half of them change in one place, before or after they are signed.
fn spoil(random: &mut Random, document: Object, sign: fn(Object) -> Object) -> Value {
    match random.below(4) {
        0 => change(random, &sign(document).into()),
        1 => {
            let changed = change(random, &document.into());
            match changed.as_object() {
                Some(members) => sign(members.clone()).into(),
                None => changed,
            }
        }
        _ => sign(document).into(),
    }
}

/// Changes a document, once in so many.
fn changed(random: &mut Random, document: Value, once_in: usize) -> Value {
    if random.once_in(once_in) {
        change(random, &document)
    } else {
        document
    }
}

fn sign_intent(mut intent: Object) -> Object {
    let member = |name: &str| intent.get(name).cloned().unwrap_or_default();
    let (args, context) = (member("args"), member("context"));
    let of_context = |name: &str| context.get(name).cloned().unwrap_or_default();
    let key = Value::from([
        ("schema", CALL_IDENTITY_SCHEMA.into()),
        ("tool_name", member("tool_name")),
        ("api_request_id", of_context("api_request_id")),
        ("session_id", of_context("session_id")),
        ("task_id", of_context("task_id")),
        ("tool_call_id", of_context("tool_call_id")),
        ("turn_id", of_context("turn_id")),
    ]);
    let key = digest::<Ascii>(&key).to_string();
    let intent_id: String = key.chars().take(32).collect();
    intent.insert("args_sha256".to_owned(), ascii(&args));
    intent.insert("context_sha256".to_owned(), ascii(&context));
    intent.insert("idempotency_key".to_owned(), key.into());
    intent.insert("intent_id".to_owned(), format!("hti_{intent_id}").into());
    intent.remove("intent_digest");
    let sha256 = ascii(&intent.clone().into());
    intent.insert("intent_digest".to_owned(), sha256);
    intent
}

fn sign_request(mut request: Object) -> Object {
    let args = request.get("args").map(ascii).unwrap_or_default();
    request.insert("args_sha256".to_owned(), args);
    request.remove("execution_digest");
    let sha256 = utf8(&request.clone().into());
    request.insert("execution_digest".to_owned(), sha256);
    request
}

fn sign_result(mut result: Object) -> Object {
    let sha256 = result.get("effect").map(utf8).unwrap_or_default();
    result.insert("effect_digest".to_owned(), sha256);
    result
}

/// A time so many seconds from now, mostly; else at a bound, or no time at all.
fn time(random: &mut Random, offset: i64) -> Value {
    match random.below(12) {
        0 => seconds(random, NOW + 30),
        1 => seconds(random, NOW + 31),
        2 => any_value(random),
        3 => seconds(random, NOW),
        _ => seconds(random, NOW + offset),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "whole seconds of this century are exact"
)]
fn seconds(random: &mut Random, seconds: i64) -> Value {
    random.pick(&[
        seconds.into(),
        number(seconds as f64),
        number(seconds as f64 + 0.5),
    ])
}

#[expect(
    clippy::cast_precision_loss,
    reason = "whole seconds of this century are exact"
)]
fn now() -> Value {
    number(NOW as f64)
}

fn ascii(value: &Value) -> Value {
    digest::<Ascii>(value).to_string().into()
}

fn utf8(value: &Value) -> Value {
    digest::<Utf8>(value).to_string().into()
}

fn base64(bytes: &[u8]) -> Value {
    BASE64.encode(bytes).into()
}
