//! What must not get out: standard error and variables of tools belong to the operator and the tool alone.

use std::fs;

use serde_json::json;

use crate::program::{countersign, countersign_with};
use crate::provider::{Provider, note};
use crate::workplace::{SENTINEL, SET_SENTINEL, Workplace, texts};

const AMBIENT: &str = "S3NTINEL-of-the-caller";
const ARGUMENT: &str = "S3NTINEL-of-an-argument";

#[test]
fn a_tool_s_words_and_variables_stay_with_the_operator() {
    for provider in Provider::ALL {
        let place = Workplace::new();
        let response = provider.response(&[("broken", json!({}))]);
        let directory = place.at("packages");
        let arguments = place.turn(&response, &["--approve", "none", "--packages", &directory]);
        let finished = countersign(&texts(&arguments));
        assert_eq!(finished.code, 0);
        assert_eq!(
            place.read("root/token").trim(),
            SET_SENTINEL,
            "the tool has its variable"
        );
        assert!(!finished.stdout.contains("S3NTINEL"), "{}", finished.stdout);
        for entry in fs::read_dir(directory).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(!text.contains("S3NTINEL"), "{text}");
        }
        let says = format!("countersign: broken says: {SENTINEL} {SET_SENTINEL} \\u{{1b}}[2Jend\n");
        assert!(finished.stderr.contains(&says), "{}", finished.stderr);
    }
}

#[test]
fn a_tool_s_lines_cannot_pass_for_ours() {
    let place = Workplace::new();
    place.write_program(
        "broken.sh",
        "#!/bin/sh\nprintf 'a\\ncountersign: note: OK\\n\\342\\200\\256b\\n' >&2\nexit 3\n",
    );
    let response = Provider::Responses.response(&[("broken", json!({}))]);
    let finished = countersign(&texts(&place.turn(&response, &[])));
    assert_eq!(
        finished.stderr,
        "countersign: broken says: a\n\
         countersign: broken says: countersign: note: OK\n\
         countersign: broken says: \\u{202e}b\n\
         countersign: broken: TOOL_ERROR\n"
    );
}

#[test]
fn a_tool_sees_the_variables_that_it_was_given_and_no_others() {
    let place = Workplace::new();
    place.write_program("broken.sh", "#!/bin/sh\n/usr/bin/env > root/seen\nexit 3\n");
    let response = Provider::Responses.response(&[("broken", json!({}))]);
    let arguments = place.turn(&response, &[]);
    let ambient = [("AMBIENT", AMBIENT), ("NAMED", "named")];
    let names = || {
        let finished = countersign_with(&texts(&arguments), b"", &ambient);
        assert_eq!(finished.code, 0);
        let seen = place.read("root/seen");
        assert!(!seen.contains(AMBIENT), "{seen}");
        let names = seen
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0.to_owned()));
        // The shell adds some of its own.
        let own = ["PWD", "SHLVL", "_", "OLDPWD"];
        let mut names: Vec<String> = names.filter(|name| !own.contains(&name.as_str())).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["PATH", "TOKEN"]);
    place.edit_tools(
        "[\"./broken.sh\"],",
        "[\"./broken.sh\"], environment = [\"NAMED\", \"UNSET\"],",
    );
    assert_eq!(names(), ["NAMED", "TOKEN"]);
}

#[test]
fn a_write_s_program_is_told_its_key_and_handle() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    place.write_program(
        "note.sh",
        "#!/bin/sh\necho \"$COUNTERSIGN_IDEMPOTENCY_KEY $COUNTERSIGN_STATUS_REF\" >> root/notes\necho '{\"noted\": true}'\n",
    );
    let act = |response: &str| {
        let finished = countersign(&texts(&place.turn(response, &[])));
        assert_eq!(finished.code, 0, "{finished:?}");
        finished.stdout
    };
    let first = act(&Provider::Responses.response(&[note("x")]));
    assert!(first.contains(r#"\"delivery\":\"fresh\""#), "{first}");
    // The same intent under another call id is the same effect, and is answered from the record.
    let other_id = Provider::Responses.response(&[note("x")]);
    let again = act(&other_id.replace("call_0", "call_9"));
    assert!(
        again.contains(r#"\"delivery\":\"local_replay\""#),
        "{again}"
    );
    act(&Provider::Responses
        .response(&[note("y")])
        .replace("resp_1", "resp_2"));
    let notes = place.notes();
    let identities: Vec<(&str, &str)> = notes
        .iter()
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    assert_eq!(identities.len(), 2, "one effect for each intent");
    for (key, handle) in &identities {
        let digest = key.strip_prefix("intent_").unwrap();
        let digest = digest.strip_suffix("_0").unwrap();
        assert_eq!(digest.len(), 64, "{key}");
        assert_eq!(handle.strip_prefix("status_").unwrap().len(), 32);
    }
    assert_ne!(identities[0], identities[1]);
}

#[test]
fn arguments_are_in_no_message() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    place.write_program("note.sh", "#!/bin/sh\ncat > /dev/null\nexit 1\n");
    let response = Provider::Responses.response(&[
        note(ARGUMENT),
        ("note", json!({"txt": ARGUMENT})),
        ("note", json!({"text": [ARGUMENT]})),
        ("read_file", json!({"path": ARGUMENT})),
    ]);
    let finished = countersign(&texts(&place.turn(&response, &[])));
    assert_eq!(finished.code, 0);
    assert!(!finished.stderr.contains(ARGUMENT), "{}", finished.stderr);
    assert!(!finished.stdout.contains(ARGUMENT), "{}", finished.stdout);
}
