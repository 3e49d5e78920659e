//! Handler answers that are too deep, too large, or not what the contract says.

use countersign_canonical::{Object, Value};
use countersign_contract::{
    Arguments, Delivery, Fault, HandlerAnswer, Package, Problem, RequestDigest, ToolContract,
};

use crate::cases::{fault, order_answer, order_case, principal, registered};
use crate::editing::{json, nested, with};

/// A read with these arguments, output and limits.
fn contract(arguments: &str, output: &str, [bytes, depth]: [i64; 2]) -> ToolContract {
    let document = registered("get_order").unwrap().to_value();
    let document = with(&document, "arguments", json(arguments));
    let document = with(&document, "output", json(output));
    let document = with(&document, "limits.output_bytes", bytes);
    let document = with(&document, "limits.output_depth", depth);
    ToolContract::from_value(&document).unwrap_or_else(|faults| panic!("{faults}"))
}

fn answer(data: Value) -> HandlerAnswer {
    HandlerAnswer {
        data,
        ..order_answer()
    }
}

fn faults(answer: HandlerAnswer, contract: &ToolContract, arguments: &str) -> Vec<Fault> {
    let arguments = Arguments::new(json(arguments)).unwrap();
    match answer.check(contract, &arguments) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().cloned().collect(),
    }
}

/// Containers of one kind, one inside the other, under the member `a` of an object.
fn containers(levels: usize, object: bool) -> Value {
    let inner = (2..levels).fold(json(if object { "{}" } else { "[]" }), |inner, _| {
        if object {
            with(&json("{}"), "a", inner)
        } else {
            Value::Array(vec![inner])
        }
    });
    with(&json("{}"), "a", inner)
}

/// The rule of such containers.
fn rules(levels: usize, object: bool) -> String {
    let inner = (2..levels).fold(
        if object {
            r#"{"type": "object", "members": {}}"#.to_owned()
        } else {
            r#"{"type": "array", "items": {"type": "boolean"}, "max_items": 0}"#.to_owned()
        },
        |inner, _| {
            if object {
                format!(r#"{{"type": "object", "members": {{"a": {inner}}}}}"#)
            } else {
                format!(r#"{{"type": "array", "items": {inner}}}"#)
            }
        },
    );
    format!(r#"{{"a": {inner}}}"#)
}

#[test]
fn depth_of_any_size_is_refused_and_freed() {
    let contract = registered("get_order").unwrap();
    for levels in [31, 1_000, 1_000_000] {
        for data in [
            nested(levels),
            with(
                &json(r#"{"order_ref": "ORDER-7"}"#),
                "status",
                nested(levels),
            ),
        ] {
            let faults = faults(answer(data), &contract, r#"{"order_ref": "ORDER-7"}"#);
            let first = faults
                .first()
                .map(|fault| (fault.path.as_str(), &fault.problem));
            assert!(
                matches!(first, Some(("data", Problem::Domain(_)))) || levels == 31,
                "{levels}: {first:?}"
            );
            assert!(!faults.is_empty());
        }
        assert!(levels == 31 || Arguments::new(nested(levels)).is_err());
    }
}

#[test]
fn deepest_output_that_a_contract_may_allow_is_packaged_and_verified() {
    for object in [true, false] {
        for allowed in [1, 2, 29, 30] {
            let levels = usize::try_from(allowed).unwrap().max(2);
            let contract = contract("{}", &rules(levels, object), [4_096, allowed]);
            let found = faults(answer(containers(levels, object)), &contract, "{}");
            if levels > usize::try_from(allowed).unwrap() {
                assert_eq!(found, [fault("data", Problem::TooDeep(1))]);
                continue;
            }
            assert_eq!(found, [], "{allowed}");
            let deeper = containers(levels + 1, object);
            assert!(!faults(answer(deeper), &contract, "{}").is_empty());
            assert_packaged(answer(containers(levels, object)), &contract);
        }
    }
    let document = registered("get_order").unwrap().to_value();
    let document = with(&document, "limits.output_depth", 31);
    assert!(ToolContract::from_value(&document).is_err());
}

#[test]
fn contract_made_in_the_program_allows_no_deeper_output() {
    for object in [true, false] {
        let mut contract = contract("{}", &rules(31, object), [4_096, 30]);
        contract.limits.depth = usize::MAX;
        assert_eq!(
            faults(answer(containers(31, object)), &contract, "{}"),
            [fault("data", Problem::TooDeep(30))]
        );
    }
}

/// A contract may allow more nodes than a document from outside may have.
#[test]
fn output_of_more_nodes_than_a_document_may_have_is_packaged_and_verified() {
    let rule = r#"{"a": {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}}}"#;
    let contract = contract("{}", rule, [4 << 20, 4]);
    let row = Value::Array(vec![1.into(); 520]);
    let plane = Value::Array(vec![row; 1_024]);
    let data = with(&json("{}"), "a", Value::Array(vec![plane.clone(), plane]));
    assert_packaged(answer(data), &contract);
}

fn assert_packaged(answer: HandlerAnswer, contract: &ToolContract) {
    let mut case = order_case("call-1");
    case.call.arguments = Arguments::new(json("{}")).unwrap();
    let answer = answer.check(contract, &case.call.arguments).unwrap();
    let request = RequestDigest::of(&principal(), &case.call, Some(contract));
    let package = Package::success(
        &principal(),
        &case.call,
        contract,
        request,
        &answer,
        None,
        Delivery::Fresh,
    );
    assert!(!package.to_canonical().is_empty());
    let verified = package.verify(&principal(), &case.call, Some(contract));
    assert!(verified.is_ok());
    assert!(Value::from(package.model_result()).as_object().is_some());
}

#[test]
fn ten_megabytes_are_refused_for_their_size() {
    let contract = registered("get_order").unwrap();
    let data: Object = (0..200)
        .map(|index| (format!("member{index}"), "x".repeat(50_000).into()))
        .collect();
    let faults = faults(
        answer(Value::Object(data)),
        &contract,
        r#"{"order_ref": "ORDER-7"}"#,
    );
    assert_eq!(faults[0], fault("data", Problem::TooManyBytes(256)));
    assert_eq!(faults.len(), 203);
    let lists = Value::Array(vec![Value::Array(vec![Value::Null; 1_024]); 1_025]);
    let data = with(&json(r#"{"order_ref": "ORDER-7"}"#), "status", lists);
    let found = self::faults(answer(data), &contract, r#"{"order_ref": "ORDER-7"}"#);
    assert!(matches!(found[0].problem, Problem::Domain(_)));
}

#[test]
fn bytes_are_counted_in_canonical_form_on_both_sides_of_the_limit() {
    let rule = r#"{"a": {"type": "string"}, "b": {"type": "number"}}"#;
    // {"a":"é\n","b":1.0} in 20 bytes: é takes two, \n is escaped in two.
    let data = json("{\"b\": 1.0, \"a\": \"\u{e9}\\u000a\"}");
    for (limit, expected) in [
        (20, vec![]),
        (19, vec![fault("data", Problem::TooManyBytes(19))]),
    ] {
        let contract = contract("{}", rule, [limit, 1]);
        assert_eq!(faults(answer(data.clone()), &contract, "{}"), expected);
    }
}

#[test]
fn wrong_kind_is_never_converted() {
    let kinds = [
        ("string", r#"{"type": "string"}"#, "a string"),
        ("integer", r#"{"type": "integer"}"#, "an integer"),
        ("number", r#"{"type": "number"}"#, "a number"),
        ("boolean", r#"{"type": "boolean"}"#, "true or false"),
        (
            "array",
            r#"{"type": "array", "items": {"type": "string"}}"#,
            "a list",
        ),
        (
            "object",
            r#"{"type": "object", "members": {}}"#,
            "an object",
        ),
    ];
    let values = [
        ("null", "null"),
        ("string", r#""5""#),
        ("string", r#""true""#),
        ("integer", "1"),
        ("number", "1.0"),
        ("boolean", "true"),
        ("array", "[]"),
        ("object", "{}"),
    ];
    for (kind, rule, due) in kinds {
        let contract = contract("{}", &format!(r#"{{"a": {rule}}}"#), [256, 2]);
        for (value_kind, value) in values {
            let accepted = kind == value_kind || (kind, value_kind) == ("number", "integer");
            let data = json(&format!(r#"{{"a": {value}}}"#));
            let found: Vec<String> = faults(answer(data), &contract, "{}")
                .iter()
                .map(ToString::to_string)
                .collect();
            let expected = (!accepted).then(|| format!("data.a must be {due}"));
            assert_eq!(found, Vec::from_iter(expected), "{value} as {kind}");
        }
    }
}

#[test]
fn numbers_beyond_the_domain_are_refused() {
    let contract = contract("{}", r#"{"a": {"type": "number"}}"#, [256, 1]);
    for (number, accepted) in [
        ("9007199254740991", true),
        ("-9007199254740991", true),
        ("9007199254740992", false),
        ("-9007199254740992", false),
        ("18446744073709551616", false),
        ("1e308", true),
    ] {
        let data = json(&format!(r#"{{"a": {number}}}"#));
        let found = faults(answer(data), &contract, "{}");
        assert_eq!(found.is_empty(), accepted, "{number}: {found:?}");
    }
}

#[test]
fn output_is_bound_to_its_argument_exactly() {
    let rule = r#"{"a": {"type": "number", "equals_argument": "n", "optional": true}}"#;
    let contract = contract(
        r#"{"n": {"type": "number", "optional": true}}"#,
        rule,
        [256, 1],
    );
    let due = || vec![fault("data.a", Problem::NotTheArgument("n".to_owned()))];
    for (arguments, data, expected) in [
        (r#"{"n": 1}"#, r#"{"a": 1}"#, vec![]),
        (r#"{"n": 1.0}"#, r#"{"a": 1.0}"#, vec![]),
        (r#"{"n": 1}"#, r#"{"a": 1.0}"#, due()),
        (r#"{"n": 1.0}"#, r#"{"a": 1}"#, due()),
        (r#"{"n": 0.0}"#, r#"{"a": -0.0}"#, due()),
        (r#"{"n": 1}"#, r#"{"a": 2}"#, due()),
        ("{}", r#"{"a": 1}"#, due()),
        (r#"{"n": 1}"#, "{}", vec![]),
        ("{}", "{}", vec![]),
        ("[1]", r#"{"a": 1}"#, due()),
    ] {
        assert_eq!(
            faults(answer(json(data)), &contract, arguments),
            expected,
            "{arguments} {data}"
        );
    }
}

#[test]
fn members_are_exact() {
    let contract = registered("get_order").unwrap();
    let undefined = || Problem::Expected("absent: the contract does not define it");
    let missing = |name: &str| fault("data", Problem::Missing(name.to_owned()));
    for (data, expected) in [
        (r#"{"order_ref": "ORDER-7", "status": "paid"}"#, vec![]),
        (r#"{"order_ref": "ORDER-7"}"#, vec![missing("status")]),
        ("{}", vec![missing("order_ref"), missing("status")]),
        (
            r#"{"order_ref": "ORDER-7", "status": "paid", "Status": "paid"}"#,
            vec![fault("data.Status", undefined())],
        ),
        (
            r#"{"order_ref": "ORDER-7", "status": "paid", "password": null}"#,
            vec![
                fault("data.password", Problem::SensitiveKey),
                fault("data.password", undefined()),
            ],
        ),
        ("[]", vec![fault("data", Problem::NotAnObject)]),
        ("null", vec![fault("data", Problem::NotAnObject)]),
    ] {
        let found = faults(answer(json(data)), &contract, r#"{"order_ref": "ORDER-7"}"#);
        assert_eq!(found, expected, "{data}");
    }
}

#[test]
fn forbidden_key_is_found_below_everything_that_is_allowed() {
    let rule = r#"{"a": {"type": "array", "items": {"type": "object", "members": {}}}}"#;
    let contract = contract("{}", rule, [256, 4]);
    let data = json(r#"{"a": [{}, {"Pass-Word": 1}, {"PASSWORD": 1}]}"#);
    let found = faults(answer(data), &contract, "{}");
    assert_eq!(found[0], fault("data.a[2].PASSWORD", Problem::SensitiveKey));
}

type Change = fn(&mut HandlerAnswer);

#[test]
fn evidence_and_provenance_are_well_formed() {
    let contract = registered("get_order").unwrap();
    let blank = || Problem::Expected("null or a text that is not blank");
    let time = || Problem::Expected("a UTC time with second precision, YYYY-MM-DDTHH:MM:SSZ");
    let producer = || Problem::Expected("the contract's producer revision");
    let rows: [(Change, Option<(&str, Problem)>); 14] = [
        (|_| {}, None),
        (|answer| answer.resource_revision = None, None),
        (|answer| answer.downstream_request_id = None, None),
        (|answer| answer.receipt_id = Some("x".repeat(4_096)), None),
        (
            |answer| answer.receipt_id = Some("x".repeat(4_097)),
            Some(("receipt_id", Problem::TooManyBytes(4_096))),
        ),
        (
            |answer| answer.resource_revision = Some(String::new()),
            Some(("resource_revision", blank())),
        ),
        (
            |answer| answer.downstream_request_id = Some(" \u{1f}\u{a0}".to_owned()),
            Some(("downstream_request_id", blank())),
        ),
        (
            |answer| answer.receipt_id = Some("\u{1c}".to_owned()),
            Some(("receipt_id", blank())),
        ),
        (
            |answer| answer.receipt_id = Some("\u{200b}".to_owned()),
            None,
        ),
        (
            |answer| answer.producer_revision = "orders-mock-v3".to_owned(),
            Some(("producer_revision", producer())),
        ),
        (
            |answer| answer.producer_revision = "orders-mock-v2 ".to_owned(),
            Some(("producer_revision", producer())),
        ),
        (
            |answer| answer.observed_at = "2026-07-19T00:00:00+00:00".to_owned(),
            Some(("observed_at", time())),
        ),
        (
            |answer| answer.observed_at = "2026-07-19T00:00:00.5Z".to_owned(),
            Some(("observed_at", time())),
        ),
        (
            |answer| answer.observed_at = "1969-12-31T23:59:59Z".to_owned(),
            None,
        ),
    ];
    for (change, expected) in rows {
        let mut answer = order_answer();
        change(&mut answer);
        let expected: Vec<Fault> = expected
            .into_iter()
            .map(|(path, problem)| fault(path, problem))
            .collect();
        let found = faults(answer, &contract, r#"{"order_ref": "ORDER-7"}"#);
        assert_eq!(found, expected);
    }
}

#[test]
fn many_faults_make_no_long_list() {
    let rule =
        r#"{"a": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}}"#;
    let contract = contract("{}", rule, [4 << 20, 3]);
    let data = json("{}");
    let data = with(
        &data,
        "a",
        Value::Array(vec![Value::Array(vec![Value::Null; 500]); 500]),
    );
    let found = faults(answer(data), &contract, "{}");
    assert_eq!(found.len(), countersign_contract::MAX_LISTED_FAULTS);
}
