//! The live queue on a real terminal.

use std::fs;

use rustix::process::Signal;

use crate::mcp_client::{Client, handle, outcome};
use crate::program::data_directory;
use crate::terminal::{Ended, Session};
use crate::workplace::Workplace;

const SHORT: &[&str] = &["--approval-wait", "0"];
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

fn watch<'s>(place: &Workplace, options: &[&str]) -> Session<'s> {
    let ledger = place.ledger();
    let fixed = [
        "approvals",
        "watch",
        "--as",
        "operator",
        "--ledger",
        &ledger,
    ];
    Session::new(&[&fixed, options].concat()).with_columns(80)
}

/// The frames that were shown, without what differs between runs.
fn frames(ended: &Ended) -> Vec<String> {
    let frames = ended.terminal.split("\u{1b}[?2026h\u{1b}[H").skip(1);
    let frames = frames.map(|frame| {
        let (frame, _) = frame.split_once("\u{1b}[J").expect(frame);
        let lines: Vec<_> = frame
            .split('\n')
            .map(|line| line.replace("\u{1b}[K", ""))
            .collect();
        assert!(
            !lines.iter().any(|line| line.contains('\u{1b}')),
            "{lines:?}"
        );
        lines.join("\n").trim_end().to_owned()
    });
    frames.map(|frame| steady(&frame)).collect()
}

/// Hex numbers as `#`, digits as one 0.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for piece in text.split_inclusive(|character: char| !character.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        let is_hex = word.len() >= 4 && word.chars().all(|digit| digit.is_ascii_hexdigit());
        if is_hex {
            steady.push('#');
        } else {
            for character in word.chars() {
                match (character.is_ascii_digit(), steady.ends_with('0')) {
                    (true, true) => {}
                    (true, false) => steady.push('0'),
                    (false, _) => steady.push(character),
                }
            }
        }
        steady.push_str(piece.strip_prefix(word).unwrap());
    }
    steady
}

fn assert_given_back(ended: &Ended) {
    assert!(
        ended.terminal.contains(LEAVE) && ended.is_plain,
        "{ended:?}"
    );
}

#[test]
fn a_call_is_read_whole_and_approved_from_the_queue() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let arguments = r#"{"path": "/tmp/p\u0430th/x", "text": "\u001b[2J\u202eend"}"#;
    let waiting = client.call(1, "note", arguments);
    let ended = watch(&place, &[])
        .typing_at("1 waiting", "a")
        .typing_at("a approve", "a")
        .typing_at("passphrase of operator", "correct horse battery\r")
        .typing_at("operator approved it", "q")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_given_back(&ended);
    let frames = frames(&ended);
    let shown = frames.iter().find(|frame| frame.contains("arguments"));
    insta::assert_snapshot!(shown.unwrap());
    assert!(frames[0].contains("note"), "{frames:?}");
    let done = client.call(2, "note", arguments);
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    assert_eq!(handle(&done), handle(&waiting));
}

#[test]
fn the_reason_of_a_denial_reaches_the_agent() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "note", "{}");
    let ended = watch(&place, &[])
        .typing_at("1 waiting", "d")
        .typing_at("d deny", "d")
        .typing_at("the agent is told", "use the other folderr\u{7f}\r")
        .typing_at("passphrase of operator", "correct horse battery\r")
        .typing_at("operator denied it", "?")
        .typing_at("nothing is decided by that", "x")
        .typing_at("nothing waits", "q")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let denied = client.call(2, "note", "{}");
    assert_eq!(
        outcome(&denied)["reason"],
        "use the other folder",
        "{denied}"
    );
    assert_eq!(place.notes().len(), 0);
}

#[test]
fn a_long_call_is_decided_only_after_its_end_was_seen() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let items: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    client.call(1, "note", &format!(r#"{{"n": [{}]}}"#, items.join(",")));
    let ended = watch(&place, &[])
        .typing_at("1 waiting", "s")
        .typing_at("space goes on", "a")
        .typing_at("what is not seen is not decided", "             ")
        .typing_at("a approve", "q")
        .typing_at("1 waiting", "\u{3}")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_given_back(&ended);
    assert_eq!(place.notes().len(), 0);
}

/// Whoever has no key denies, and is offered one before the queue is shown.
#[test]
fn without_a_key_nothing_is_approved_from_the_queue() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "note", "{}");
    let ledger = place.ledger();
    let arguments = [
        "approvals",
        "watch",
        "--as",
        "operator",
        "--ledger",
        &ledger,
    ];
    let ended = Session::of_user(&place.at("data"), &arguments)
        .typing_at("New passphrase of operator: ", "\u{3}")
        .typing_at("no key: deny only", "s")
        .typing_at("a approve", "a")
        .typing_at("approving needs a key", "g")
        .typing_at("Approve calls like this", "\r")
        .typing_at("approving needs a key", "d")
        .typing_at("the agent is told", "\r")
        .typing_at("operator denied it", "q")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let denied = client.call(2, "note", "{}");
    assert_eq!(outcome(&denied)["code"], "APPROVAL_INVALID", "{denied}");
    assert_eq!(place.notes().len(), 0);
}

/// Keys that were pressed before a call was on the screen decide nothing about it.
#[test]
fn what_was_pressed_ahead_decides_nothing() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "note", "{}");
    let ended = watch(&place, &[])
        .typing_early("saaaa")
        .typing_at("1 waiting", "saaaa")
        .typing_at("a approve", "\u{1b}")
        .typing_at("s show", "\u{3}")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let waits = client.call(2, "note", "{}");
    assert_eq!(outcome(&waits)["code"], "APPROVAL_REQUIRED", "{waits}");
}

#[test]
fn calls_like_one_are_granted_from_the_queue() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "note", r#"{"path": "/tmp/a/x", "text": "1"}"#);
    // The path may be anything beneath /tmp/a/, the text anything; five calls.
    let ended = watch(&place, &[])
        .typing_at("1 waiting", "s")
        .typing_at("g grant", "g")
        .typing_at("Approve calls like this", " j u")
        .typing_at("5 calls within", "\r")
        .typing_at("passphrase of operator", "correct horse battery\r")
        .typing_at("is granted until", "q")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let granted = frames(&ended);
    let form = granted
        .iter()
        .rfind(|frame| frame.contains("Approve calls"));
    insta::assert_snapshot!(form.unwrap());
    for (id, path) in [(2, "/tmp/a/x"), (3, "/tmp/a/y")] {
        let done = client.call(
            id,
            "note",
            &format!(r#"{{"path": "{path}", "text": "{id}"}}"#),
        );
        assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    }
    let waits = client.call(4, "note", r#"{"path": "/tmp/b", "text": "1"}"#);
    assert_eq!(outcome(&waits)["code"], "APPROVAL_REQUIRED", "{waits}");
}

#[test]
fn what_is_new_rings_and_runs_a_program_that_hears_its_handle_only() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "note", r#"{"n": 1}"#);
    let told = place.at("told");
    place.write_program("tell.sh", &format!("#!/bin/sh\necho \"$# $1\" >> {told}\n"));
    let program = place.at("tell.sh");
    let session = watch(&place, &["--exec", &program])
        .typing_at("1 waiting", "?")
        .typing_at("2 waiting", "x")
        .typing_at("handle", "q");
    let watching = std::thread::spawn(move || session.run());
    // It may look before or after this: only what comes after its first look is new.
    let mut handles = Vec::new();
    for id in 2..60 {
        if watching.is_finished() {
            break;
        }
        handles.push(handle(&client.call(
            id,
            "note",
            &format!(r#"{{"n": {id}}}"#),
        )));
        std::thread::park_timeout(std::time::Duration::from_millis(500));
    }
    let ended = watching.join().unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.terminal.contains('\u{7}'), "{ended:?}");
    for _ in 0..100 {
        if fs::exists(&told).unwrap() {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    let told = fs::read_to_string(&told).unwrap();
    let (count, first) = told.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!(count, "1");
    assert!(handles.iter().any(|handle| handle == first), "{told}");
}

/// However it ends, the terminal is what it was.
#[test]
fn a_signal_gives_the_terminal_back() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "note", "{}");
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let ended = watch(&place, &[])
            .typing_at("1 waiting", "s")
            .typing_at("a approve", "a")
            .signalled_at("passphrase of operator", signal.as_raw())
            .run();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_given_back(&ended);
    }
    let ledger = place.ledger();
    let waiting = handle(&client.call(2, "note", "{}"));
    let approve = [
        "approvals",
        "approve",
        &waiting,
        "--as",
        "operator",
        "--ledger",
        &ledger,
    ];
    // A passphrase that is being typed is not shown, and neither is anything afterwards that was not to be.
    let ended = Session::of_user(&data_directory(), &approve)
        .answering("yes\n")
        .typing_at("Passphrase of operator: ", "correct\u{3}")
        .run();
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(
        ended.is_plain && !ended.terminal.contains("correct"),
        "{ended:?}"
    );
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let ended = Session::of_user(&data_directory(), &approve)
            .answering("yes\n")
            .signalled_at("Passphrase of operator: ", signal.as_raw())
            .run();
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.is_plain, "{ended:?}");
        assert!(ended.stderr.contains("nothing was decided"), "{ended:?}");
    }
    assert_eq!(place.notes().len(), 0);
}

#[test]
fn without_a_terminal_there_is_no_queue() {
    let place = Workplace::new();
    let client = Client::open(&place, SHORT);
    client.end();
    let alone = watch(&place, &[]).without_terminal().run();
    assert_eq!(alone.code, 2, "{alone:?}");
    assert!(
        alone.stderr.contains("there is no terminal to watch on"),
        "{alone:?}"
    );
}
