//! Intents and envelopes: what is built is read, and nothing else.

use countersign_canonical::{Utf8, encode};
use countersign_governed::{Catalog, ContextField, Envelope, Intent};
use proptest::prelude::*;
use serde_json::json;

use crate::fixtures::{context, envelope, intent, json_of, spoiled, value};

#[test]
fn every_single_field_mutation_is_refused() {
    let intent = intent("colony_task_snooze", &json!({"task_id": "t-1", "hours": 1})).unwrap();
    let document = json_of(&intent.to_value());
    let refused = |document: &serde_json::Value, what: &str| {
        let result = Intent::from_value(Catalog::colony(), &value(document));
        assert!(result.is_err(), "{what}");
    };
    for (field, original) in document.as_object().unwrap() {
        for replacement in spoiled(original) {
            if field == "version" && replacement == json!(1.0) {
                continue;
            }
            let mut spoiled = document.clone();
            spoiled[field] = replacement.clone();
            refused(&spoiled, &format!("{field} = {replacement}"));
        }
        let mut shorter = document.clone();
        shorter.as_object_mut().unwrap().remove(field);
        refused(&shorter, &format!("no {field}"));
    }
    for (field, original) in context().as_object().unwrap() {
        for replacement in spoiled(original) {
            let mut spoiled = document.clone();
            spoiled["context"][field] = replacement.clone();
            refused(&spoiled, &format!("context.{field} = {replacement}"));
        }
    }
    let mut longer = document.clone();
    longer["extra"] = json!(1);
    refused(&longer, "one field more");
    let mut other = document;
    other["args"]["hours"] = json!(2);
    refused(&other, "other arguments");
}

#[test]
fn a_version_of_one_point_zero_hashes_as_the_literal_one() {
    let intent = intent("colony_task_complete", &json!({"task_id": "t-1"})).unwrap();
    let mut document = json_of(&intent.to_value());
    document["version"] = json!(1.0);
    let read = Intent::from_value(Catalog::colony(), &value(&document)).unwrap();
    assert_eq!(read, intent);
    // An envelope keeps what was written, and its digest covers that.
    let built = Envelope::build(intent.clone());
    let mut enveloped = json_of(built.value());
    enveloped["version"] = json!(1.0);
    let read = Envelope::from_value(Catalog::colony(), &value(&enveloped)).unwrap();
    assert_eq!(*read.intent(), intent);
    assert_ne!(read.sha256(), built.sha256());
}

#[test]
fn every_fault_is_listed_with_its_place() {
    let mut document = json_of(
        &intent("colony_research", &json!({"topic": "tea"}))
            .unwrap()
            .to_value(),
    );
    document["version"] = json!("1");
    document["args"] = json!({"topic": " \u{1c}", "depth": "Deep", "secret key": "sk-123"});
    document["context"]["turn_id"] = json!("\0");
    document["context"]["extra"] = json!("");
    document["intent_digest"] = json!("A".repeat(64));
    document.as_object_mut().unwrap().remove("schema");
    let faults = Intent::from_value(Catalog::colony(), &value(&document)).unwrap_err();
    insta::assert_snapshot!(faults, @r"
    /schema: is missing
    /version: must be the number 1
    /args/depth: must be one of: quick, standard, deep
    /args/?: is not a field of this contract
    /args/topic: must not be empty or blank
    /context/extra: is not a field of this contract
    /context/turn_id: holds a control character that is not allowed here
    /args_sha256: is not the digest of args
    /intent_digest: must be a SHA-256 digest (64 lower-case hexadecimal digits)
    ");
}

#[test]
fn a_call_without_an_id_is_an_intent_but_not_taken_in() {
    let mut context = context();
    context["tool_call_id"] = json!("");
    let arguments = value(&json!({}));
    let built = Intent::build(
        Catalog::colony(),
        "colony_autonomy_disable",
        &arguments,
        &value(&context),
    )
    .unwrap();
    assert_eq!(built.context().text(ContextField::ToolCallId), "");
    let refusal = built.check_ingress().unwrap_err();
    assert_eq!(refusal.place().as_str(), "/context/tool_call_id");
    assert!(
        intent("colony_autonomy_disable", &json!({}))
            .unwrap()
            .check_ingress()
            .is_ok()
    );
}

#[test]
fn envelopes_are_exact() {
    let built = envelope();
    let bytes = encode::<Utf8>(built.value());
    assert_eq!(Envelope::parse(Catalog::colony(), &bytes).unwrap(), built);
    assert_eq!(Envelope::action_source("p"), "hermes-action-intent:p");
    let document = json_of(built.value());
    for field in ["schema", "version", "intent"] {
        for replacement in spoiled(&document[field]) {
            if field == "version" && replacement == json!(1.0) {
                continue;
            }
            let mut spoiled = document.clone();
            spoiled[field] = replacement;
            assert!(
                Envelope::from_value(Catalog::colony(), &value(&spoiled)).is_err(),
                "{field}"
            );
        }
    }
    let faults = Envelope::parse(Catalog::colony(), b"{\"a\":1,\"a\":1}").unwrap_err();
    assert!(faults.to_string().contains("not strict JSON"), "{faults}");
}

#[test]
fn context_strings_are_bounded_in_code_points() {
    for (text, fits) in [
        ("é".repeat(512), true),
        ("é".repeat(513), false),
        ("🍵".repeat(512), true),
    ] {
        let mut context = context();
        context["platform"] = json!(text);
        let arguments = value(&json!({}));
        let built = Intent::build(
            Catalog::colony(),
            "colony_autonomy_enable",
            &arguments,
            &value(&context),
        );
        assert_eq!(built.is_ok(), fits);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_built_is_read(topic in "[^\0]{0,40}x[^\0]{0,40}", call in "[^\0]{0,20}", hidden in any::<bool>()) {
        let mut context = context();
        context["tool_call_id"] = json!(call);
        let mut arguments = json!({"topic": topic});
        if hidden {
            arguments["depth"] = json!("deep");
        }
        let built = Intent::build(Catalog::colony(), "colony_research", &value(&arguments), &value(&context)).unwrap();
        let read = Intent::parse(Catalog::colony(), &encode::<Utf8>(&built.to_value())).unwrap();
        prop_assert!(read.display().summary.is_ascii());
        prop_assert_eq!(&read, &built);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Intent::parse(Catalog::colony(), &bytes);
        let _ = Catalog::parse(&bytes);
    }
}
