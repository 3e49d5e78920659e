//! Several processes on one ledger: one is killed and another goes on, one asks and another decides, one approves and another
//! performs.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Finished, countersign, spawn};
use crate::provider::{Provider, note};
use crate::terminal::{Ended, Session};
use crate::workplace::{Workplace, texts, waiting_handle};

const PROVIDER: Provider = Provider::Responses;
/// The most looks for something that has to happen, 100 ms apart.
const MAX_LOOKS: usize = 600;

#[expect(clippy::disallowed_methods, reason = "another process takes its time")]
fn pause(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..MAX_LOOKS {
        if let Some(found) = look() {
            return found;
        }
        pause(100);
    }
    panic!("{what} never happened");
}

fn over(place: &Workplace, arguments: &[&str]) -> Finished {
    let ledger = place.ledger();
    countersign(&[arguments, &["--ledger", &ledger]].concat())
}

fn answered(place: &Workplace, arguments: &[&str], answer: &'static str) -> Ended {
    let ledger = place.ledger();
    Session::new(&[arguments, &["--ledger", &ledger]].concat())
        .answering(answer)
        .run()
}

fn approve(place: &Workplace, handle: &str) -> Ended {
    let arguments = ["approvals", "approve", handle, "--as", "operator"];
    answered(place, &arguments, "yes\n")
}

/// The handle of the first operation in a state, once there is one.
fn first_in(place: &Workplace, state: &str) -> String {
    until(state, || {
        let listed = over(place, &["operations", "list", "--state", state, "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
        let handle = listed["operations"][0]["status_ref"].as_str()?;
        Some(handle.to_owned())
    })
}

fn state(place: &Workplace, handle: &str) -> String {
    let shown = over(place, &["operations", "show", handle, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    shown["state"].as_str().unwrap().to_owned()
}

fn turn(place: &Workplace, options: &[&str]) -> Finished {
    let response = PROVIDER.response(&[note("x")]);
    countersign(&texts(&place.turn(&response, options)))
}

fn code(finished: &Finished) -> String {
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    PROVIDER.codes(&finished.stdout, &["note"]).remove(0)
}

fn waiting(place: &Workplace) -> String {
    waiting_handle(&turn(place, &["--approve", "none"]).stderr)
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).unwrap();
}

/// A place whose rules approve by themselves.
fn unattended() -> Workplace {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    place
}

#[test]
fn killed_at_any_moment_and_run_again_a_turn_acts_at_most_once() {
    let mut ends = Vec::new();
    for round in 0..12 {
        let place = unattended();
        let response = PROVIDER.response(&[note("x")]);
        let mut child = spawn(&texts(&place.turn(&response, &[])));
        pause(round * 4);
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
        let end = code(&turn(&place, &[]));
        if end == "OK" {
            assert_eq!(place.notes(), [r#"{"text":"x"}"#], "round {round}");
        } else {
            // It may have acted: nobody tries again, and a person sees it.
            assert_eq!(end, "OUTCOME_UNKNOWN", "round {round}");
            first_in(&place, "executing");
        }
        let again = code(&turn(&place, &[]));
        assert_eq!(again, end, "round {round}");
        // The tool goes on when its host is killed.
        pause(100);
        assert!(place.notes().len() <= 1, "round {round}");
        ends.push(end);
    }
    assert!(ends.iter().any(|end| end == "OK"), "{ends:?}");
}

#[test]
fn a_second_terminal_decides_while_the_first_one_s_question_is_open() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    let arguments = place.turn(&response, &[]);
    thread::scope(|scope| {
        let first = scope.spawn(|| Session::new(&texts(&arguments)).run());
        let handle = first_in(&place, "awaiting_approval");
        let second = approve(&place, &handle);
        assert_eq!(second.code, 0, "{second:?}");
        let first = first.join().unwrap();
        assert_eq!(first.code, 0, "{first:?}");
        assert_eq!(PROVIDER.codes(&first.stdout, &["note"]), ["OK"]);
        assert!(
            first
                .stderr
                .contains("somebody else was first: operator approved it"),
            "{}",
            first.stderr
        );
    });
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
}

#[test]
fn of_two_decisions_at_once_one_counts_and_the_other_hears_of_it() {
    let place = Workplace::new();
    let handle = waiting(&place);
    let commands =
        ["approve", "deny"].map(|command| ["approvals", command, &handle, "--as", "operator"]);
    let [one, other] = &commands;
    let mut ended = thread::scope(|scope| {
        let one = scope.spawn(|| answered(&place, one, "yes\n"));
        let other = scope.spawn(|| answered(&place, other, "yes\n"));
        [one.join().unwrap(), other.join().unwrap()]
    });
    ended.sort_by_key(|ended| ended.code);
    let [winner, loser] = &ended;
    assert_eq!((winner.code, loser.code), (0, 1), "{ended:?}");
    assert!(
        loser
            .stderr
            .contains("nothing was decided, since it no longer waits: operator "),
        "{}",
        loser.stderr
    );
    let due = if winner.stderr.contains("is approved") {
        "reserved"
    } else {
        "denied"
    };
    assert_eq!(state(&place, &handle), due);
}

#[test]
fn a_turn_that_waits_is_woken_by_another_process() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    let arguments = place.turn(&response, &["--approve", "wait", "--wait-seconds", "300"]);
    let arguments = texts(&arguments);
    thread::scope(|scope| {
        let turn = scope.spawn(|| countersign(&arguments));
        let handle = first_in(&place, "awaiting_approval");
        assert_eq!(approve(&place, &handle).code, 0);
        assert_eq!(code(&turn.join().unwrap()), "OK");
    });
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
    let other = PROVIDER.response(&[note("y")]).replace("resp_1", "resp_2");
    let arguments = place.turn(&other, &["--approve", "wait", "--wait-seconds", "1"]);
    assert_eq!(code(&countersign(&texts(&arguments))), "APPROVAL_REQUIRED");
}

#[test]
fn what_was_approved_after_its_turn_had_gone_is_performed_by_a_worker() {
    let place = Workplace::new();
    let handle = waiting(&place);
    assert_eq!(approve(&place, &handle).code, 0);
    let tools = place.at("tools.toml");
    let work = ["work", "--tools", &tools, "--once"];
    assert_eq!(over(&place, &work).stderr, "countersign: 1 performed\n");
    assert_eq!(state(&place, &handle), "succeeded");
    let idle = over(&place, &[&work[..], &["--json"]].concat());
    let idle: Value = serde_json::from_str(&idle.stdout).unwrap();
    assert!(
        idle.as_object().unwrap().values().all(|count| count == 0),
        "{idle}"
    );
    assert_eq!(code(&turn(&place, &["--approve", "none"])), "OK");
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
}

#[test]
fn a_worker_finishes_what_it_is_at_when_it_is_stopped() {
    let place = Workplace::new();
    place.write_program(
        "note.sh",
        "#!/bin/sh\ntouch root/begun\nsleep 1\ncat >> root/notes\necho >> root/notes\necho '{\"noted\": true}'\n",
    );
    let handle = waiting(&place);
    let (tools, ledger) = (place.at("tools.toml"), place.ledger());
    let worker = spawn(&["work", "--tools", &tools, "--ledger", &ledger]);
    assert_eq!(approve(&place, &handle).code, 0);
    until("the beginning", || {
        place.path("root/begun").exists().then_some(())
    });
    signal(&worker, Signal::TERM);
    let ended = worker.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert_eq!(
        said,
        "countersign: working until it is stopped\ncountersign: stopped\n"
    );
    assert_eq!(state(&place, &handle), "succeeded");
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
    // One that has nothing to do stops as well.
    let idle = spawn(&["work", "--tools", &tools, "--ledger", &ledger]);
    pause(300);
    signal(&idle, Signal::INT);
    assert_eq!(idle.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn a_worker_leaves_other_principals_operations_alone() {
    let place = Workplace::new();
    let handle = waiting(&place);
    assert_eq!(approve(&place, &handle).code, 0);
    place.write(
        "other.json",
        r#"{"tenant_id":"local","subject_id":"other","roles":["writer"]}"#,
    );
    let (tools, other) = (place.at("tools.toml"), place.at("other.json"));
    let work = over(
        &place,
        &["work", "--tools", &tools, "--principal", &other, "--once"],
    );
    assert_eq!(work.stderr, "countersign: nothing was due\n");
    assert_eq!(state(&place, &handle), "reserved");
}

#[test]
fn a_person_says_what_became_of_an_unknown_outcome() {
    let place = unattended();
    place.write_program(
        "note.sh",
        "#!/bin/sh\ncat >> root/notes\necho >> root/notes\nexit 1\n",
    );
    assert_eq!(code(&turn(&place, &[])), "OUTCOME_UNKNOWN");
    let handle = first_in(&place, "unknown");
    let resolve = |options: &[&'static str], answer: &'static str| {
        let base = [
            "operations",
            "resolve",
            &handle,
            "--as",
            "operator",
            "--note",
            "seen in the file",
        ];
        answered(&place, &[&base[..], options].concat(), answer)
    };
    let early = resolve(&["--not-executed"], "yes\n");
    assert_eq!((early.code, early.terminal.as_str()), (1, ""), "{early:?}");
    assert!(
        early.stderr.contains("may be under way until"),
        "{}",
        early.stderr
    );
    let data = place.at("data.json");
    let committed = |answer: &'static str| {
        let resolve = [
            "operations",
            "resolve",
            &handle,
            "--as",
            "operator",
            "--note",
            "seen in the file",
            "--committed",
            "--answer",
            &data,
        ];
        answered(&place, &resolve, answer)
    };
    place.write("data.json", r#"{"noted": "yes"}"#);
    let unfit = committed("yes\n");
    assert_eq!((unfit.code, unfit.terminal.as_str()), (2, ""), "{unfit:?}");
    assert!(
        unfit.stderr.contains("does not fit the tool's contract"),
        "{}",
        unfit.stderr
    );
    place.write("data.json", r#"{"noted": true}"#);
    assert_eq!(committed("no\n").code, 1);
    assert_eq!(state(&place, &handle), "unknown");
    let resolved = committed("yes\n");
    assert_eq!(resolved.code, 0, "{resolved:?}");
    assert_eq!(state(&place, &handle), "resolved_committed");
    assert_eq!(committed("yes\n").code, 1);
    assert_eq!(code(&turn(&place, &[])), "OK");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn a_status_command_tells_what_became_of_an_unknown_outcome() {
    let place = unattended();
    place.edit_tools(
        "command = { argv = [\"./note.sh\"] }",
        "command = { argv = [\"./note.sh\"] }\nstatus = { argv = [\"./status.sh\"] }",
    );
    place.write_program(
        "note.sh",
        "#!/bin/sh\ncat >> root/notes\necho >> root/notes\nexit 1\n",
    );
    place.write_program("status.sh", "#!/bin/sh\nexit 1\n");
    assert_eq!(code(&turn(&place, &[])), "OUTCOME_UNKNOWN");
    let handle = first_in(&place, "unknown");
    let tools = place.at("tools.toml");
    let query = || over(&place, &["operations", "query", &handle, "--tools", &tools]);
    let without = query();
    assert_eq!(without.code, 1, "{}", without.stderr);
    assert!(without.stdout.contains(" unknown: "), "{}", without.stdout);
    place.write_program(
        "status.sh",
        "#!/bin/sh\necho \"$COUNTERSIGN_STATUS_REF\" > root/asked\necho '{\"noted\": true}'\n",
    );
    let with = query();
    assert_eq!(with.code, 0, "{}", with.stderr);
    assert!(
        with.stdout.contains("it acted, as its receipt proves"),
        "{}",
        with.stdout
    );
    assert_eq!(place.read("root/asked").trim(), handle);
    assert_eq!(code(&turn(&place, &[])), "OK");
    assert_eq!(place.notes().len(), 1, "nothing was executed to find out");
}

#[test]
fn a_tool_that_knows_the_key_is_sent_the_same_one_after_a_crash() {
    let place = unattended();
    place.edit_tools(
        "source_label = \"notes\"\ntimeout_ms = 60_000",
        "source_label = \"notes\"\ntimeout_ms = 1_000\ndownstream_memory_seconds = 3600",
    );
    place.write_program(
        "note.sh",
        "#!/bin/sh\necho \"$COUNTERSIGN_IDEMPOTENCY_KEY\" >> root/keys\n[ -e root/healthy ] || kill -9 $PPID\necho '{\"noted\": true}'\n",
    );
    let response = PROVIDER.response(&[note("x")]);
    let arguments = place.turn(&response, &[]);
    let killed = spawn(&texts(&arguments)).wait_with_output().unwrap();
    assert_eq!(killed.status.code(), None, "{killed:?}");
    fs::write(place.path("root/healthy"), "").unwrap();
    // The lease has to run out, and the attempt's time.
    until("the second attempt", || {
        (code(&turn(&place, &[])) == "OK").then_some(())
    });
    let keys = place.read("root/keys");
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
}
