//! Whole turns, in every provider's shape.

use serde_json::{Value, json};

use crate::program::{countersign, countersign_unread, countersign_with};
use crate::provider::{Provider, note};
use crate::workplace::{EXAMPLES, Workplace, texts, waiting_handle};

const NONE: [&str; 2] = ["--approve", "none"];

fn write_arguments(path: &str) -> Value {
    json!({"path": path, "text": "Hello.\n", "mode": "create"})
}

#[test]
fn four_parallel_calls_are_each_answered_on_their_own() {
    for provider in Provider::ALL {
        let place = Workplace::new();
        let bad = match provider {
            Provider::Responses | Provider::ChatCompletions => (
                json!(null),
                r#"{"path": "today.md", "te"#.to_owned(),
                "ARGUMENTS_NOT_JSON",
            ),
            Provider::Messages => (json!({"path": 7}), String::new(), "INVALID_ARGUMENTS"),
            Provider::Interactions | Provider::GenerateContent => (
                json!("{\"path\": \"today.md\"}"),
                String::new(),
                "ARGUMENTS_FORM",
            ),
        };
        let good = |name, arguments: Value| {
            let text = arguments.to_string();
            (name, arguments, text)
        };
        let calls = [
            good("read_file", json!({"path": "today.md"})),
            ("read_file", bad.0, bad.1),
            good("write_file", write_arguments("new.md")),
            good("broken", json!({})),
        ];
        let response = provider.raw_response(&calls);
        let arguments = place.turn(&response, &NONE);
        let finished = countersign(&texts(&arguments));
        assert_eq!(finished.code, 0, "{provider:?}: {}", finished.stderr);
        let names = ["read_file", "read_file", "write_file", "broken"];
        let answers = provider.answers(&finished.stdout, &names);
        let codes: Vec<&str> = answers.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(
            codes,
            ["OK", bad.2, "APPROVAL_REQUIRED", "TOOL_ERROR"],
            "{provider:?}"
        );
        let read: Value = serde_json::from_str(answers[0].1.as_str().unwrap()).unwrap();
        assert_eq!(read["data"]["text"], "Water the plants.\n");
        assert!(!place.path("root/new.md").exists());
        assert!(place.path("root/token").exists(), "the broken tool ran");
        let said: Vec<&str> = finished.stderr.lines().collect();
        let of = |name: &str, code: &str| format!("countersign: {name}: {code}");
        let due = [
            of("read_file", "OK"),
            of("read_file", bad.2),
            of("write_file", "APPROVAL_REQUIRED"),
            of("broken", "TOOL_ERROR"),
        ];
        for line in &due {
            assert!(said.contains(&line.as_str()), "{line} is not in {said:?}");
        }
    }
}

#[test]
fn a_policy_s_approval_needs_no_person() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    for provider in Provider::ALL {
        let texts_of = ["one", "two"].map(|text| format!("{text} of {provider:?}"));
        let response = provider.response(&texts_of.each_ref().map(|text| note(text)));
        let finished = countersign(&texts(&place.turn(&response, &NONE)));
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        assert_eq!(
            provider.codes(&finished.stdout, &["note", "note"]),
            ["OK", "OK"]
        );
    }
    assert_eq!(place.notes().len(), 10);
}

#[test]
fn the_same_response_twice_acts_once_and_is_answered_alike() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    let provider = Provider::Responses;
    let response = provider.response(&[note("once"), ("write_file", write_arguments("new.md"))]);
    let names = ["note", "write_file"];
    let outputs = [(); 3].map(|()| countersign(&texts(&place.turn(&response, &NONE))).stdout);
    for output in &outputs {
        assert_eq!(provider.codes(output, &names), ["OK", "OK"]);
    }
    let [first, second, third] = outputs;
    assert_eq!(second, third);
    let replayed = first.replace(r#"delivery\":\"fresh"#, r#"delivery\":\"local_replay"#);
    assert_eq!(second, replayed);
    assert_eq!(place.notes(), [r#"{"text":"once"}"#]);
}

#[test]
fn what_no_rule_permits_looks_absent_and_what_is_not_declared_is_unknown() {
    let place = Workplace::new();
    place.edit_tools(
        "tools = [\"read_file\", \"broken\"]",
        "tools = [\"read_file\"]",
    );
    let provider = Provider::Messages;
    let response = provider.response(&[("broken", json!({})), ("rm", json!({}))]);
    let finished = countersign(&texts(&place.turn(&response, &NONE)));
    assert_eq!(finished.code, 0);
    assert_eq!(
        provider.codes(&finished.stdout, &["broken", "rm"]),
        ["NOT_FOUND", "UNKNOWN_TOOL"]
    );
    assert!(!place.path("root/token").exists());
}

#[test]
fn the_operator_is_told_what_is_wrong_with_arguments() {
    let place = Workplace::new();
    let provider = Provider::Messages;
    let response = provider.response(&[(
        "write_file",
        json!({"path": 7, "txt\u{1b}[2J": "S3NTINEL", "mode": "append-S3NTINEL"}),
    )]);
    let finished = countersign(&texts(&place.turn(&response, &NONE)));
    assert_eq!(
        provider.codes(&finished.stdout, &["write_file"]),
        ["INVALID_ARGUMENTS"]
    );
    assert!(!finished.stdout.contains("must be"), "{}", finished.stdout);
    insta::assert_snapshot!(finished.stderr);
}

#[test]
fn a_write_whose_end_is_not_seen_is_unknown() {
    let endings = [
        ("exit 1", "OUTCOME_UNKNOWN"),
        ("kill -9 $$", "OUTCOME_UNKNOWN"),
        ("echo '{\"noted\": 1}'", "OUTPUT_CONTRACT_VIOLATION"),
        ("echo nothing", "OUTPUT_CONTRACT_VIOLATION"),
    ];
    for (ending, due) in endings {
        let place = Workplace::new();
        place.edit_tools("approval = \"person\"", "approval = \"policy\"");
        place.write_program(
            "note.sh",
            &format!("#!/bin/sh\ncat > /dev/null\n{ending}\n"),
        );
        let provider = Provider::Responses;
        let response = provider.response(&[note("x")]);
        let finished = countersign(&texts(&place.turn(&response, &NONE)));
        assert_eq!(
            provider.codes(&finished.stdout, &["note"]),
            [due],
            "{ending}"
        );
    }
}

#[test]
fn a_response_without_calls_needs_nothing_appended() {
    let place = Workplace::new();
    for provider in Provider::ALL {
        let response = match provider {
            // A response of this family without any part is one that was held back.
            Provider::GenerateContent => json!({
                "responseId": "r", "candidates": [{
                    "index": 0, "finishReason": "STOP",
                    "content": {"role": "model", "parts": [{"text": "Done."}]},
                }],
            })
            .to_string(),
            Provider::Responses
            | Provider::ChatCompletions
            | Provider::Messages
            | Provider::Interactions => provider.response(&[]),
        };
        let finished = countersign(&texts(&place.turn(&response, &[])));
        assert_eq!(
            (finished.code, finished.stdout.as_str()),
            (0, ""),
            "{provider:?}: {}",
            finished.stderr
        );
        assert_eq!(
            finished.stderr,
            "countersign: the response makes no tool calls; there is nothing to append\n"
        );
    }
}

#[test]
fn a_response_may_come_on_standard_input_and_under_a_named_family() {
    let place = Workplace::new();
    let response = Provider::Messages.response(&[("read_file", json!({"path": "today.md"}))]);
    let tools = place.at("tools.toml");
    let arguments = [
        "turn",
        "--tools",
        &tools,
        "--provider",
        "anthropic-messages",
        "-",
    ];
    let finished = countersign_with(&arguments, response.as_bytes(), &[]);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(
        Provider::Messages.codes(&finished.stdout, &["read_file"]),
        ["OK"]
    );
    let arguments = [
        "turn",
        "--tools",
        &tools,
        "--provider",
        "openai-responses",
        "-",
    ];
    let finished = countersign_with(&arguments, response.as_bytes(), &[]);
    assert_eq!(finished.code, 2);
    assert_eq!(
        finished.stderr,
        "countersign: the document is of Anthropic Messages, not of OpenAI Responses\n"
    );
}

#[test]
fn a_principal_named_on_the_command_line_counts() {
    let place = Workplace::new();
    place.edit_tools(
        "effect = \"permit\"",
        "effect = \"permit\"\nsubjects = [\"someone\"]",
    );
    let provider = Provider::Responses;
    let response = provider.response(&[("read_file", json!({"path": "today.md"}))]);
    let codes = |options: &[&str]| {
        let finished = countersign(&texts(&place.turn(&response, options)));
        provider.codes(&finished.stdout, &["read_file"])
    };
    assert_eq!(codes(&[]), ["NOT_FOUND"]);
    place.write(
        "principal.json",
        r#"{"tenant_id": "local", "subject_id": "someone", "roles": []}"#,
    );
    assert_eq!(codes(&["--principal", &place.at("principal.json")]), ["OK"]);
}

#[test]
fn a_reader_that_went_away_is_nobody_s_fault() {
    let runs: [&[&str]; 5] = [
        &["demo"],
        &["scenario"],
        &["completions", "bash"],
        &["man"],
        &["scenario", "--format", "table"],
    ];
    for arguments in runs {
        let finished = countersign_unread(arguments);
        assert_eq!(finished.code, 0, "{arguments:?}: {}", finished.stderr);
        assert!(!finished.stderr.contains("error"), "{}", finished.stderr);
    }
}

#[test]
fn the_example_tools_answer_the_example_responses() {
    let tools = format!("{EXAMPLES}/tools.toml");
    for name in [
        "openai-responses",
        "openai-chat-completions",
        "anthropic-messages",
        "gemini-interactions",
        "gemini-generate-content",
    ] {
        let response = format!("{EXAMPLES}/responses/{name}-files.json");
        let place = Workplace::new();
        let finished = countersign(&[
            "turn",
            "--tools",
            &tools,
            "--ledger",
            &place.ledger(),
            "--approve",
            "none",
            &response,
        ]);
        assert_eq!(finished.code, 0, "{name}: {}", finished.stderr);
        let handle = waiting_handle(&finished.stderr);
        assert_eq!(
            finished.stderr,
            format!(
                "countersign: read_file: OK\n\
                 countersign: write_file: waits for a decision: countersign approvals show {handle}\n\
                 countersign: write_file: APPROVAL_REQUIRED\n"
            ),
            "{name}"
        );
    }
}
