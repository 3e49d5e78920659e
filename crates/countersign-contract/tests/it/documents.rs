//! Contract documents: what is wrong with a bad one, and the round trip of a good one.

use countersign_canonical::{Number, Value};
use countersign_contract::{Call, Principal, ToolContract};
use proptest::prelude::*;

use crate::cases::registered;
use crate::editing::{json, nested, with};

/// A contract that uses every kind of rule and every bound.
const RICH: &str = r#"{
    "name": "ship_order",
    "risk": "write",
    "source_label": "shipping",
    "revisions": {
        "input_schema": "in-1", "output_schema": "out-1", "effect": "effect-1",
        "handler": "handler-1", "producer": "producer-1", "policy": "policy-1"
    },
    "arguments": {
        "order_ref": {"type": "string", "min_length": 1, "max_length": 64, "pattern": "[A-Z]+-\\d+"},
        "parcels": {
            "type": "array", "min_items": 1, "max_items": 8,
            "items": {"type": "object", "members": {
                "weight_g": {"type": "integer", "minimum": 1, "maximum": 30000},
                "fragile": {"type": "boolean", "optional": true}
            }}
        },
        "insured_value": {"type": "number", "minimum": 0, "maximum": 1e4, "optional": true}
    },
    "output": {
        "order_ref": {"type": "string", "equals_argument": "order_ref"},
        "state": {"type": "string", "enum": ["queued", "sent"]},
        "tracking": {"type": "array", "items": {"type": "string", "max_length": 40}}
    },
    "limits": {"output_bytes": 4194304, "output_depth": 30},
    "timeout_ms": 86400000
}"#;

fn faults(document: &Value) -> String {
    match ToolContract::from_value(document) {
        Ok(contract) => panic!("{contract:?} was accepted"),
        Err(faults) => faults.to_string(),
    }
}

#[test]
fn every_fault_of_a_bad_contract_is_listed_with_its_place() {
    let document = json(
        r#"{
            "name": "  ",
            "risk": "harmless",
            "source_label": 7,
            "revisions": {
                "input_schema": "", "output_schema": null, "effect": "e", "handler": "h", "producer": "p",
                "policy": "p"
            },
            "arguments": {
                "bound": {"type": "string", "equals_argument": "bound"},
                "length": {"type": "string", "min_length": -1, "max_length": 1.0, "length": 3},
                "reversed": {"type": "string", "min_length": 2, "max_length": 1},
                "nothing": {"type": "string", "enum": []},
                "mixed": {"type": "string", "enum": ["a", 1]},
                "look_ahead": {"type": "string", "pattern": "(?=a)"},
                "escape": {"type": "string", "pattern": "a)(b"},
                "huge": {"type": "string", "pattern": "(?:\\w{500}){500}"},
                "no_integer": {"type": "integer", "minimum": "1", "maximum": 2.5, "pattern": "a"},
                "no_number": {"type": "number", "minimum": 2, "maximum": 1.5},
                "no_items": {"type": "array", "min_items": 1},
                "items": {"type": "array", "items": {"type": "string", "optional": true}, "min_items": 3, "max_items": 2},
                "no_members": {"type": "object"},
                "bad_members": {"type": "object", "members": {"x": {"type": "strin"}, "y": 1}},
                "unknown": {"type": "date"},
                "untyped": {},
                "list": [],
                "sometimes": {"type": "boolean", "optional": "yes", "minimum": 1}
            },
            "output": {
                "stranger": {"type": "string", "equals_argument": "absent"},
                "password": {"type": "string"},
                "inner": {"type": "object", "members": {
                    "Api-Key": {"type": "string"},
                    "bound": {"type": "string", "equals_argument": "length"}
                }},
                "rows": {"type": "array", "items": {"type": "object", "members": {"call_id": {"type": "string"}}}}
            },
            "limits": {"output_bytes": 4194305, "output_depth": 31},
            "timeout_ms": 0
        }"#,
    );
    insta::assert_snapshot!(faults(&document));
}

#[test]
fn wrong_shapes_of_a_contract_are_said_plainly() {
    let rich = json(RICH);
    let shapes = [
        json("[]"),
        json("{}"),
        with(&rich, "extra\u{202e}", 1),
        with(
            &rich,
            "revisions",
            json(r#"{"input_schema": "a", "more": "b"}"#),
        ),
        with(&rich, "limits", Value::Null),
        with(
            &rich,
            "limits",
            json(r#"{"output_bytes": 1, "output_depth": 0}"#),
        ),
        with(&rich, "arguments", json("[]")),
        with(&rich, "output", nested(3)),
        with(&rich, "timeout_ms", 86_400_001),
        with(&rich, "name", "n".repeat(256)),
    ];
    let texts: Vec<String> = shapes.iter().map(faults).collect();
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn faults_of_principals_and_calls_are_listed_with_their_places() {
    let principals = [
        "7",
        r#"{"tenant_id": "", "subject_id": 1, "roles": ["b", "a"]}"#,
        r#"{"tenant_id": "t", "subject_id": "s", "roles": ["a", "", 1]}"#,
        r#"{"tenant_id": "t", "subject_id": "s", "roles": "a", "role": "a"}"#,
    ]
    .map(|text| Principal::from_value(&json(text)).unwrap_err().to_string());
    let calls = [
        r#"{"name": "x"}"#,
        r#"{
            "provider": "openai", "api_family": "responses", "adapter_revision": "v0",
            "response_id": " ", "call_id": 1, "operation_id": "o", "idempotency_key": 5,
            "name": "n", "arguments": 9007199254740992
        }"#,
        r#"{
            "provider": "acme", "api_family": [], "adapter_revision": "v0",
            "response_id": "r", "call_id": "c", "operation_id": "o", "idempotency_key": null,
            "name": "n", "arguments": {}
        }"#,
    ]
    .map(|text| Call::from_value(&json(text)).unwrap_err().to_string());
    let texts = principals.into_iter().chain(calls).collect::<Vec<_>>();
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn rules_nest_as_deep_as_the_domain_and_no_deeper() {
    let leaf = r#"{"type": "boolean"}"#.to_owned();
    // 1 is the rule of the member itself.
    for (levels, accepted) in [(1, true), (14, true)] {
        let rule = (1..levels).fold(leaf.clone(), |rule, _| {
            format!(r#"{{"type": "array", "items": {rule}}}"#)
        });
        let document = with(&json(RICH), "arguments.deep", json(&rule));
        assert_eq!(ToolContract::from_value(&document).is_ok(), accepted);
    }
    for (levels, accepted) in [(32, true), (33, false), (1_000, false)] {
        let mut rule = json(&leaf);
        for _ in 1..levels {
            rule = with(&with(&json("{}"), "type", "array"), "items", rule);
        }
        let document = with(&json(RICH), "arguments.deep", rule);
        assert_eq!(
            ToolContract::from_value(&document).is_ok(),
            accepted,
            "{levels}"
        );
    }
}

#[test]
fn written_contracts_read_back_equal() {
    let rich = ToolContract::from_value(&json(RICH)).unwrap_or_else(|faults| panic!("{faults}"));
    for contract in [
        rich,
        registered("get_order").unwrap(),
        registered("create_refund_draft").unwrap(),
    ] {
        let written = contract.to_value();
        assert_eq!(ToolContract::from_value(&written), Ok(contract));
    }
}

fn optional<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(of)
}

/// A rule's document with a random choice of the members its kind has.
fn any_rule() -> impl Strategy<Value = Value> {
    let bounds = (optional(-9_i64..0), optional(0_i64..9));
    let doubles = (optional(-1e9..0.0), optional(0.0..1e300));
    let lengths = (optional(0_i64..5), optional(5_i64..9));
    let texts = proptest::collection::vec(any::<String>(), 1..4);
    let string = (lengths, optional(texts), optional("[a-z]{1,4}[+*?]?")).prop_map(
        |((least, most), texts, pattern)| {
            rule(
                "string",
                [
                    ("min_length", least.map(Value::from)),
                    ("max_length", most.map(Value::from)),
                    (
                        "enum",
                        texts.map(|texts| {
                            Value::Array(texts.into_iter().map(Value::from).collect())
                        }),
                    ),
                    ("pattern", pattern.map(Value::from)),
                ],
            )
        },
    );
    let number = |bound: Option<f64>| bound.and_then(Number::from_f64).map(Value::from);
    let leaf = prop_oneof![
        string,
        bounds.prop_map(|(least, most)| rule(
            "integer",
            [
                ("minimum", least.map(Value::from)),
                ("maximum", most.map(Value::from))
            ]
        )),
        doubles.prop_map(move |(least, most)| rule(
            "number",
            [("minimum", number(least)), ("maximum", number(most))]
        )),
        Just(rule("boolean", [])),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let members = proptest::collection::btree_map("[a-z]{1,6}", inner.clone(), 0..3);
        prop_oneof![
            (inner, optional(0_i64..3), optional(3_i64..9)).prop_map(|(items, least, most)| rule(
                "array",
                [
                    ("items", Some(items)),
                    ("min_items", least.map(Value::from)),
                    ("max_items", most.map(Value::from)),
                ]
            )),
            members.prop_map(|members| rule(
                "object",
                [(
                    "members",
                    Some(Value::Object(members.into_iter().collect()))
                )]
            )),
        ]
    })
}

fn rule<const N: usize>(kind: &str, members: [(&str, Option<Value>); N]) -> Value {
    let mut rule = with(&json("{}"), "type", kind);
    for (name, member) in members {
        if let Some(member) = member {
            rule = with(&rule, name, member);
        }
    }
    rule
}

proptest! {
    #[test]
    fn any_contract_reads_back_equal(
        arguments in proptest::collection::btree_map("[a-z]{1,6}", (any_rule(), any::<bool>()), 0..4),
        output in proptest::collection::btree_map("out_[a-z]{1,6}", any_rule(), 0..4),
    ) {
        let mut document = json(RICH);
        let bound = arguments.keys().next().cloned();
        let arguments = arguments
            .into_iter()
            .map(|(name, (rule, optional))| (name, if optional { with(&rule, "optional", true) } else { rule }));
        document = with(&document, "arguments", Value::Object(arguments.collect()));
        let output = output.into_iter().map(|(name, rule)| match &bound {
            Some(argument) => (name, with(&rule, "equals_argument", argument.as_str())),
            None => (name, rule),
        });
        document = with(&document, "output", Value::Object(output.collect()));
        let contract = ToolContract::from_value(&document);
        prop_assert!(contract.is_ok(), "{}", contract.unwrap_err());
        let contract = contract.unwrap();
        prop_assert_eq!(ToolContract::from_value(&contract.to_value()), Ok(contract));
    }

    #[test]
    fn arbitrary_contract_document_never_panics(
        place in prop::sample::select(vec![
            "name", "risk", "revisions", "revisions.effect", "arguments", "arguments.order_ref",
            "arguments.order_ref.pattern", "arguments.parcels.items", "output", "output.state.enum",
            "limits", "limits.output_depth", "timeout_ms",
        ]),
        value in crate::mutations::any_value(),
    ) {
        let document = with(&json(RICH), place, value);
        let _ = ToolContract::from_value(&document).map_err(|faults| faults.to_string());
    }
}
