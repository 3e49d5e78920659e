//! Execution results: only what proves this very effect.

use countersign_canonical::{Utf8, digest};
use countersign_governed::ExecutionResult;
use serde_json::json;

use crate::fixtures::{ACTION_ID, NOW, json_of, now, request, spoiled, value};

fn sealed(mut document: serde_json::Value) -> serde_json::Value {
    let mut effect = document["effect"].clone();
    if effect.get("version").is_some() {
        effect["version"] = json!(1);
    }
    document["effect_digest"] = json!(digest::<Utf8>(&value(&effect)).to_string());
    document
}

fn result(verification: &serde_json::Value) -> serde_json::Value {
    let request = json_of(request().value());
    sealed(json!({
        "schema": "ColonyGovernedActionExecutionResultV1", "version": 1,
        "execution_digest": request["execution_digest"], "action_id": request["action_id"],
        "action_digest": request["action_digest"], "intent_id": request["intent_id"],
        "intent_digest": request["intent_digest"], "tool_name": request["tool_name"],
        "status": "completed", "effect_state": "performed", "observed_at": 1_784_000_000_i64,
        "effect": {
            "schema": "ColonyGovernedActionEffectV1", "version": 1, "effect_id": ACTION_ID, "outcome": "queued",
            "verification": verification,
        },
    }))
}

fn check(document: &serde_json::Value) -> Result<ExecutionResult, String> {
    ExecutionResult::parse(request().binding(), document.to_string().as_bytes(), now())
        .map_err(|faults| faults.to_string())
}

#[test]
fn what_is_kept_has_a_float_for_its_time() {
    let document = result(&json!({"state": "open"}));
    let accepted = check(&document).unwrap();
    let mut kept = document;
    kept["observed_at"] = json!(NOW);
    assert_eq!(*accepted.value(), value(&kept));
    assert_eq!(accepted.sha256(), digest::<Utf8>(&value(&kept)));
    assert_eq!(accepted.outcome(), "queued");
}

#[test]
fn every_single_field_mutation_is_refused() {
    let document = result(&json!({"state": "open"}));
    for (field, original) in document.as_object().unwrap() {
        for replacement in spoiled(original) {
            let mut spoiled = document.clone();
            spoiled[field] = replacement.clone();
            let free = (field == "version" && replacement == json!(1.0))
                || (field == "observed_at"
                    && replacement.is_number()
                    && replacement.as_f64() == Some(1.0));
            assert!(free || check(&spoiled).is_err(), "{field} = {replacement}");
        }
        let mut shorter = document.clone();
        shorter.as_object_mut().unwrap().remove(field);
        assert!(check(&shorter).is_err(), "no {field}");
    }
    for field in ["schema", "version", "effect_id", "outcome", "verification"] {
        let mut shorter = document.clone();
        shorter["effect"].as_object_mut().unwrap().remove(field);
        assert!(check(&sealed(shorter)).is_err(), "no effect.{field}");
    }
    let mut longer = document.clone();
    longer["effect"]["extra"] = json!(1);
    assert!(check(&sealed(longer)).is_err());
    // An effect hashes the literal version 1.
    let mut written = document;
    written["effect"]["version"] = json!(1.0);
    assert!(check(&sealed(written.clone())).is_ok());
    written["effect_digest"] = json!(digest::<Utf8>(&value(&written["effect"])).to_string());
    assert!(check(&written).unwrap_err().contains("/effect_digest"));
}

#[test]
fn verifications_are_bounded() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let cases = [
        (json!({"list": (0..254).collect::<Vec<_>>()}), true),
        (json!({"list": (0..255).collect::<Vec<_>>()}), false),
        (json!({"deep": nested(5)}), true),
        (json!({"deep": nested(6)}), false),
        (json!({"text": "é".repeat(2048)}), true),
        (json!({"text": "é".repeat(2049)}), false),
        (json!({"text": "\u{1f}"}), false),
        (json!({"text": "\u{7f}"}), false),
        (json!({"text": "\u{80}"}), true),
        (json!({"a@b": 1}), true),
        (json!({"a b": 1}), false),
        (json!({"a\n": 1}), false),
        (json!({"": 1}), false),
        (json!({"i": 9_223_372_036_854_775_807_i64}), true),
        (json!({"i": -9_223_372_036_854_775_807_i64}), true),
        (json!({"i": -9_223_372_036_854_775_808_i64}), false),
        (json!({"i": 9_223_372_036_854_775_808_u64}), false),
        (json!({"f": 1e300}), true),
        (json!([]), false),
        (json!(null), false),
    ];
    for (verification, fits) in cases {
        assert_eq!(
            check(&result(&verification)).is_ok(),
            fits,
            "{verification}"
        );
    }
}

#[test]
fn an_observation_is_not_from_the_future() {
    for (seconds, fits) in [
        (json!(NOW + 30.0), true),
        (json!(NOW + 30.5), false),
        (json!(0), false),
        (json!(-1), false),
    ] {
        let mut document = result(&json!({}));
        document["observed_at"] = seconds;
        assert_eq!(check(&document).is_ok(), fits);
    }
}
