//! Approvals on a real terminal.

use serde_json::json;

use crate::provider::{Provider, note};
use crate::terminal::{Ended, Session};
use crate::workplace::{Workplace, texts, waiting_handle};

const PROVIDER: Provider = Provider::Responses;

fn codes(ended: &Ended, count: usize) -> Vec<String> {
    assert_eq!(ended.code, 0, "{ended:?}");
    PROVIDER.codes(&ended.stdout, &vec!["note"; count])
}

#[test]
fn a_yes_approves_this_call_and_acts_once() {
    for yes in ["yes\n", "YES\n", "  yes \n"] {
        let place = Workplace::new();
        let arguments = place.turn(&PROVIDER.response(&[note("x")]), &[]);
        let ended = Session::new(&texts(&arguments)).answering(yes).run();
        assert_eq!(codes(&ended, 1), ["OK"], "{yes:?}");
        assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
    }
}

#[test]
fn everything_else_denies() {
    let long = format!("{}yes\n", "x".repeat(80));
    let padded = format!("{}yes\n", " ".repeat(61));
    for no in [
        "no\n",
        "\n",
        "y\n",
        "yes please\n",
        "yes\u{4}\u{4}",
        "\u{4}",
        &long,
        &padded,
        "ja\n",
        "\u{ff}yes\n",
    ] {
        let place = Workplace::new();
        let arguments = place.turn(&PROVIDER.response(&[note("x")]), &[]);
        let ended = Session::new(&texts(&arguments)).answering(no).run();
        assert_eq!(codes(&ended, 1), ["APPROVAL_INVALID"], "{no:?}");
        assert!(place.notes().is_empty(), "{no:?}");
    }
}

#[test]
fn a_terminal_that_hangs_up_approves_nothing() {
    let place = Workplace::new();
    let arguments = place.turn(&PROVIDER.response(&[note("x")]), &[]);
    let ended = Session::new(&texts(&arguments)).hanging_up().run();
    assert!(place.notes().is_empty(), "{ended:?}");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let place = Workplace::new();
    let arguments = place.turn(&PROVIDER.response(&[note("x")]), &[]);
    let ended = Session::new(&texts(&arguments))
        .typing_early("yes\nyes\nyes\n")
        .answering("no\n")
        .run();
    assert_eq!(codes(&ended, 1), ["APPROVAL_INVALID"]);
    assert!(place.notes().is_empty());
}

#[test]
fn the_rest_of_an_overlong_line_answers_no_other_question() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("first"), note("second"), note("third")]);
    let arguments = place.turn(&response, &[]);
    let long = format!("{}yes\n", "x".repeat(64));
    let ended = Session::new(&texts(&arguments))
        .answering(&long)
        .answering("no\nyes\n")
        .answering("yes\n")
        .run();
    assert_eq!(
        codes(&ended, 3),
        ["APPROVAL_INVALID", "APPROVAL_INVALID", "OK"]
    );
    assert_eq!(place.notes(), [r#"{"text":"third"}"#]);
}

#[test]
fn each_call_has_its_own_answer() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("a"), note("b"), note("c")]);
    let ended = Session::new(&texts(&place.turn(&response, &[])))
        .answering("no\n")
        .answering("yes\n")
        .answering("no\n")
        .run();
    assert_eq!(
        codes(&ended, 3),
        ["APPROVAL_INVALID", "OK", "APPROVAL_INVALID"]
    );
    assert_eq!(place.notes(), [r#"{"text":"b"}"#]);
}

#[test]
fn standard_input_never_approves() {
    let place = Workplace::new();
    let yes = "yes\n".repeat(1000);
    let arguments = place.turn(&PROVIDER.response(&[note("x")]), &[]);
    let ended = Session::new(&texts(&arguments))
        .reading(&yes)
        .answering("no\n")
        .run();
    assert_eq!(codes(&ended, 1), ["APPROVAL_INVALID"]);
    let later = PROVIDER.response(&[note("y")]).replace("resp_1", "resp_2");
    let arguments = place.turn(&later, &[]);
    let ended = Session::new(&texts(&arguments))
        .reading(&yes)
        .without_terminal()
        .run();
    assert_eq!(codes(&ended, 1), ["APPROVAL_REQUIRED"]);
    let handle = waiting_handle(&ended.stderr);
    assert_eq!(
        ended.stderr,
        format!(
            "countersign: there is no terminal to ask on: writes stay unapproved\n\
             countersign: note: waits for a decision: countersign approvals show {handle}\n\
             countersign: note: APPROVAL_REQUIRED\n"
        )
    );
    assert!(place.notes().is_empty());
}

#[test]
fn reads_need_no_terminal_and_nobody_is_told_that_there_is_none() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[("read_file", json!({"path": "today.md"}))]);
    let ended = Session::new(&texts(&place.turn(&response, &[])))
        .without_terminal()
        .run();
    assert_eq!(ended.code, 0);
    assert_eq!(ended.stderr, "countersign: read_file: OK\n");
}

#[test]
fn with_approve_none_nobody_is_asked() {
    let place = Workplace::new();
    let arguments = place.turn(&PROVIDER.response(&[note("x")]), &["--approve", "none"]);
    let ended = Session::new(&texts(&arguments)).run();
    assert_eq!(codes(&ended, 1), ["APPROVAL_REQUIRED"]);
    assert_eq!(ended.terminal, "");
}

#[test]
fn the_question_shows_the_whole_call_and_nothing_in_it_can_act() {
    let place = Workplace::new();
    place.edit_tools(
        "name = \"note\"",
        "name = \"note\"\nrevisions.effect = \"add-note-v1\"",
    );
    place.edit_tools(
        "Adds a line to the notes.",
        "Adds\\u001b[8m a line\\u202e to the notes.",
    );
    let text = "one\ntwo \u{202e}sey epyT\u{1b}[2J\u{7}\u{200b}é";
    let arguments = place.turn(&PROVIDER.response(&[note(text)]), &[]);
    let ended = Session::new(&texts(&arguments))
        .with_variable("NO_COLOR", "1")
        .answering("no\n")
        .run();
    insta::assert_snapshot!(ended.terminal);
}

/// A text that the terminal itself would break could draw a line that looks like the program's own.
#[test]
fn no_argument_reaches_the_terminal_s_edge() {
    let place = Workplace::new();
    place.edit_tools(
        "name = \"note\"",
        "name = \"note\"\nrevisions.effect = \"add-note-v1\"",
    );
    let spoof = format!(
        "{}Approve exactly this, as operator? Type  yes: ",
        ".".repeat(80)
    );
    let wide = "漢".repeat(100);
    let response = PROVIDER.response(&[note(&format!("{spoof}{spoof}{wide}"))]);
    let response = response.replace("call_0", &"c".repeat(200));
    let ended = Session::new(&texts(&place.turn(&response, &["--color", "never"])))
        .with_columns(60)
        .answering("no\n")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let questions = ended
        .terminal
        .lines()
        .filter(|line| line.starts_with("Approve"));
    assert_eq!(questions.count(), 1, "{}", ended.terminal);
    for line in ended.terminal.lines() {
        let columns = line
            .chars()
            .map(|shown| if shown.is_ascii() { 1 } else { 2 });
        assert!(columns.sum::<usize>() <= 60, "{line}");
    }
    insta::assert_snapshot!(ended.terminal);
}

#[test]
fn the_question_has_colour_only_where_it_is_wanted_and_shown() {
    let response = PROVIDER.response(&[note("x")]);
    let shown = |options: &[&str], variable: (&str, &str)| {
        // What was denied is not asked again for a while.
        let place = Workplace::new();
        let ended = Session::new(&texts(&place.turn(&response, options)))
            .with_variable(variable.0, variable.1)
            .answering("no\n")
            .run();
        assert_eq!(codes(&ended, 1), ["APPROVAL_INVALID"]);
        ended.terminal
    };
    let plain = shown(&["--color", "never"], ("UNUSED", ""));
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert_eq!(shown(&[], ("NO_COLOR", "1")), plain);
    assert_eq!(shown(&[], ("TERM", "dumb")), plain);
    for colored in [
        shown(&[], ("UNUSED", "")),
        shown(&["--color", "always"], ("TERM", "dumb")),
    ] {
        assert!(colored.contains("\u{1b}["), "{colored}");
    }
}

#[test]
fn the_subject_that_calls_is_never_asked_as_its_own_approver() {
    let place = Workplace::new();
    let response = PROVIDER.response(&[note("x")]);
    place.edit_tools(
        "approvers = [\"operator\"]",
        "approvers = [\"agent\", \"operator\"]",
    );
    let ended = Session::new(&texts(&place.turn(&response, &[])))
        .answering("yes\n")
        .run();
    assert!(
        ended.terminal.contains("as operator?"),
        "{}",
        ended.terminal
    );
    assert_eq!(codes(&ended, 1), ["OK"]);
    place.edit_tools(
        "approvers = [\"agent\", \"operator\"]",
        "approvers = [\"agent\"]",
    );
    let later = PROVIDER.response(&[note("y")]).replace("resp_1", "resp_2");
    let ended = Session::new(&texts(&place.turn(&later, &[]))).run();
    assert_eq!(codes(&ended, 1), ["APPROVAL_REQUIRED"]);
    assert!(
        ended.stderr.contains("no approver other than the subject"),
        "{}",
        ended.stderr
    );
}
