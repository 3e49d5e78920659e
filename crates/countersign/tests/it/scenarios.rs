//! `scenario`: what it prints, and how it ends.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::program::{countersign, countersign_with};
use crate::terminal::Session;

const SCENARIOS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/scenarios.jsonl.gz"
);

struct Golden {
    fixture: Vec<u8>,
    exit: i64,
    answer: Value,
}

fn golden() -> Vec<Golden> {
    let lines = BufReader::new(GzDecoder::new(File::open(SCENARIOS).unwrap())).lines();
    let read = |line: String| {
        let answer: Value = serde_json::from_str(&line).unwrap();
        Golden {
            fixture: BASE64_STANDARD
                .decode(answer["fixture_b64"].as_str().unwrap())
                .unwrap(),
            exit: answer["exit"].as_i64().unwrap(),
            answer,
        }
    };
    lines.map(|line| read(line.unwrap())).collect()
}

/// As Python's `json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)` writes it, and a line break.
///
/// Both write floats and escapes alike, and a summary's empty containers are lists.
fn dumped(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap();
    format!("{text}\n")
}

#[test]
fn programs_get_the_summary_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("fixture.json");
    let path = place.to_str().unwrap();
    // Starting a program 160 times is slow; the library's own tests run all of them.
    let mut seen = [0; 3];
    for golden in golden().into_iter().step_by(5) {
        std::fs::write(&place, &golden.fixture).unwrap();
        let finished = countersign(&["scenario", "--fixture", path]);
        assert_eq!(i64::from(finished.code), golden.exit, "{}", finished.stderr);
        seen[usize::try_from(golden.exit).unwrap()] += 1;
        if golden.exit == 2 {
            assert_eq!(finished.stdout, "");
            assert!(
                finished.stderr.starts_with("countersign: "),
                "{}",
                finished.stderr
            );
            assert!(!finished.stderr.contains(path) && !finished.stderr.contains("panic"));
        } else {
            assert_eq!(finished.stdout, dumped(&golden.answer["summary"]));
            assert_eq!(finished.stderr, "");
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn packages_and_payloads_come_on_request() {
    let golden = golden()
        .into_iter()
        .find(|golden| golden.exit == 0)
        .unwrap();
    let finished = countersign_with(&["scenario", "--packages", "-"], &golden.fixture, &[]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let mut due = golden.answer["summary"].clone();
    due["packages"] = golden.answer["packages"].clone();
    due["provider_payloads"] = golden.answer["provider_payloads"].clone();
    assert_eq!(
        serde_json::from_str::<Value>(&finished.stdout).unwrap(),
        due
    );
}

#[test]
fn people_get_a_table_as_wide_as_their_terminal() {
    for columns in [100, 60] {
        let ended = Session::new(&["scenario"]).showing_output(columns).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert!(
            ended.terminal.contains("\u{1b}[32mAll as expected."),
            "{}",
            ended.terminal
        );
        let plain = Session::new(&["--color", "never", "scenario"])
            .showing_output(columns)
            .run();
        for line in plain.terminal.lines() {
            assert!(line.chars().count() <= usize::from(columns), "{line}");
        }
        insta::assert_snapshot!(format!("table-of-{columns}-columns"), plain.terminal);
    }
}

#[test]
fn a_format_can_be_named_wherever_the_output_goes() {
    let table = countersign(&["scenario", "--format", "table"]);
    assert_eq!(table.code, 0);
    assert!(
        table.stdout.ends_with("All as expected.\n"),
        "{}",
        table.stdout
    );
    assert!(!table.stdout.contains('\u{1b}'));
    let json = countersign(&["scenario"]);
    let ended = Session::new(&["scenario", "--format", "json"])
        .showing_output(80)
        .run();
    assert_eq!(ended.terminal, json.stdout);
}

#[test]
fn a_step_that_is_not_as_expected_is_pointed_at() {
    let fixture = r#"{"schema_version":"tool-cases-v2",
        "contract":{"model_result":"tool-model-result-v2","protected_audit":"tool-audit-v2"},
        "cases":[{"id":"unknown\u001b[2Jtool","principal":{"tenant_id":"tenant-a","subject_id":"user-1","roles":[]},
        "steps":[{"step_id":"s","action":"dispatch","proposal":{"name":"no_such_tool","arguments":{}},
        "execution_context":{"provider":"openai","api_family":"responses","adapter_revision":"openai-responses-v1",
        "response_id":"r","call_id":"c","operation_id":"o","idempotency_key":null},
        "approval":"none","now":0,"failure":"none","status_ref_from":null,
        "expected":{"code":"OK","status":"succeeded","outcome":"committed","recovery":"none","delivery":"fresh",
        "data":null,"side_effect_count":1}}]}]}"#;
    let finished = countersign_with(
        &["scenario", "--format", "table", "-"],
        fixture.as_bytes(),
        &[],
    );
    assert_eq!((finished.code, finished.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(finished.stdout);
}

#[test]
fn fixtures_that_cannot_be_used_say_why_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("large.json"), " ".repeat(65_537)).unwrap();
    std::fs::write(at("no.json"), "{\n  \"cases\": [\n}").unwrap();
    std::fs::write(at("empty.json"), "").unwrap();
    std::fs::write(
        at("mistyped.json"),
        r#"{"schema": "tool-cases-v2", "contract": {}, "cases": [{"id": "a", "step": []}]}"#,
    )
    .unwrap();
    std::fs::create_dir(at("directory")).unwrap();
    let mut report = String::new();
    for name in [
        "large.json",
        "no.json",
        "empty.json",
        "mistyped.json",
        "directory",
        "missing.json",
    ] {
        let finished = countersign(&["scenario", &at(name)]);
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""));
        writeln!(report, "## {name}\n{}", finished.stderr).unwrap();
    }
    assert!(
        !report.contains(directory.path().to_str().unwrap()),
        "{report}"
    );
    insta::assert_snapshot!(report);
}

#[test]
fn over_ledgers_in_files_everything_comes_out_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("sqlite:{}/{name}", directory.path().display());
    let in_memory = countersign(&["scenario", "--packages"]);
    let in_files = countersign(&["scenario", "--packages", "--ledger", &at("cases")]);
    assert_eq!(in_files.code, 0, "{}", in_files.stderr);
    assert_eq!(in_files.stdout, in_memory.stdout);
    let first = at("cases/case-1.db");
    assert_eq!(
        countersign(&["ledger", "check", "--ledger", &first]).code,
        0
    );
    let again = countersign(&["scenario", "--ledger", &at("cases")]);
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (
            2,
            "countersign: cannot make a new directory for the cases' ledgers: entity already exists\n"
        )
    );
    let in_memory = countersign(&["demo", "--json"]);
    let in_a_file = countersign(&["demo", "--json", "--ledger", &at("demo.db")]);
    assert_eq!(in_a_file.stdout, in_memory.stdout, "{}", in_a_file.stderr);
    assert_eq!(countersign(&["demo", "--ledger", &at("demo.db")]).code, 2);
    let listed = countersign(&["operations", "list", "--ledger", &at("demo.db")]);
    assert_eq!(
        listed.stdout.matches("succeeded").count(),
        2,
        "{}",
        listed.stdout
    );
}
