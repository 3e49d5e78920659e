//! What waits in a ledger and what was done, seen and decided from another process.

use std::fs;

use serde_json::{Value, json};

use crate::program::{Finished, countersign, countersign_with, make_key};
use crate::provider::{Provider, note};
use crate::terminal::{Ended, PASSPHRASE, Session};
use crate::workplace::{Workplace, texts, waiting_handle};

const PROVIDER: Provider = Provider::Responses;

/// Runs a command over the workplace's ledger.
fn over(place: &Workplace, arguments: &[&str]) -> Finished {
    let ledger = place.ledger();
    countersign(&[arguments, &["--ledger", &ledger]].concat())
}

/// The same on a terminal where somebody answers.
fn answered(place: &Workplace, arguments: &[&str], answer: &'static str) -> Ended {
    let ledger = place.ledger();
    Session::new(&[arguments, &["--ledger", &ledger]].concat())
        .with_variable("NO_COLOR", "1")
        .answering(answer)
        .run()
}

fn json_of(finished: &Finished) -> Value {
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    serde_json::from_str(&finished.stdout).unwrap()
}

/// A note that waits for a decision, and its handle.
fn waiting(place: &Workplace, text: &str) -> String {
    let response = PROVIDER.response(&[note(text)]).replace("resp_1", text);
    let finished = countersign(&texts(&place.turn(&response, &["--approve", "none"])));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    waiting_handle(&finished.stderr)
}

fn again(place: &Workplace, text: &str) -> String {
    let response = PROVIDER.response(&[note(text)]).replace("resp_1", text);
    let finished = countersign(&texts(&place.turn(&response, &["--approve", "none"])));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    PROVIDER.codes(&finished.stdout, &["note"]).remove(0)
}

fn state(place: &Workplace, handle: &str) -> String {
    let shown = json_of(&over(place, &["operations", "show", handle, "--json"]));
    shown["state"].as_str().unwrap().to_owned()
}

/// The text with words in the place of times, handles and digests, which differ between runs and machines.
fn settled(text: &str) -> String {
    let is_of_token =
        |character: char| character.is_ascii_alphanumeric() || "-:".contains(character);
    let mut settled = String::new();
    let mut token = String::new();
    for character in text.chars().chain(['\n']) {
        if is_of_token(character) {
            token.push(character);
            continue;
        }
        settled.push_str(&settled_token(&token));
        token.clear();
        settled.push(character);
    }
    settled.trim_end().to_owned()
}

fn settled_token(token: &str) -> String {
    if let Some(digest) = token.strip_prefix("sha256:") {
        return format!("sha256:{}", settled_token(digest));
    }
    if token.starts_with("signed_") {
        return "SIGNATURE".to_owned();
    }
    let is_hex = token.chars().all(|character| character.is_ascii_hexdigit());
    match token.len() {
        20 if token.starts_with("20") && token.ends_with('Z') => "TIME".to_owned(),
        13 if is_hex => "MILLISECONDS".to_owned(),
        32 if is_hex => "HANDLE".to_owned(),
        64 if is_hex => "DIGEST".to_owned(),
        _ => token.to_owned(),
    }
}

#[test]
fn what_waits_is_listed_shown_and_decided_in_another_process() {
    let place = Workplace::new();
    let handle = waiting(&place, "x");
    let listed = json_of(&over(&place, &["approvals", "list", "--json"]));
    assert_eq!(listed["operations"][0]["status_ref"], json!(handle));
    assert_eq!(listed["next"], Value::Null);
    let listed = over(&place, &["approvals", "list", "--json"]);
    insta::assert_snapshot!("list-json", settled(&listed.stdout));
    let list = over(&place, &["approvals", "list"]).stdout;
    let words: Vec<&str> = list.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(words[..2], [handle.as_str(), "awaiting_approval"]);
    assert_eq!(words[3..], ["note", "agent", "of", "local"]);
    let shown = over(&place, &["approvals", "show", &handle]);
    insta::assert_snapshot!("show", settled(&shown.stdout));
    let shown = over(&place, &["operations", "show", &handle, "--json"]);
    insta::assert_snapshot!("show-json", settled(&shown.stdout));
    let prefix: String = handle.chars().skip("status_".len()).take(8).collect();
    let ended = answered(
        &place,
        &["approvals", "approve", &prefix, "--as", "operator"],
        "yes\n",
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    insta::assert_snapshot!("question", settled(&ended.terminal));
    assert_eq!(state(&place, &handle), "reserved");
    assert!(place.notes().is_empty());
    assert_eq!(again(&place, "x"), "OK");
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
    let shown = over(&place, &["operations", "show", &handle]);
    insta::assert_snapshot!("show-done", settled(&shown.stdout));
}

#[test]
fn a_denial_and_its_reason_last() {
    let place = Workplace::new();
    let handle = waiting(&place, "x");
    let deny = [
        "approvals",
        "deny",
        &handle,
        "--as",
        "operator",
        "--reason",
        "not\u{1b}[2J today",
    ];
    let ended = answered(&place, &deny, "no\n");
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (1, "countersign: that was no yes: nothing was decided\n")
    );
    assert_eq!(state(&place, &handle), "awaiting_approval");
    let ended = answered(&place, &deny, "yes\n");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.terminal.contains('\u{1b}'), "{}", ended.terminal);
    assert_eq!(again(&place, "x"), "APPROVAL_INVALID");
    let shown = over(&place, &["approvals", "show", &handle]);
    assert!(
        shown
            .stdout
            .contains(r"operator denied it: not\u{1b}[2J today"),
        "{}",
        shown.stdout
    );
    let late = over(&place, &deny);
    assert_eq!(late.code, 1);
    assert!(!late.stderr.contains('\u{1b}'), "{}", late.stderr);
    assert!(
        late.stderr.contains("operator denied it"),
        "{}",
        late.stderr
    );
}

#[test]
fn nothing_but_a_yes_on_a_terminal_decides() {
    let place = Workplace::new();
    let handle = waiting(&place, "x");
    let ledger = place.ledger();
    for command in ["approve", "deny"] {
        let arguments = [
            "approvals",
            command,
            &handle,
            "--as",
            "operator",
            "--ledger",
            &ledger,
        ];
        let ended = Session::new(&arguments)
            .reading("yes\n")
            .without_terminal()
            .run();
        assert_eq!(ended.code, 2);
        assert_eq!(
            ended.stderr,
            "countersign: there is no terminal to ask on: nothing was decided\n"
        );
        let ended = Session::new(&arguments)
            .reading("yes\n")
            .typing_early("yes\n")
            .answering("\u{4}")
            .run();
        assert_eq!(ended.code, 1, "{ended:?}");
        let own = [
            "approvals",
            command,
            &handle,
            "--as",
            "agent",
            "--ledger",
            &ledger,
        ];
        let ended = Session::new(&own).run();
        assert_eq!(ended.code, 2);
        assert_eq!(
            ended.stderr,
            "countersign: agent asks for this write, and nobody decides about their own\n"
        );
    }
    assert_eq!(state(&place, &handle), "awaiting_approval");
}

#[test]
fn an_approver_whom_the_tools_file_does_not_list_begins_nothing() {
    let place = Workplace::new();
    let handle = waiting(&place, "x");
    let (data, ledger, tools) = (place.at("data"), place.ledger(), place.at("tools.toml"));
    make_key(&data, "somebody");
    let approve = ["approvals", "approve", &handle, "--as", "somebody"];
    let approved = Session::of_user(&data, &[&approve[..], &["--ledger", &ledger]].concat())
        .answering("yes\n")
        .typing_at("Passphrase of somebody: ", PASSPHRASE)
        .run();
    assert_eq!(approved.code, 0, "{approved:?}");
    let work = ["work", "--tools", &tools, "--once", "--ledger", &ledger];
    let work = countersign_with(&work, b"", &[("XDG_DATA_HOME", &data)]);
    assert_eq!(
        (work.code, work.stderr.as_str()),
        (0, "countersign: 1 blocked\n")
    );
    assert_eq!(state(&place, &handle), "blocked");
    assert!(place.notes().is_empty());
}

/// Whoever can write the ledger can write approvals into it: what no key of this user has signed begins nothing.
#[test]
fn what_a_stranger_signed_begins_nothing() {
    let place = Workplace::new();
    let (data, ledger, tools) = (place.at("data"), place.ledger(), place.at("tools.toml"));
    make_key(&data, "operator");
    for text in ["x", "y"] {
        let handle = waiting(&place, text);
        let approve = ["approvals", "approve", &handle, "--as", "operator"];
        let approved = Session::of_user(&data, &[&approve[..], &["--ledger", &ledger]].concat())
            .answering("yes\n")
            .typing_at("Passphrase of operator: ", PASSPHRASE)
            .run();
        assert_eq!(approved.code, 0, "{approved:?}");
        if text == "x" {
            let work = countersign(&["work", "--tools", &tools, "--once", "--ledger", &ledger]);
            assert!(work.stderr.contains("is not signed with a key"), "{work:?}");
            assert!(
                work.stderr.ends_with("countersign: 1 blocked\n"),
                "{work:?}"
            );
            assert_eq!(state(&place, &handle), "blocked");
        } else {
            // It has to be asked for anew.
            assert_eq!(again(&place, text), "APPROVAL_REQUIRED");
            assert_eq!(state(&place, &handle), "awaiting_approval");
        }
    }
    assert!(place.notes().is_empty());
}

#[test]
fn lists_have_filters_pages_and_room_on_narrow_terminals() {
    let place = Workplace::new();
    let handles = ["a", "b", "c"].map(|text| waiting(&place, text));
    let listed = |options: &[&str]| {
        let arguments = [&["operations", "list", "--json"], options].concat();
        let listed = json_of(&over(&place, &arguments));
        let operations = listed["operations"].as_array().unwrap().iter();
        let handles = operations.map(|found| found["status_ref"].as_str().unwrap().to_owned());
        (
            handles.collect::<Vec<_>>(),
            listed["next"].as_str().map(str::to_owned),
        )
    };
    let newest_first: Vec<String> = handles.iter().rev().cloned().collect();
    assert_eq!(listed(&[]), (newest_first.clone(), None));
    let (first, next) = listed(&["--limit", "2"]);
    assert_eq!(first, newest_first[..2]);
    assert_eq!(
        listed(&["--limit", "2", "--after", &next.unwrap()]),
        (newest_first[2..].to_vec(), None)
    );
    for (options, due) in [
        (
            &["--state", "awaiting_approval", "--state", "unknown"][..],
            3,
        ),
        (&["--state", "unknown"], 0),
        (&["--tool", "note"], 3),
        (&["--tool", "write_file"], 0),
        (&["--tenant", "local"], 3),
        (&["--tenant", "elsewhere"], 0),
        (&["--text", "NOTE"], 3),
        (&["--text", &handles[1]], 1),
        (&["--older-than", "1h"], 0),
        (&["--newer-than", "1h"], 3),
        (&["--dead-letters"], 0),
    ] {
        assert_eq!(listed(options).0.len(), due, "{options:?}");
    }
    let page = over(&place, &["operations", "list", "--limit", "1"]);
    assert!(
        page.stderr
            .starts_with("countersign: there are more: --after "),
        "{}",
        page.stderr
    );
    let none = over(&place, &["operations", "list", "--state", "unknown"]);
    assert_eq!(
        (none.code, none.stdout.as_str(), none.stderr.as_str()),
        (0, "", "countersign: there are none\n")
    );
    let ledger = place.ledger();
    for columns in [60, 100] {
        let ended = Session::new(&["operations", "list", "--ledger", &ledger])
            .showing_output(columns)
            .run();
        for handle in &handles {
            assert!(
                ended.terminal.contains(handle.as_str()),
                "{}",
                ended.terminal
            );
        }
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_what_to_do() {
    let place = Workplace::new();
    let handle = waiting(&place, "x");
    let missing = format!("sqlite:{}", place.at("missing.db"));
    let mut report = String::new();
    let mut refused = |arguments: &[&str]| {
        let finished = countersign(arguments);
        assert_eq!(
            (finished.code, finished.stdout.as_str()),
            (2, ""),
            "{arguments:?}"
        );
        assert!(
            !finished.stderr.contains(&place.at("")),
            "{}",
            finished.stderr
        );
        report.push_str(&finished.stderr);
        report.push('\n');
    };
    let ledger = place.ledger();
    refused(&["operations", "list", "--ledger", &missing]);
    refused(&["operations", "show", "0000000", "--ledger", &ledger]);
    refused(&["operations", "show", "00000000", "--ledger", &ledger]);
    refused(&[
        "operations",
        "show",
        "status_00000000000000000000000000000000",
        "--ledger",
        &ledger,
    ]);
    refused(&["approvals", "approve", &handle, "--ledger", &ledger]);
    refused(&[
        "operations",
        "list",
        "--older-than",
        "soon",
        "--ledger",
        &ledger,
    ]);
    refused(&["operations", "list", "--state", "lost", "--ledger", &ledger]);
    refused(&["operations", "list", "--ledger", "postgres:x"]);
    refused(&[
        "operations",
        "resolve",
        &handle,
        "--as",
        "operator",
        "--note",
        "n",
        "--ledger",
        &ledger,
    ]);
    place.set_mode("ledger.db", 0o644);
    refused(&["operations", "list", "--ledger", &ledger]);
    place.set_mode("ledger.db", 0o600);
    place.write("text", "no ledger");
    place.set_mode("text", 0o600);
    let text = format!("sqlite:{}", place.at("text"));
    refused(&["operations", "list", "--ledger", &text]);
    refused(&["ledger", "backup", &place.at("text"), "--ledger", &ledger]);
    insta::assert_snapshot!(report);
}

#[test]
fn a_ledger_is_checked_copied_and_restored() {
    let place = Workplace::new();
    let handle = waiting(&place, "x");
    let checked = json_of(&over(&place, &["ledger", "check", "--json"]));
    assert_eq!(checked["operations"], json!(1));
    assert_eq!(checked["findings"], json!([]));
    let copy = place.at("copy.db");
    assert_eq!(over(&place, &["ledger", "backup", &copy]).code, 0);
    fs::remove_file(place.path("ledger.db")).unwrap();
    let restored = over(&place, &["ledger", "restore", &copy]);
    assert_eq!(restored.code, 0, "{}", restored.stderr);
    assert_eq!(state(&place, &handle), "awaiting_approval");
    let pruned = json_of(&over(
        &place,
        &["ledger", "prune", "--older-than", "1d", "--json"],
    ));
    assert_eq!(pruned["removed"], json!(0));
    let version = over(&place, &["ledger", "migrate", "--check"]);
    assert_eq!(version.code, 0, "{}", version.stderr);
    // One byte of a stored document.
    let bytes = fs::read(place.path("ledger.db")).unwrap();
    let found = bytes
        .windows(14)
        .position(|window| window == b"\"text\":\"x\"}")
        .unwrap_or_else(|| {
            bytes
                .windows(10)
                .position(|window| window == b"\"text\":\"x\"")
                .unwrap()
        });
    let mut damaged = bytes;
    damaged[found + 8] = b'y';
    fs::write(place.path("ledger.db"), damaged).unwrap();
    let checked = over(&place, &["ledger", "check"]);
    assert_eq!(checked.code, 1, "{}", checked.stderr);
    assert!(
        checked.stderr.contains("restore a backup"),
        "{}",
        checked.stderr
    );
    let shown = over(&place, &["operations", "show", &handle]);
    assert_eq!((shown.code, shown.stdout.as_str()), (2, ""));
    assert!(
        shown.stderr.contains("the ledger is damaged"),
        "{}",
        shown.stderr
    );
}

#[test]
fn without_a_name_the_ledger_is_the_user_s_own() {
    let place = Workplace::new();
    let home = place.at("data");
    let arguments = place.turn(&PROVIDER.response(&[note("x")]), &["--approve", "none"]);
    let mut arguments = texts(&arguments);
    let named = arguments
        .iter()
        .position(|argument| *argument == "--ledger")
        .unwrap();
    arguments.drain(named..=named + 1);
    let run = |arguments: &[&str]| countersign_with(arguments, b"", &[("XDG_DATA_HOME", &home)]);
    let finished = run(&arguments);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let handle = waiting_handle(&finished.stderr);
    assert_eq!(place.mode("data/countersign"), 0o700);
    assert_eq!(place.mode("data/countersign/ledger.db"), 0o600);
    assert!(run(&["approvals", "list"]).stdout.contains(&handle));
}
