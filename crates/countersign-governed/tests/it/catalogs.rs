//! Catalogs: the built-in one, documents of one's own, schemas that keep their promise.

use countersign_canonical::{Limits, Utf8, encode, parse};
use countersign_governed::{BEYOND_SCHEMA, Catalog, Dialect, Display};
use proptest::prelude::*;
use serde_json::json;

use crate::fixtures::{intent, json_of, value};

fn accepts(tool: &str, arguments: &str) -> bool {
    Catalog::colony()
        .check_arguments(tool, arguments.as_bytes())
        .is_ok()
}

#[test]
fn the_built_in_catalog_is_a_valid_document_of_ten_tools() {
    let catalog = Catalog::parse(Catalog::colony_document().as_bytes()).unwrap();
    assert_eq!(*Catalog::colony(), catalog);
    assert_eq!(catalog.name(), "colony");
    assert_eq!(catalog.tools().len(), 10);
    let fixed: Vec<_> = catalog
        .tools()
        .filter(|tool| !tool.is_grantable())
        .map(|tool| tool.name().as_str())
        .collect();
    assert_eq!(fixed, ["colony_autonomy_disable", "colony_autonomy_enable"]);
}

fn assert_accepted(cases: &[(&str, String, bool)]) {
    for (tool, arguments, fits) in cases {
        assert_eq!(accepts(tool, arguments), *fits, "{tool} {arguments:.80}");
    }
}

#[test]
fn texts_and_choices_are_exact_at_their_bounds() {
    let cases: Vec<(&str, String, bool)> = vec![
        ("colony_autonomy_enable", "{}".into(), true),
        ("colony_autonomy_enable", "{\"x\":1}".into(), false),
        ("colony_autonomy_enable", "[]".into(), false),
        ("colony_autonomy_enable", "null".into(), false),
        (
            "colony_research",
            format!("{{\"topic\":\"{}\"}}", "🍵".repeat(1400)),
            true,
        ),
        (
            "colony_research",
            format!("{{\"topic\":\"{}\"}}", "🍵".repeat(1401)),
            false,
        ),
        ("colony_research", r#"{"topic":"\u001c"}"#.into(), false),
        (
            "colony_research",
            r#"{"topic":"\u001c\u0085\u3000"}"#.into(),
            false,
        ),
        ("colony_research", r#"{"topic":"\u200b"}"#.into(), true),
        ("colony_research", r#"{"topic":"a\u0000"}"#.into(), false),
        ("colony_research", r#"{"topic":"\ud800"}"#.into(), false),
        (
            "colony_research",
            r#"{"topic":"a","topic":"b"}"#.into(),
            false,
        ),
        (
            "colony_research",
            r#"{"topic":"a","depth":null}"#.into(),
            false,
        ),
        ("colony_research", r#"{"depth":"deep"}"#.into(), false),
    ];
    assert_accepted(&cases);
}

#[test]
fn integers_and_identifiers_are_exact_at_their_bounds() {
    let id = |count: usize| format!("\"task_id\":\"{}\"", "x".repeat(count));
    let cases = [
        (r#""task_id":"t","hours":1"#.to_owned(), true),
        (r#""task_id":"t","hours":168"#.to_owned(), true),
        (r#""task_id":"t","hours":0"#.to_owned(), false),
        (r#""task_id":"t","hours":169"#.to_owned(), false),
        (r#""task_id":"t","hours":24.0"#.to_owned(), false),
        (r#""task_id":"t","hours":1e2"#.to_owned(), false),
        (r#""task_id":"t","hours":true"#.to_owned(), false),
        (r#""task_id":"t","hours":"24""#.to_owned(), false),
        (
            r#""task_id":"t","hours":9223372036854775807"#.to_owned(),
            false,
        ),
        (
            r#""task_id":"t","hours":9223372036854775808"#.to_owned(),
            false,
        ),
        (r#""task_id":"t","reason":"""#.to_owned(), true),
        (r#""task_id":"t\n""#.to_owned(), false),
        (id(256), true),
        (id(257), false),
    ];
    for (members, fits) in cases {
        let accepted = accepts("colony_task_snooze", &format!("{{{members}}}"));
        assert_eq!(accepted, fits, "{members:.80}");
    }
}

#[test]
fn numbers_are_exact_at_their_bounds() {
    let cases = [
        ("1", true),
        ("0", true),
        ("-0.0", true),
        ("1.0000000000000002", false),
        ("-5e-324", false),
        ("1e999", false),
        ("true", false),
        ("\"0.5\"", false),
    ];
    for (confidence, fits) in cases {
        let arguments =
            format!(r#"{{"content":"c","insight_type":"fact","confidence":{confidence}}}"#);
        assert_eq!(
            accepts("colony_record_insight", &arguments),
            fits,
            "{confidence}"
        );
    }
    for (priority, fits) in [("-0", true), ("-1", false), ("100", true), ("101", false)] {
        let arguments = format!(r#"{{"description":"d","priority":{priority}}}"#);
        assert_eq!(
            accepts("colony_create_commitment", &arguments),
            fits,
            "{priority}"
        );
    }
    let unlisted = r#"{"content":"c","insight_type":"Fact"}"#;
    assert!(!accepts("colony_record_insight", unlisted));
    assert!(!accepts("colony_unknown", "{}"));
    for (count, fits) in [(256, true), (257, false)] {
        let arguments = format!(r#"{{"description":"d","due_at":"{}"}}"#, "x".repeat(count));
        assert_eq!(accepts("colony_create_commitment", &arguments), fits);
    }
}

#[test]
fn bounded_json_counts_values_from_the_root() {
    let details = |details: &str| {
        accepts(
            "colony_initiative_feedback",
            &format!("{{\"initiative_id\":\"i\",\"action\":\"snoozed\",\"details\":{details}}}"),
        )
    };
    let list = |count: usize| format!("{{\"k\":[{}]}}", vec!["0"; count].join(","));
    let nested = |depth: usize| format!("{{\"k\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    let cases = [
        (list(510), true),
        (list(511), false),
        (nested(7), true),
        (nested(8), false),
        ("[]".to_owned(), false),
        (r#"{"k":9223372036854775807}"#.to_owned(), true),
        (r#"{"k":9223372036854775808}"#.to_owned(), false),
        (r#"{"k":-9223372036854775807}"#.to_owned(), true),
        (r#"{"k":-9223372036854775808}"#.to_owned(), false),
        (r#"{"k":1e300}"#.to_owned(), true),
        (format!("{{\"{}\":1}}", "k".repeat(128)), true),
        (format!("{{\"{}\":1}}", "k".repeat(129)), false),
        (r#"{"a@b":1}"#.to_owned(), false),
        (r#"{"":1}"#.to_owned(), false),
        (r#"{"k\n":1}"#.to_owned(), false),
        (format!("{{\"k\":\"{}\"}}", "é".repeat(4096)), true),
        (format!("{{\"k\":\"{}\"}}", "é".repeat(4097)), false),
        (r#"{"k":"\u0000"}"#.to_owned(), false),
        (r#"{"k":""}"#.to_owned(), true),
    ];
    for (document, fits) in cases {
        assert_eq!(details(&document), fits, "{document:.80}");
    }
}

#[test]
fn displays_show_defaults_of_absent_arguments() {
    let cases = [
        (
            "colony_research",
            json!({"topic": "a\n b"}),
            "Start quick Colony research on \"a b\"",
        ),
        (
            "colony_resolve_commitment",
            json!({"commitment_id": "c"}),
            "Resolve commitment \"c\" as done",
        ),
        (
            "colony_task_dismiss",
            json!({"task_id": "t"}),
            "Dismiss Colony task \"t\" as stale",
        ),
        (
            "colony_task_snooze",
            json!({"task_id": "t", "hours": 1}),
            "Snooze Colony task \"t\" for 1 hours",
        ),
        (
            "colony_task_snooze",
            json!({"task_id": "t"}),
            "Snooze Colony task \"t\" for 24 hours",
        ),
    ];
    for (tool, arguments, summary) in cases {
        let intent = intent(tool, &arguments).unwrap();
        let display: &Display = intent.display();
        assert_eq!(display.summary, summary);
        assert_eq!(json_of(intent.arguments().value()), arguments);
    }
}

#[test]
fn definitions_of_every_dialect() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::from_name(dialect.name()), Some(dialect));
        let name = format!("definition_{}", dialect.name());
        let tool = Catalog::colony().tool("colony_task_snooze").unwrap();
        insta::assert_json_snapshot!(name, json_of(&tool.definition(dialect)));
    }
    let schema = Catalog::colony()
        .tool("colony_initiative_feedback")
        .unwrap()
        .schema();
    insta::assert_json_snapshot!("schema_with_bounded_json", json_of(&schema));
    let names = json_of(&Catalog::colony().definitions(Dialect::Mcp))["tools"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(names, 10);
}

fn own_catalog() -> serde_json::Value {
    json!({
        "schema": "CountersignToolCatalogV1", "version": 1, "name": "mail",
        "tools": {"send": {
            "description": "Sends a mail.", "grantable": false,
            "display": {"summary": "Send {{mail}} to {to}, urgent: {urgent}, {rate}", "target": "Mail", "risk": "Sends"},
            "arguments": {
                "to": {"kind": "text", "maximum_chars": 100, "allow_empty": false, "required": true},
                "urgent": {"kind": "boolean", "required": false, "default": false},
                "rate": {"kind": "number", "minimum": -1, "maximum": 2.5, "required": false, "default": 1e-5},
                "tags": {"kind": "list", "maximum_elements": 2, "element": {"kind": "choice", "values": ["a", "b"]}, "required": false},
            },
        }},
    })
}

#[test]
fn a_catalog_of_ones_own() {
    let catalog = Catalog::from_value(&value(&own_catalog())).unwrap();
    let context = value(&crate::fixtures::context());
    let arguments = value(&json!({"to": "x@example.org", "tags": ["a", "b"]}));
    let intent =
        countersign_governed::Intent::build(&catalog, "send", &arguments, &context).unwrap();
    assert_eq!(
        intent.display().summary,
        "Send {mail} to \"x@example.org\", urgent: false, 1e-05"
    );
    for arguments in [
        json!({"to": "x", "tags": ["a", "c"]}),
        json!({"to": "x", "tags": ["a", "a", "a"]}),
        json!({"to": "x", "tags": "a"}),
        json!({"to": "x", "urgent": 1}),
        json!({"to": "x", "rate": 2.6}),
    ] {
        assert!(
            catalog
                .check_arguments_value("send", &value(&arguments))
                .is_err(),
            "{arguments}"
        );
    }
}

#[test]
fn every_fault_of_a_catalog_is_listed() {
    let mut document = own_catalog();
    let send = &mut document["tools"]["send"];
    send["display"]["summary"] = json!("{to} {missing}");
    send["display"]["target"] = json!("{tags}");
    send["display"]["risk"] = json!("{");
    send["grantable"] = json!("no");
    let mut faults = vec![
        Catalog::from_value(&value(&document))
            .unwrap_err()
            .to_string(),
    ];
    let mut document = own_catalog();
    let arguments = &mut document["tools"]["send"]["arguments"];
    arguments["to"]["default"] = json!("x");
    arguments["urgent"]["default"] = json!("x");
    arguments["rate"]["maximum"] = json!(-2);
    arguments["tags"]["element"]["values"] = json!(["a", "a", "b c"]);
    arguments["tags"]["element"]["kind"] = json!("choice");
    arguments["to"]
        .as_object_mut()
        .unwrap()
        .remove("maximum_chars");
    arguments["bad name"] = json!({"kind": "identifier", "required": true});
    arguments["other"] = json!({"kind": "date", "required": true});
    arguments["more"] =
        json!({"kind": "list", "maximum_elements": 300, "element": {"kind": "object"}});
    document["version"] = json!(2);
    document["tools"]["7up"] = json!([]);
    document["extra"] = json!(null);
    faults.push(
        Catalog::from_value(&value(&document))
            .unwrap_err()
            .to_string(),
    );
    insta::assert_snapshot!(faults.join("\n--\n"));
}

#[test]
fn every_single_field_of_the_built_in_catalog_matters() {
    let document: serde_json::Value = serde_json::from_str(Catalog::colony_document()).unwrap();
    let mut places = Vec::new();
    collect_places(&document, "", &mut places);
    for place in places {
        let mut spoiled = document.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = spoiled.pointer_mut(parent).unwrap();
        let optional = ["default", "description"].contains(&name) && place.contains("/arguments/");
        let tool_or_argument = parent.get("kind").is_none()
            && ["tools", "arguments"]
                .iter()
                .any(|field| place.rsplit('/').nth(1) == Some(field));
        let Some(members) = parent.as_object_mut() else {
            continue;
        };
        members.remove(name);
        let refused = Catalog::from_value(&value(&spoiled)).is_err();
        assert!(refused || optional || tool_or_argument, "{place}");
    }
}

fn collect_places(value: &serde_json::Value, place: &str, places: &mut Vec<String>) {
    for (name, member) in value.as_object().into_iter().flatten() {
        let place = format!("{place}/{name}");
        collect_places(member, &place, places);
        places.push(place);
    }
}

/// Tells whether only a rule that schemas cannot say refuses the arguments.
fn is_beyond_schema(tool: &str, arguments: &serde_json::Value) -> bool {
    let faults = Catalog::colony()
        .check_arguments(tool, arguments.to_string().as_bytes())
        .unwrap_err();
    let allowed = [
        "written without fraction or exponent",
        "more than 512 values",
    ];
    faults.iter().all(|fault| {
        allowed
            .iter()
            .any(|allowed| fault.to_string().contains(allowed))
    })
}

fn text() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        "[ \t\u{1c}\u{85}\u{a0}\u{3000}\u{feff}\u{200b}]{0,3}".prop_map(|text| json!(text)),
        "[a-z\0\n@/é🍵 ]{0,6}".prop_map(|text| json!(text)),
        "[A-Za-z0-9._:/-]{1,4}\n?".prop_map(|text| json!(text)),
        prop_oneof![
            Just(256_usize),
            Just(257),
            Just(1400),
            Just(1401),
            Just(8000),
            Just(8001),
            Just(4096),
            Just(4097)
        ]
        .prop_map(|count| json!("é".repeat(count))),
        prop_oneof![
            Just("quick"),
            Just("deep"),
            Just("done"),
            Just("stale"),
            Just("actioned"),
            Just("snoozed"),
            Just("fact"),
            Just("preference"),
            Just("obsolete"),
            Just("Fact"),
            Just("t-1"),
        ]
        .prop_map(|text| json!(text)),
    ]
}

fn anything() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        4 => text(),
        1 => Just(json!(null)),
        1 => any::<bool>().prop_map(|value| json!(value)),
        2 => (-2_i64..200).prop_map(|value| json!(value)),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(-i64::MAX)].prop_map(|value| json!(value)),
        1 => Just(json!(u64::MAX)),
        2 => prop_oneof![Just(0.0), Just(-0.0), Just(0.5), Just(1.0), Just(24.0), Just(1e300), Just(1.5)].prop_map(|value: f64| json!(value)),
    ];
    scalar.prop_recursive(10, 40, 6, |inner| {
        prop_oneof![
            2 => proptest::collection::vec(inner.clone(), 0..4).prop_map(|values| json!(values)),
            2 => proptest::collection::hash_map("[a-z0-9@ ]{0,3}", inner.clone(), 0..4).prop_map(|members| json!(members)),
            2 => inner.prop_map(|value| json!([[[value]]])),
            1 => Just(json!(vec![0; 511])),
        ]
    })
}

const TOOLS: [&str; 10] = [
    "colony_autonomy_disable",
    "colony_autonomy_enable",
    "colony_create_commitment",
    "colony_initiative_feedback",
    "colony_record_insight",
    "colony_research",
    "colony_resolve_commitment",
    "colony_task_complete",
    "colony_task_dismiss",
    "colony_task_snooze",
];

/// Arguments of a tool that are mostly right.
fn arguments_of(tool: &'static str) -> impl Strategy<Value = serde_json::Value> {
    let names: Vec<String> = Catalog::colony()
        .tool(tool)
        .unwrap()
        .arguments()
        .iter()
        .map(|argument| argument.name().to_owned())
        .collect();
    let count = names.len();
    (
        proptest::collection::vec(proptest::option::weighted(0.8, anything()), count),
        proptest::option::weighted(0.05, anything()),
    )
        .prop_map(move |(values, extra)| {
            let members = names
                .iter()
                .cloned()
                .zip(values)
                .filter_map(|(name, value)| Some((name, value?)));
            let extra = extra.map(|value| ("extra".to_owned(), value));
            serde_json::Value::Object(members.chain(extra).collect())
        })
}

#[test]
fn what_a_schema_accepts_the_validator_accepts() {
    let (valid, invalid) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for tool in TOOLS {
        let schema = json_of(&Catalog::colony().tool(tool).unwrap().schema());
        let schema = jsonschema::validator_for(&schema).unwrap();
        let config = ProptestConfig {
            cases: 400,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        runner
            .run(&arguments_of(tool), |arguments| {
                if schema.is_valid(&arguments) {
                    valid.set(valid.get() + 1);
                    let accepted = accepts(tool, &arguments.to_string());
                    prop_assert!(
                        accepted || is_beyond_schema(tool, &arguments),
                        "{tool} {arguments}"
                    );
                } else {
                    invalid.set(invalid.get() + 1);
                }
                Ok(())
            })
            .unwrap();
    }
    let counts = (valid.get(), invalid.get());
    assert!(
        counts.0 > 100 && counts.1 > 100,
        "the generator is one-sided: {counts:?}"
    );
}

#[test]
fn schemas_agree_with_the_validator_on_the_vectors() {
    let schemas: std::collections::HashMap<_, _> = TOOLS
        .into_iter()
        .map(|tool| {
            let schema = json_of(&Catalog::colony().tool(tool).unwrap().schema());
            (tool, jsonschema::validator_for(&schema).unwrap())
        })
        .collect();
    let mut accepted = 0;
    for line in crate::vectors::lines() {
        if line.get("kind").unwrap().as_str() != Some("tool_args") {
            continue;
        }
        let bytes = crate::vectors::bytes(&line, "args_b64");
        let tool = line.get("tool").unwrap().as_str().unwrap();
        let (Some(schema), Ok(arguments)) =
            (schemas.get(tool), parse(&bytes, &Limits::passthrough()))
        else {
            continue;
        };
        let arguments: serde_json::Value =
            serde_json::from_slice(&encode::<Utf8>(&arguments)).unwrap();
        let host = line.get("host").unwrap().as_bool().unwrap();
        let valid = schema.is_valid(&arguments);
        accepted += usize::from(host);
        assert!(
            host || !valid || is_beyond_schema(tool, &arguments),
            "{tool} {arguments}"
        );
        assert!(
            !host || valid,
            "the schema refuses what the validator accepts: {tool} {arguments}"
        );
    }
    assert!(accepted > 50);
}

#[test]
fn rules_beyond_schemas_have_distinct_codes() {
    let codes: std::collections::BTreeSet<_> = BEYOND_SCHEMA.iter().map(|rule| rule.code).collect();
    assert_eq!(codes.len(), BEYOND_SCHEMA.len());
}
