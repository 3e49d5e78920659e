//! Argument rules, kind by kind, at both sides of every bound.

use countersign_contract::{Arguments, Problem, ToolContract};

use crate::cases::{fault, registered};
use crate::editing::{json, with};

/// A value that is accepted, or refused with this text.
type Row = (&'static str, Option<&'static str>);

fn contract(arguments: &str) -> ToolContract {
    let document = registered("get_order").unwrap().to_value();
    let document = with(&document, "arguments", json(arguments));
    let document = with(&document, "output", json("{}"));
    ToolContract::from_value(&document).unwrap_or_else(|faults| panic!("{faults}"))
}

fn refusals(contract: &ToolContract, arguments: &str) -> Vec<String> {
    let arguments = Arguments::new(json(arguments)).unwrap();
    match contract.check_arguments(&arguments) {
        Ok(()) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// Holds each value against the rule of the argument `a`.
fn assert_rule(rule: &str, rows: &[Row]) {
    let contract = contract(&format!(r#"{{"a": {rule}}}"#));
    for (value, refusal) in rows {
        let found = refusals(&contract, &format!(r#"{{"a": {value}}}"#));
        let expected = refusal.map(|text| format!("arguments.a{text}"));
        assert_eq!(found, Vec::from_iter(expected), "{value} under {rule}");
    }
}

#[test]
fn strings_are_measured_in_code_points() {
    let (short, long) = (
        Some(" must be at least 2 characters long"),
        Some(" must be at most 3 characters long"),
    );
    assert_rule(
        r#"{"type": "string", "min_length": 2, "max_length": 3}"#,
        &[
            (r#""a""#, short),
            (r#""ab""#, None),
            (r#""abc""#, None),
            (r#""abcd""#, long),
            (r#""éé""#, None),
            (r#""ééé""#, None),
            (r#""éééé""#, long),
            (r#""🦀🦀🦀""#, None),
            (r#""🦀🦀🦀🦀""#, long),
            (r#""e\u0301e\u0301""#, long),
            // Space around the text does not count towards the least, but towards the most.
            (r#"" a""#, short),
            (r#""a\u001c""#, short),
            (r#""\u001c\u001d\u001e""#, short),
            (r#""\u00a0a\u3000""#, short),
            (r#""a\u200b""#, None),
            (r#""a b""#, None),
            (r#""ab\u001c""#, None),
            (r#"" ab ""#, long),
            ("null", Some(" must be a string")),
        ],
    );
    assert_rule(
        r#"{"type": "string"}"#,
        &[(r#""""#, None), (r#""\u0000""#, None)],
    );
    assert_rule(
        r#"{"type": "string", "min_length": 0, "max_length": 0}"#,
        &[
            (r#""""#, None),
            (r#"" ""#, Some(" must be at most 0 characters long")),
        ],
    );
}

#[test]
fn enumerations_and_patterns_take_the_whole_text_as_written() {
    let one_of = Some(" must be one of duplicate, damaged");
    assert_rule(
        r#"{"type": "string", "enum": ["duplicate", "damaged"]}"#,
        &[
            (r#""damaged""#, None),
            (r#""Damaged""#, one_of),
            (r#""damaged ""#, one_of),
            (r#""damage""#, one_of),
            (r#""""#, one_of),
        ],
    );
    let pattern = Some(" must be a text that matches [a-c]+|x");
    assert_rule(
        r#"{"type": "string", "pattern": "[a-c]+|x"}"#,
        &[
            (r#""abc""#, None),
            (r#""x""#, None),
            (r#""abcx""#, pattern),
            (r#""xx""#, pattern),
            (r#""abc\n""#, pattern),
            (r#""\nabc""#, pattern),
            (r#""""#, pattern),
        ],
    );
}

#[test]
fn integers_are_written_without_fraction_and_exponent() {
    let due = Some(" must be an integer from -1 to 5");
    let kind = Some(" must be an integer");
    assert_rule(
        r#"{"type": "integer", "minimum": -1, "maximum": 5}"#,
        &[
            ("-2", due),
            ("-1", None),
            ("-0", None),
            ("5", None),
            ("6", due),
            ("1.0", due),
            ("1e0", due),
            ("-0.0", due),
            (r#""5""#, kind),
            ("true", kind),
            ("null", kind),
            ("[5]", kind),
        ],
    );
    assert_rule(
        r#"{"type": "integer"}"#,
        &[
            ("9007199254740991", None),
            ("-9007199254740991", None),
            ("1.5", kind),
        ],
    );
    assert_rule(
        r#"{"type": "integer", "minimum": 1}"#,
        &[
            ("0", Some(" must be an integer of at least 1")),
            ("1", None),
        ],
    );
    assert_rule(
        r#"{"type": "integer", "maximum": 1}"#,
        &[("2", Some(" must be an integer of at most 1")), ("1", None)],
    );
}

#[test]
fn numbers_are_of_either_spelling() {
    let due = Some(" must be a number from 0.5 to 2");
    assert_rule(
        r#"{"type": "number", "minimum": 0.5, "maximum": 2}"#,
        &[
            ("0.5", None),
            ("0.49999999999999994", due),
            ("1", None),
            ("2", None),
            ("2.0", None),
            ("2.0000000000000004", due),
            ("3", due),
            (r#""1""#, Some(" must be a number")),
            ("true", Some(" must be a number")),
        ],
    );
}

#[test]
fn booleans_are_true_or_false() {
    let due = Some(" must be true or false");
    assert_rule(
        r#"{"type": "boolean"}"#,
        &[
            ("true", None),
            ("false", None),
            ("1", due),
            ("0", due),
            (r#""true""#, due),
            ("null", due),
        ],
    );
}

#[test]
fn lists_are_counted_and_judged_item_by_item() {
    let count = Some(" must be a list with a number of items from 1 to 2");
    assert_rule(
        r#"{"type": "array", "items": {"type": "string", "min_length": 1}, "min_items": 1, "max_items": 2}"#,
        &[
            ("[]", count),
            (r#"["a"]"#, None),
            (r#"["a", "b"]"#, None),
            (r#"["a", "b", "c"]"#, count),
            (r#"["a", 1]"#, Some("[1] must be a string")),
            (
                r#"["a", "\u001c"]"#,
                Some("[1] must be at least 1 characters long"),
            ),
            (r#""a""#, Some(" must be a list")),
            (r#"{"0": "a"}"#, Some(" must be a list")),
        ],
    );
}

#[test]
fn objects_are_exact_at_every_level() {
    assert_rule(
        r#"{"type": "object", "members": {
            "b": {"type": "object", "members": {
                "c": {"type": "integer"},
                "d": {"type": "integer", "optional": true}
            }},
            "l": {"type": "array", "optional": true, "items": {"type": "object", "members": {"e": {"type": "boolean"}}}}
        }}"#,
        &[
            (r#"{"b": {"c": 1}}"#, None),
            (r#"{"b": {"c": 1, "d": 2}, "l": []}"#, None),
            (r#"{"b": {"c": 1}, "l": [{"e": true}, {"e": false}]}"#, None),
            (
                r#"{"b": {"c": 1, "d": null}}"#,
                Some(".b.d must be an integer"),
            ),
            (r#"{"b": {}}"#, Some(r#".b is missing the member "c""#)),
            (r"{}", Some(r#" is missing the member "b""#)),
            (
                r#"{"b": {"c": 1, "x": 1}}"#,
                Some(".b.x must be absent: the contract does not define it"),
            ),
            (
                r#"{"b": {"c": 1}, "l": [{"e": true}, {"e": 1}]}"#,
                Some(".l[1].e must be true or false"),
            ),
            (
                r#"{"b": {"c": 1}, "l": [{}]}"#,
                Some(r#".l[0] is missing the member "e""#),
            ),
            (r#"{"b": "{\"c\": 1}"}"#, Some(".b must be an object")),
            (r#""{}""#, Some(" must be an object")),
            ("[]", Some(" must be an object")),
        ],
    );
}

#[test]
fn arguments_are_an_object_with_exact_members() {
    let contract =
        contract(r#"{"a": {"type": "string"}, "b": {"type": "integer", "optional": true}}"#);
    for (arguments, expected) in [
        (r#"{"a": "x"}"#, vec![]),
        (r#"{"a": "x", "b": 1}"#, vec![]),
        ("null", vec!["arguments must be an object"]),
        ("[]", vec!["arguments must be an object"]),
        (r#""{\"a\": \"x\"}""#, vec!["arguments must be an object"]),
        (
            r#"{"b": "1", "c": null}"#,
            vec![
                r#"arguments is missing the member "a""#,
                "arguments.b must be an integer",
                "arguments.c must be absent: the contract does not define it",
            ],
        ),
        (
            r#"{"A": "x"}"#,
            vec![
                r#"arguments is missing the member "a""#,
                "arguments.A must be absent: the contract does not define it",
            ],
        ),
    ] {
        assert_eq!(refusals(&contract, arguments), expected, "{arguments}");
    }
}

#[test]
fn arguments_outside_the_digest_domain_are_no_arguments() {
    for (text, accepted) in [
        (r#"{"a": 9007199254740991}"#, true),
        (r#"{"a": 9007199254740992}"#, false),
        (r#"{"a": 123456789012345678901234567890}"#, false),
    ] {
        assert_eq!(Arguments::new(json(text)).is_ok(), accepted, "{text}");
    }
    let problem = Problem::Identifier(countersign_contract::IdentifierError::Blank);
    let call = json(
        r#"{
            "provider": "openai", "api_family": "responses", "adapter_revision": "openai-responses-v1",
            "response_id": "r", "call_id": "c", "operation_id": "o", "idempotency_key": "",
            "name": "n", "arguments": {}
        }"#,
    );
    let faults = countersign_contract::Call::from_value(&call).unwrap_err();
    assert_eq!(
        faults.iter().cloned().collect::<Vec<_>>(),
        [fault("idempotency_key", problem)]
    );
}
