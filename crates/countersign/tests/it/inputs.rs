//! Wrong inputs of a turn: each is refused in the user's terms, and nothing runs.

use std::fmt::Write as _;

use serde_json::json;

use crate::program::countersign;
use crate::provider::{Provider, note};
use crate::workplace::{Workplace, texts};

/// What is said about the files, with this machine's directories left out of sight.
fn refused(place: &Workplace, arguments: &[&str]) -> String {
    let finished = countersign(arguments);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (2, ""),
        "{finished:?}"
    );
    let own = place.at("");
    assert!(
        !finished.stderr.contains(own.trim_end_matches('/')),
        "{}",
        finished.stderr
    );
    assert!(place.notes().is_empty());
    finished.stderr
}

#[test]
fn responses_that_cannot_be_used() {
    let place = Workplace::new();
    let whole = Provider::Responses.response(&[note("x")]);
    let cases = [
        ("empty", String::new()),
        ("no JSON", "Hello".to_owned()),
        ("cut off", whole.replace("}]", "")),
        ("a member twice", whole.replacen('{', "{\"id\": \"x\", ", 1)),
        ("a list", json!([1]).to_string()),
        ("a stream", format!("event: response.created\ndata: {whole}\n\n")),
        ("one event", json!({"type": "response.output_item.done", "item": {}}).to_string()),
        ("something else", json!({"hello": "world", "\u{1b}[2J": 1}).to_string()),
        ("an error", json!({"error": {"message": "key sk-123 is wrong", "type": "invalid_request_error", "code": "invalid_api_key"}}).to_string()),
        ("unfinished", whole.replace("\"status\":\"completed\"", "\"status\":\"in_progress\"")),
    ];
    let mut report = String::new();
    for (name, response) in cases {
        let arguments = place.turn(&response, &["--approve", "none"]);
        let said = refused(&place, &texts(&arguments));
        assert!(!said.contains("sk-123"), "{said}");
        writeln!(report, "## {name}\n{said}").unwrap();
    }
    let tools = place.at("tools.toml");
    for (name, path) in [("missing", "no/such.json"), ("a directory", "root")] {
        let said = refused(&place, &["turn", "--tools", &tools, &place.at(path)]);
        writeln!(report, "## {name}\n{said}").unwrap();
    }
    place.write("huge.json", &" ".repeat((16 << 20) + 1));
    let said = refused(&place, &["turn", "--tools", &tools, &place.at("huge.json")]);
    writeln!(report, "## huge\n{said}").unwrap();
    insta::assert_snapshot!(report);
}

#[test]
fn tools_files_that_cannot_be_used() {
    let tool = "[[tools]]\nname = \"t\"\nrisk = \"read\"\nsource_label = \"s\"\ntimeout_ms = 1\nlimits = { output_bytes = 9, output_depth = 1 }\ncommand = { argv = [\"true\"] }\narguments = {}\noutput = {}\n";
    let policy = "[policy]\nrules = []\n";
    let principal = "[principal]\ntenant_id = \"t\"\nsubject_id = \"s\"\nroles = []\n";
    let whole = format!("{principal}{policy}{tool}");
    let cases = [
        ("empty", String::new()),
        ("no TOML", "[policy]\ntoken = \"S3CRET\" oops\n".to_owned()),
        ("a table twice", format!("{policy}{policy}")),
        ("no tools and no policy", "tools = []\n".to_owned()),
        ("mistyped everywhere", [
            "approval_secnds = 5\n[polcy]\nrules = []\n[principal]\ntenant = \"x\"\n",
            &tool.replace("risk", "rsk").replace("argv", "args"),
            &tool.replace("timeout_ms = 1", "timeout_ms = \"1\"").replace("command", "comand"),
        ].concat()),
        ("values of the wrong kind", [
            "approval_seconds = 90_000\n[policy]\napprovers = \"operator\"\nrules = [{ effect = \"allow\", tools = \"*\" }, { effect = \"forbid\", tools = [\"x\"], approval = \"person\" }]\n[principal]\ntenant_id = \"\"\nsubject_id = 5\nroles = [\"b\", \"a\"]\n",
            "[[tools]]\nname = \"\"\nrisk = \"danger\"\nsource_label = \"s\"\ntimeout_ms = 0\nlimits = { output_bytes = 0, output_depth = 99 }\ndescription = 5\n\
             command = { argv = [\"tool\", 5], directory = 1, environment = \"PATH\", set = { A = 1 }, answers = \"json\", not_started_exit_codes = [0] }\n\
             arguments.a = { type = \"text\" }\noutput.b = { type = \"string\", equals_argument = \"z\" }\n",
        ].concat()),
        ("a tool twice", format!("{principal}{policy}{tool}{tool}")),
        ("no program", whole.replace("[\"true\"]", "[]")),
        ("a program that is not there", whole.replace("[\"true\"]", "[\"./no/such/program\"]")),
        ("a date and no number", whole.replace("timeout_ms = 1", "timeout_ms = 2026-01-01")),
        ("no finite number", whole.replace("timeout_ms = 1", "timeout_ms = inf")),
    ];
    let mut report = String::new();
    for (name, tools) in cases {
        let arguments = place_with(&tools);
        let said = refused(&arguments.0, &texts(&arguments.1));
        assert!(!said.contains("S3CRET"), "{said}");
        writeln!(report, "## {name}\n{said}").unwrap();
    }
    insta::assert_snapshot!(report);
}

fn place_with(tools: &str) -> (Workplace, Vec<String>) {
    let place = Workplace::new();
    place.write("tools.toml", tools);
    let arguments = place.turn(
        &Provider::Responses.response(&[note("x")]),
        &["--approve", "none"],
    );
    (place, arguments)
}

#[test]
fn a_tools_file_that_is_missing_huge_or_no_text_is_refused() {
    let place = Workplace::new();
    let response = place
        .turn(&Provider::Responses.response(&[note("x")]), &[])
        .pop()
        .unwrap();
    place.write("huge.toml", &"#".repeat((1 << 20) + 1));
    std::fs::write(place.path("bytes.toml"), b"a = \"\xff\"").unwrap();
    for (name, due) in [
        (
            "none.toml",
            "cannot read the tools file: there is no such file",
        ),
        ("root", "cannot read the tools file: is a directory"),
        ("huge.toml", "the tools file has more than 1048576 bytes"),
        (
            "bytes.toml",
            "the tools file is not UTF-8: invalid utf-8 sequence of 1 bytes from index 5",
        ),
    ] {
        let said = refused(&place, &["turn", "--tools", &place.at(name), &response]);
        assert_eq!(said, format!("countersign: {due}\n"));
    }
}

#[test]
fn principals_that_cannot_be_used() {
    let place = Workplace::new();
    let mut report = String::new();
    let response = Provider::Responses.response(&[note("x")]);
    for (name, text) in [
        ("no JSON", "tenant"),
        (
            "mistyped",
            r#"{"tenant_id": "t", "subject": "s", "roles": []}"#,
        ),
        (
            "of the wrong kind",
            r#"{"tenant_id": " ", "subject_id": 5, "roles": ["a", "a"]}"#,
        ),
    ] {
        place.write("principal.json", text);
        let file = place.at("principal.json");
        let arguments = place.turn(&response, &["--principal", &file]);
        writeln!(report, "## {name}\n{}", refused(&place, &texts(&arguments))).unwrap();
    }
    let missing = place.at("no.json");
    let arguments = place.turn(&response, &["--principal", &missing]);
    writeln!(
        report,
        "## missing\n{}",
        refused(&place, &texts(&arguments))
    )
    .unwrap();
    let tools = place.read("tools.toml");
    let (_, after) = tools.split_once("[policy]").unwrap();
    place.write("tools.toml", &format!("[policy]{after}"));
    let arguments = place.turn(&response, &[]);
    writeln!(report, "## nobody\n{}", refused(&place, &texts(&arguments))).unwrap();
    insta::assert_snapshot!(report);
}

#[test]
fn a_command_line_that_is_wrong_says_how_it_is_right() {
    let mut report = String::new();
    for arguments in [
        &["turn"][..],
        &["turn", "--tols", "x", "y"],
        &["turn", "--tools", "x", "--provider", "openai", "y"],
        &["turn", "--tools", "x", "--approve", "yes", "y"],
        &[
            "turn",
            "--tools",
            "x",
            "--record-approvals",
            "a",
            "--approvals",
            "b",
            "y",
        ],
        &["scenario", "--fixture", "a", "b"],
        &["canonical", "--form", "rfc8785"],
        &["trun"],
    ] {
        let finished = countersign(arguments);
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""));
        writeln!(
            report,
            "$ countersign {}\n{}",
            arguments.join(" "),
            finished.stderr
        )
        .unwrap();
    }
    insta::assert_snapshot!(report);
}
