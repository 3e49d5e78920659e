//! Approvals made now and used later.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::program::{Finished, countersign};
use crate::provider::{Provider, note};
use crate::terminal::{Ended, Session};
use crate::workplace::{Workplace, texts};

const PROVIDER: Provider = Provider::Responses;

type Change = fn(&Workplace);

fn record(place: &Workplace, response: &str, answers: &[&'static str]) -> Ended {
    let file = place.at("approvals.json");
    let arguments = place.turn(response, &["--record-approvals", &file]);
    let session = Session::new(&texts(&arguments));
    answers
        .iter()
        .fold(session, |session, answer| session.answering(answer))
        .run()
}

fn recorded(place: &Workplace, response: &str) {
    let ended = record(place, response, &["yes\n"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
}

fn act(place: &Workplace, response: &str) -> Finished {
    let file = place.at("approvals.json");
    let options = ["--approve", "none", "--approvals", &file];
    countersign(&texts(&place.turn(response, &options)))
}

fn code(place: &Workplace, response: &str) -> String {
    let finished = act(place, response);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    PROVIDER.codes(&finished.stdout, &["note"]).remove(0)
}

#[test]
fn an_approval_made_earlier_lets_exactly_its_call_act() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[
        note("a"),
        ("read_file", json!({"path": "today.md"})),
        note("b"),
    ]);
    let ended = record(&place, &response, &["yes\n", "no\n"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        ended.stderr,
        "countersign: recorded one approval; each lives for 600 seconds\n"
    );
    assert_eq!(place.mode("approvals.json"), 0o600);
    assert!(place.notes().is_empty(), "recording runs nothing");
    let finished = act(&place, &response);
    assert_eq!(
        PROVIDER.codes(&finished.stdout, &["note", "read_file", "note"]),
        ["OK", "OK", "APPROVAL_REQUIRED"]
    );
    assert_eq!(place.notes(), [r#"{"text":"a"}"#]);
}

#[test]
fn an_approval_dies_with_whatever_it_was_bound_to() {
    // Another effect is another use of the call's id; another policy is not.
    let changes: [(&str, &str, Change); 5] = [
        ("the program", "CALL_ID_CONFLICT", |place| {
            place.write_program("note.sh", "#!/bin/sh\ncat >> root/notes\necho >> root/notes\necho '{\"noted\": true}' # new\n");
        }),
        ("a rule", "APPROVAL_INVALID", |place| {
            place.edit_tools("tools = [\"write_file\", \"note\"]", "tools = [\"note\"]");
        }),
        ("the contract", "CALL_ID_CONFLICT", |place| {
            place.edit_tools(
                "arguments.text = { type = \"string\" }",
                "arguments.text = { type = \"string\", max_length = 99 }",
            );
        }),
        ("the command", "CALL_ID_CONFLICT", |place| {
            place.edit_tools("[\"./note.sh\"]", "[\"./note.sh\", \"--again\"]");
        }),
        // The roles are no part of an approval: they decide what is permitted, each time anew.
        ("the principal", "OK", |place| {
            place.edit_tools("roles = [\"writer\"]", "roles = []");
        }),
    ];
    for (name, due, change) in changes {
        let place = Workplace::new();
        let response = PROVIDER.response(&[note("x")]);
        recorded(&place, &response);
        change(&place);
        assert_eq!(code(&place, &response), due, "{name}");
        assert_eq!(place.notes().len(), usize::from(due == "OK"), "{name}");
    }
}

#[test]
fn an_approval_fits_no_other_arguments_call_response_or_subject() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    recorded(&place, &response);
    assert_eq!(
        code(&place, &PROVIDER.response(&[note("y")])),
        "CALL_ID_CONFLICT"
    );
    assert_eq!(
        code(&place, &response.replace("resp_1", "resp_2")),
        "APPROVAL_REQUIRED"
    );
    let finished = act(&place, &response.replace("call_0", "call_9"));
    assert!(
        finished.stderr.contains("note: APPROVAL_REQUIRED"),
        "{finished:?}"
    );
    place.edit_tools("subject_id = \"agent\"", "subject_id = \"other\"");
    assert_eq!(code(&place, &response), "APPROVAL_REQUIRED");
    assert!(place.notes().is_empty());
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "only time kills an approval that nobody touches"
)]
fn an_expired_or_edited_approval_is_dead() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    recorded(&place, &response);
    let text = place.read("approvals.json");
    let document: Value = serde_json::from_str(&text).unwrap();
    let edits = [
        ("expires_at", json!(1_784_419_200)),
        ("approver_id", json!("somebody")),
        ("approval_digest", json!("0".repeat(64))),
    ];
    for (member, value) in edits {
        let mut edited = document.clone();
        edited["approvals"][0][member] = value.clone();
        place.write("approvals.json", &edited.to_string());
        assert_eq!(
            code(&place, &response),
            "APPROVAL_INVALID",
            "{member} {value}"
        );
    }
    place.write("approvals.json", &text);
    place.edit_tools("approval_seconds = 600", "approval_seconds = 1");
    std::fs::remove_file(place.path("approvals.json")).unwrap();
    recorded(&place, &response);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(code(&place, &response), "APPROVAL_INVALID");
    assert!(place.notes().is_empty());
}

#[test]
fn a_file_that_others_could_have_written_is_refused() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    recorded(&place, &response);
    let refused = |due: &str| {
        let finished = act(&place, &response);
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""));
        assert_eq!(finished.stderr, format!("countersign: {due}\n"));
    };
    let own = "the approvals must be a regular file of your own, no link, that nobody else can read or write (chmod 600)";
    for mode in [0o640, 0o604, 0o620, 0o602, 0o601] {
        place.set_mode("approvals.json", mode);
        refused(own);
    }
    place.set_mode("approvals.json", 0o600);
    std::fs::rename(place.path("approvals.json"), place.path("elsewhere.json")).unwrap();
    refused("cannot read the approvals: there is no such file");
    symlink(place.path("elsewhere.json"), place.path("approvals.json")).unwrap();
    refused(own);
    std::fs::remove_file(place.path("approvals.json")).unwrap();
    std::fs::create_dir(place.path("approvals.json")).unwrap();
    place.set_mode("approvals.json", 0o700);
    refused(own);
    assert!(place.notes().is_empty());
}

#[test]
fn a_file_that_is_not_in_order_is_refused_with_every_fault() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    recorded(&place, &response);
    let document: Value = serde_json::from_str(&place.read("approvals.json")).unwrap();
    let mut report = String::new();
    let mut unknown = document.clone();
    unknown["approvals"][0]["approved"] = true.into();
    let mut mistyped = document.clone();
    mistyped["schema"] = "approvals".into();
    mistyped["approvals"][0]["approval_digest"] = "yes".into();
    mistyped["approvals"][0]["expires_at"] = "tomorrow".into();
    let cases = [
        unknown.to_string(),
        mistyped.to_string(),
        json!({"approvals": []}).to_string(),
        "[]".to_owned(),
        "{\n  \"schema\": 1,\n}".to_owned(),
        String::new(),
    ];
    for text in cases {
        place.write("approvals.json", &text);
        let finished = act(&place, &response);
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""));
        report.push_str(&finished.stderr);
        report.push('\n');
    }
    insta::assert_snapshot!(report);
}

#[test]
fn nobody_is_asked_for_what_could_not_be_written() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    place.write("approvals.json", "mine");
    let ended = record(&place, &response, &[]);
    assert_eq!((ended.code, ended.terminal.as_str()), (2, ""));
    assert_eq!(
        ended.stderr,
        "countersign: the approvals go to a new file, and this one is there already\n"
    );
    assert_eq!(place.read("approvals.json"), "mine");
    let nowhere = place.at("nowhere/approvals.json");
    let arguments = place.turn(&response, &["--record-approvals", &nowhere]);
    let ended = Session::new(&texts(&arguments)).run();
    assert_eq!(ended.code, 2);
    assert_eq!(
        ended.stderr,
        "countersign: there is no directory to write the approvals into\n"
    );
}

#[test]
fn without_a_terminal_nothing_is_recorded() {
    let place = Workplace::new();
    let file = place.at("approvals.json");
    let arguments = place.turn(
        &PROVIDER.response(&[note("x")]),
        &["--record-approvals", &file],
    );
    let ended = Session::new(&texts(&arguments))
        .reading("yes\n")
        .without_terminal()
        .run();
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(!place.path("approvals.json").exists());
}
