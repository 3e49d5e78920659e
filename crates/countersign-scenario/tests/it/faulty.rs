//! Fixtures that cannot be run: every fault is listed, with its place.

use std::fmt::Write as _;

use countersign_scenario::{Error, Fixture, MAX_FIXTURE_BYTES, RunError};
use serde_json::{Value, json};

use crate::sample::{changed, fixture, ran, read};

const WORDS: [&str; 3] = [
    "/cases/0/steps/0/action",
    "/cases/0/steps/0/approval",
    "/cases/0/steps/0/failure",
];

type Changes<'c> = Vec<(&'c str, Option<Value>)>;

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn every_fault_is_listed_with_its_place() {
    let words = |value: Value| WORDS.map(|pointer| (pointer, Some(value.clone()))).to_vec();
    let cases: Vec<(&str, Changes<'_>)> = vec![
        (
            "mistyped members at every level",
            vec![
                ("/shema", Some(json!(1))),
                ("/cases/0/pricipal", Some(json!(1))),
                ("/cases/0/steps/0/aproval", Some(json!("valid"))),
                ("/cases/0/steps/0/proposal/argumnets", Some(json!({}))),
                ("/cases/0/steps/0/execution_context/key", Some(json!("k"))),
                ("/cases/0/steps/0/expected/stauts", Some(json!("failed"))),
                ("/cases/0/steps/1/now", Some(json!("soon"))),
            ],
        ),
        (
            "missing members",
            vec![
                ("/schema_version", None),
                ("/cases/0/principal", None),
                ("/cases/0/steps/0/action", None),
                ("/cases/0/steps/0/now", None),
                ("/cases/0/steps/1/proposal", None),
                ("/cases/0/steps/1/expected", None),
            ],
        ),
        ("unknown words", words(json!("sideways"))),
        ("lists as words", words(json!(["dispatch"]))),
        ("objects as words", words(json!({"dispatch": true}))),
        ("numbers as words", words(json!(0))),
        (
            "other things as a provider",
            vec![
                (
                    "/cases/0/steps/0/execution_context/provider",
                    Some(json!(["openai"])),
                ),
                (
                    "/cases/0/steps/1/execution_context/provider",
                    Some(json!({"name": "openai"})),
                ),
            ],
        ),
        (
            "a provider that is not registered, and one of a later edition",
            vec![
                (
                    "/cases/0/steps/0/execution_context/provider",
                    Some(json!("acme")),
                ),
                (
                    "/cases/0/steps/1/execution_context/api_family",
                    Some(json!("chat-completions")),
                ),
                (
                    "/cases/0/steps/1/execution_context/adapter_revision",
                    Some(json!("openai-chat-completions-v1")),
                ),
            ],
        ),
        (
            "other things as expectations",
            vec![
                ("/cases/0/steps/0/expected/status", Some(json!(["unknown"]))),
                ("/cases/0/steps/0/expected/outcome", Some(json!({}))),
                (
                    "/cases/0/steps/0/expected/code",
                    Some(json!("OUTCOME_UNKOWN")),
                ),
                ("/cases/0/steps/0/expected/delivery", Some(json!(null))),
                ("/cases/0/steps/0/expected/recovery", Some(json!("retry"))),
                ("/cases/0/steps/0/expected/data", Some(json!([]))),
                (
                    "/cases/0/steps/0/expected/side_effect_count",
                    Some(json!(-1)),
                ),
                (
                    "/cases/0/steps/1/expected/side_effect_count",
                    Some(json!(1.0)),
                ),
            ],
        ),
        (
            "ids",
            vec![
                ("/cases/0/id", Some(json!(" "))),
                ("/cases/0/steps/0/step_id", Some(json!("x".repeat(256)))),
                ("/cases/0/steps/1/step_id", Some(json!(7))),
            ],
        ),
        (
            "a step id twice",
            vec![("/cases/0/steps/1/step_id", Some(json!("lost")))],
        ),
        (
            "times out of range",
            vec![
                ("/cases/0/steps/0/now", Some(json!(-1))),
                ("/cases/0/steps/1/now", Some(json!(253_402_300_740_u64))),
            ],
        ),
        (
            "identifiers",
            vec![
                ("/cases/0/principal/tenant_id", Some(json!(""))),
                ("/cases/0/principal/roles", Some(json!(["b", "a"]))),
                (
                    "/cases/0/steps/0/execution_context/call_id",
                    Some(json!("\u{1f}")),
                ),
                (
                    "/cases/0/steps/0/execution_context/idempotency_key",
                    Some(json!("")),
                ),
                (
                    "/cases/0/steps/1/execution_context/response_id",
                    Some(json!(null)),
                ),
                (
                    "/cases/0/steps/1/proposal/name",
                    Some(json!("x".repeat(256))),
                ),
                ("/cases/0/steps/1/proposal/arguments", Some(json!("{}"))),
            ],
        ),
        (
            "a query that asks for more, and of a later step",
            vec![
                ("/cases/0/steps/1/approval", Some(json!("valid"))),
                ("/cases/0/steps/1/failure", Some(json!("rate_limit"))),
                ("/cases/0/steps/1/status_ref_from", Some(json!("asked"))),
            ],
        ),
        (
            "a dispatch of another step's status",
            vec![("/cases/0/steps/0/status_ref_from", Some(json!("lost")))],
        ),
        (
            "another schema",
            vec![
                ("/schema_version", Some(json!("tool-cases-v1"))),
                ("/contract/model_result", Some(json!(null))),
            ],
        ),
        ("no cases", vec![("/cases", Some(json!([])))]),
        ("no steps", vec![("/cases/0/steps", Some(json!({})))]),
        (
            "no objects",
            vec![
                ("/contract", Some(json!([]))),
                ("/cases/0/principal", Some(json!("user-1"))),
                ("/cases/0/steps/0", Some(json!("dispatch"))),
                ("/cases/0/steps/1/execution_context", Some(json!(null))),
            ],
        ),
        (
            "text that acts on a terminal",
            vec![("/cases/0/steps/0/\u{1b}[2J\u{202e}", Some(json!(1)))],
        ),
    ];
    let mut report = String::new();
    for (name, changes) in cases {
        let error = read(&changed(&changes)).expect_err(name);
        writeln!(report, "## {name}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_case_id_twice_and_too_many_cases_are_refused() {
    let mut twice = fixture();
    let case = twice["cases"][0].clone();
    twice["cases"] = json!([case, case]);
    let error = read(&twice).unwrap_err().to_string();
    assert!(error.ends_with("cases[1].id appears twice"), "{error}");

    let mut many = fixture();
    many["cases"] = (0..257).map(|_| json!(0)).collect();
    let error = read(&many).unwrap_err().to_string();
    assert!(
        error.ends_with("cases must be a list of 1 to 256 items"),
        "{error}"
    );
}

#[test]
fn what_is_no_strict_json_is_refused_with_its_place() {
    let deep = "[".repeat(40);
    let cases: [(&[u8], &str); 6] = [
        (b"", "line 1, column 1"),
        (b"{\n  \"a\": 1,\n  \"a\": 2\n}", "line 3"),
        (b"{\"a\": NaN}", "column 7"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"{\"a\": \"\xff\"}", "UTF-8"),
        (deep.as_bytes(), "nest"),
    ];
    for (bytes, due) in cases {
        let error = Fixture::read(bytes).unwrap_err();
        assert!(matches!(error, Error::Json(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains(due), "{error} does not say {due}");
    }
}

#[test]
fn the_size_limit_is_exact() {
    let text = fixture().to_string();
    let room = MAX_FIXTURE_BYTES - text.len();
    let full = format!("{text}{}", " ".repeat(room));
    assert!(Fixture::read(full.as_bytes()).is_ok());
    let error = Fixture::read(format!("{full} ").as_bytes()).unwrap_err();
    assert!(matches!(error, Error::TooLarge));
    assert_eq!(error.to_string(), "the fixture has more than 65536 bytes");
}

type Judge = fn(&RunError) -> bool;

#[test]
fn what_makes_no_sense_is_an_error_and_no_result() {
    let unknown = Some(json!("no_such_tool"));
    let none = Some(json!("none"));
    let cases: [(Changes<'_>, Judge, &str); 4] = [
        (
            vec![("/cases/0/steps/0/proposal/name", unknown.clone())],
            |error| matches!(error, RunError::ApprovalOfUnknownTool(_)),
            "cases[0].steps[0].approval: a tool that is not registered cannot be approved",
        ),
        (
            vec![
                ("/cases/0/steps/0/proposal/name", Some(json!("get_order"))),
                (
                    "/cases/0/steps/0/proposal/arguments",
                    Some(json!({"order_ref": "ORDER-7"})),
                ),
                ("/cases/0/steps/0/approval", none.clone()),
            ],
            |error| matches!(error, RunError::LostReadAnswer(_)),
            "cases[0].steps[0].failure: only a write can time out after its commit",
        ),
        (
            vec![("/cases/0/steps/0/approval", none)],
            |error| matches!(error, RunError::NoStatusRef(_)),
            "cases[0].steps[1].status_ref_from: the result of that step carries no status_ref",
        ),
        (
            vec![("/cases/0/steps/1/proposal/name", unknown)],
            |error| matches!(error, RunError::StatusOfUnknownTool(_)),
            "cases[0].steps[1].action: the status of a tool that is not registered cannot be asked for",
        ),
    ];
    for (changes, is_due, text) in cases {
        let error = ran(&changed(&changes)).unwrap_err();
        assert!(is_due(&error), "{error:?}");
        assert_eq!(error.to_string(), text);
    }
}
