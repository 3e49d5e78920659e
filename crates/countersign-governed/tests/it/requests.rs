//! Execution requests: what is built is within every limit of the endpoint.

use countersign_canonical::{Ascii, Utf8, Value, digest, encode};
use countersign_governed::{Catalog, Envelope, ExecutionRequest, RequestBinding};
use serde_json::json;

use crate::fixtures::{
    ACTION_ID, NOW, action, approval, delivery_evidence, envelope, intent, json_of, now, receipt,
    request, spoiled, validate, value,
};

#[test]
fn what_is_built_is_what_an_endpoint_takes() {
    let request = request();
    let body = request.body();
    let read = ExecutionRequest::check(Catalog::colony(), Some(ACTION_ID), &body).unwrap();
    assert_eq!(read, request);
    assert_eq!(encode::<Utf8>(read.value()), body);
    let document = json_of(request.value());
    assert_eq!(document["approval"]["decided_at"], json!(NOW - 100.0));
    assert!(
        String::from_utf8(body)
            .unwrap()
            .contains(r#""decided_at":1783999900.0"#)
    );
    let refusal = ExecutionRequest::check(
        Catalog::colony(),
        Some("8f8b2b83-022b-4320-a161-5022409a8a79"),
        &request.body(),
    )
    .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "/action_id: differs from the action id of the path"
    );
}

#[test]
fn an_approval_of_something_else_builds_nothing() {
    let approved = envelope();
    let other = Envelope::build(intent("colony_research", &json!({"topic": "coffee"})).unwrap());
    let refusal =
        ExecutionRequest::build(Catalog::colony(), &other, approval(&approved)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "/action_digest: differs from the payload that was approved"
    );
    // A gate that was validated for another tool does not fit either.
    let action = action(&approved);
    let gate = validate(
        &action,
        "colony_task_complete",
        &[receipt(&delivery_evidence(&action))],
    )
    .unwrap();
    let gate = gate.assert_dispatchable(now()).unwrap();
    let refusal = ExecutionRequest::build(Catalog::colony(), &approved, gate).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "/tool_name: differs from the tool that was approved"
    );
}

#[test]
fn a_misfit_of_the_endpoint_fails_before_anything_is_sent() {
    let envelope = envelope();
    let cases = [
        ("decision_id", json!("dec 1"), "/approval/decision_id"),
        (
            "decision_id",
            json!("d".repeat(129)),
            "/approval/decision_id",
        ),
        (
            "expires_at_epoch",
            json!(NOW - 100.0 + 86_400.5),
            "/approval/expires_at",
        ),
    ];
    for (field, replacement, place) in cases {
        let action = action(&envelope);
        let mut evidence = delivery_evidence(&action);
        evidence[field] = replacement;
        let gate = validate(&action, "colony_research", &[receipt(&evidence)]).unwrap();
        let gate = gate.assert_dispatchable(now()).unwrap();
        let refusal = ExecutionRequest::build(Catalog::colony(), &envelope, gate).unwrap_err();
        assert_eq!(refusal.iter().next().unwrap().place().as_str(), place);
    }
    // 16,000 characters are a legal insight, but not in 32 KiB when each takes four bytes.
    for (text, fits) in [("x".repeat(16_000), true), ("🍵".repeat(16_000), false)] {
        let intent = intent(
            "colony_record_insight",
            &json!({"content": text, "insight_type": "fact"}),
        )
        .unwrap();
        let envelope = Envelope::build(intent);
        let built = ExecutionRequest::build(Catalog::colony(), &envelope, approval(&envelope));
        assert_eq!(built.is_ok(), fits);
    }
}

#[test]
fn a_request_of_32_768_bytes_is_the_largest() {
    let body = String::from_utf8(request().body()).unwrap();
    for (bytes, fits) in [(32_768, true), (32_769, false)] {
        let padded = format!("{body}{}", " ".repeat(bytes - body.len()));
        assert_eq!(
            ExecutionRequest::check(Catalog::colony(), None, padded.as_bytes()).is_ok(),
            fits
        );
    }
}

/// Spoils a request, with all digests as they would be for the spoiled content.
fn resealed(document: &serde_json::Value) -> Vec<u8> {
    let mut document = document.clone();
    if let Some(args) = document.get("args").cloned() {
        document["args_sha256"] = json!(digest::<Ascii>(&value(&args)).to_string());
    }
    document.as_object_mut().unwrap().remove("execution_digest");
    let sealed = digest::<Utf8>(&value(&document)).to_string();
    document["execution_digest"] = json!(sealed);
    document.to_string().into_bytes()
}

#[test]
fn every_single_field_mutation_is_refused_even_when_sealed_again() {
    let document = json_of(request().value());
    let check = |bytes: &[u8]| ExecutionRequest::check(Catalog::colony(), Some(ACTION_ID), bytes);
    assert!(check(&resealed(&document)).is_ok());
    let open = [
        "action_digest",
        "intent_id",
        "intent_digest",
        "args_sha256",
        "execution_digest",
    ];
    for (field, original) in document.as_object().unwrap() {
        for replacement in spoiled(original) {
            let mut spoiled = document.clone();
            spoiled[field] = replacement.clone();
            assert!(
                check(spoiled.to_string().as_bytes()).is_err(),
                "{field} = {replacement}"
            );
            // Digests of what the request does not hold are free; a version may be 1.0.
            let free =
                open.contains(&field.as_str()) || (field == "version" && replacement == json!(1.0));
            assert!(
                free || check(&resealed(&spoiled)).is_err(),
                "{field} = {replacement}, sealed again"
            );
        }
        let mut shorter = document.clone();
        shorter.as_object_mut().unwrap().remove(field);
        assert!(check(shorter.to_string().as_bytes()).is_err(), "no {field}");
    }
    for (field, original) in document["approval"].as_object().unwrap() {
        for replacement in spoiled(original) {
            let mut spoiled = document.clone();
            spoiled["approval"][field] = replacement.clone();
            let free = (["version", "revision"].contains(&field.as_str())
                && replacement == json!(1.0))
                || field == "authorization_receipt_sha256"
                || (field == "decision_id" && check(&resealed(&spoiled)).is_ok());
            assert!(
                free || check(&resealed(&spoiled)).is_err(),
                "approval.{field} = {replacement}"
            );
        }
    }
    let mut duplicate = String::from_utf8(request().body()).unwrap();
    duplicate.insert_str(1, "\"version\":1,");
    assert!(
        check(duplicate.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("not strict JSON")
    );
}

/// What is said of a request whose approval has these times.
fn judged_times(decided_at: &serde_json::Value, expires_at: &serde_json::Value) -> String {
    let mut document = json_of(request().value());
    document["approval"]["decided_at"] = decided_at.clone();
    document["approval"]["expires_at"] = expires_at.clone();
    ExecutionRequest::check(Catalog::colony(), None, &resealed(&document))
        .map_or_else(|refusal| refusal.to_string(), |_| "good".to_owned())
}

#[test]
fn times_of_an_approval_are_positive() {
    let no_time = "/approval/decided_at: must be a positive, finite number of seconds since 1970";
    for (decided_at, verdict) in [
        (json!(1), "good"),
        (json!(0.25), "good"),
        (json!(0), no_time),
        (json!(-5), no_time),
        (json!(-0.0), no_time),
        (json!(-0.25), no_time),
    ] {
        assert_eq!(
            judged_times(&decided_at, &json!(60)),
            verdict,
            "{decided_at}"
        );
    }
}

#[test]
fn lifetimes_between_integers_are_exact_where_doubles_are_not() {
    let large = 9_007_199_254_740_992_i64; // 2^53
    let not_after = "/approval/expires_at: must be after decided_at";
    let too_long = "/approval/expires_at: is more than 86400 seconds after decided_at";
    for (decided_at, expires_at, verdict) in [
        (large, large, not_after),
        (large, large + 1, "good"),
        (large + 1, large, not_after),
        (large + 3, large + 86_403, "good"),
        (large + 3, large + 86_404, too_long),
        (i64::MAX - 86_400, i64::MAX, "good"),
        (i64::MAX - 86_401, i64::MAX, too_long),
        (1, i64::MAX, too_long),
        (i64::MAX, 1, not_after),
    ] {
        let judged = judged_times(&json!(decided_at), &json!(expires_at));
        assert_eq!(judged, verdict, "{decided_at} {expires_at}");
    }
    // A float among them makes both doubles, of which every second one is missing here.
    for (decided_at, expires_at, verdict) in [
        (json!(9_007_199_254_740_992.0), json!(large + 1), not_after),
        (json!(large + 1), json!(9_007_199_254_740_994.0), "good"),
        (
            json!(9_007_199_254_740_996.0),
            json!(large + 86_404),
            "good",
        ),
        (json!(large + 3), json!(9_007_199_254_827_396.0), "good"),
        (json!(large + 3), json!(9_007_199_254_827_398.0), too_long),
        (json!(60), json!(86_460.0), "good"),
        (json!(60.0), json!(86_460.25), too_long),
    ] {
        let judged = judged_times(&decided_at, &expires_at);
        assert_eq!(judged, verdict, "{decided_at} {expires_at}");
    }
}

#[test]
fn limits_hold_wherever_a_value_stands() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let cases = [
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": nested(7)}}),
            None,
        ),
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": nested(8)}}),
            Some("nested deeper than 8"),
        ),
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": nested(16)}}),
            Some("nested deeper than 16"),
        ),
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": -9_223_372_036_854_775_808_i64}}),
            Some("beyond 63 bits"),
        ),
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": vec![0; 510]}}),
            None,
        ),
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": vec![0; 511]}}),
            Some("more than 512 values"),
        ),
        (
            json!({"initiative_id": "i", "action": "snoozed", "details": {"k": vec![0; 1100]}}),
            Some("more than 1024 values"),
        ),
    ];
    for (args, message) in cases {
        let mut document = json_of(request().value());
        document["tool_name"] = json!("colony_initiative_feedback");
        document["args"] = args;
        let checked = ExecutionRequest::check(Catalog::colony(), None, &resealed(&document));
        match message {
            None => assert!(checked.is_ok(), "{checked:?}"),
            Some(message) => {
                let refusal = checked.unwrap_err().to_string();
                assert!(refusal.contains(message), "{refusal}");
            }
        }
    }
}

#[test]
fn a_binding_is_read_from_what_was_sent() {
    let request = request();
    assert_eq!(
        RequestBinding::of_sent(request.value()).unwrap(),
        *request.binding()
    );
    assert!(RequestBinding::of_sent(&Value::Null).is_err());
}
