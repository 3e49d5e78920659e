//! What a stranger or a careless owner puts in front of the program.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{countersign, countersign_unread, run};
use crate::provider::{Provider, note};
use crate::terminal::Session;
use crate::workplace::{Workplace, texts};

/// A response of one call, with arguments that are nested so deep.
fn response(depth: usize) -> Value {
    let arguments = (1..depth).fold(json!({}), |inner, _| json!({ "a": inner }));
    let call = json!({
        "type": "function_call", "call_id": "call_1", "name": "no_such_tool", "arguments": arguments.to_string(),
    });
    json!({"id": "resp_1", "object": "response", "status": "completed", "output": [call]})
}

#[test]
fn a_package_that_a_turn_kept_can_be_verified_however_deep_its_call() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tools.toml");
    // 31 levels are the deepest arguments that have a digest.
    fs::write(at("response.json"), response(31).to_string()).unwrap();
    let ledger = format!("sqlite:{}", at("ledger.db"));
    let arguments = [
        "turn",
        "--tools",
        tools.to_str().unwrap(),
        "--ledger",
        &ledger,
        "--approve",
        "none",
        "--packages",
        &at("kept"),
        &at("response.json"),
    ];
    let finished = run(&arguments, b"");
    assert_eq!(finished.exit, Some(0), "{}", finished.stderr);
    assert!(
        finished.stderr.ends_with("no_such_tool: UNKNOWN_TOOL\n"),
        "{}",
        finished.stderr
    );
    let names = fs::read_dir(at("kept")).unwrap();
    let names = names.map(|entry| entry.unwrap().path().to_str().unwrap().to_owned());
    let package = names
        .into_iter()
        .find(|name| name.ends_with(".package.json"));
    let package = package.unwrap();
    let call = package.replace(".package.json", ".call.json");
    let finished = run(&["verify", &package, "--call", &call], b"");
    assert_eq!(finished.exit, Some(0), "{}", finished.stderr);
}

#[test]
fn a_recorded_approval_lets_its_call_act_in_one_run_only() {
    let place = Workplace::new();
    place.edit_tools(
        "[\"./note.sh\"] }",
        "[\"./note.sh\"], not_started_exit_codes = [75] }",
    );
    place.write_program(
        "note.sh",
        "#!/bin/sh\n[ -e root/full ] && exit 75\ncat >> root/notes\necho >> root/notes\necho '{\"noted\": true}'\n",
    );
    let provider = Provider::Responses;
    let response = provider.response(&[note("x")]);
    let file = place.at("approvals.json");
    let record = place.turn(&response, &["--record-approvals", &file]);
    let recorded = Session::new(&texts(&record)).answering("yes\n").run();
    assert_eq!(recorded.code, 0, "{recorded:?}");
    let act = place.turn(&response, &["--approve", "none", "--approvals", &file]);
    let code = || {
        let finished = countersign(&texts(&act));
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        provider.codes(&finished.stdout, &["note"]).remove(0)
    };
    // What did not begin uses nothing up.
    place.write("root/full", "");
    assert_eq!(code(), "RATE_LIMIT");
    fs::remove_file(place.path("root/full")).unwrap();
    assert_eq!(code(), "OK");
    // The same again is answered from the record, for as long as it is there, and needs no approval.
    assert_eq!(code(), "OK");
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
    fs::remove_file(&file).unwrap();
    let recorded = Session::new(&texts(&record)).run();
    assert_eq!(
        recorded.stderr,
        "countersign: nothing was approved; the file says so\n"
    );
    assert_eq!(code(), "OK");
    assert_eq!(place.notes(), [r#"{"text":"x"}"#]);
}

#[test]
fn outputs_that_are_lost_never_pass_for_a_run_that_nothing_came_of() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    let response = Provider::Responses.response(&[note("x")]);
    let turn = place.turn(&response, &["--approve", "none"]);
    let finished = countersign_unread(&texts(&turn));
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    assert!(
        finished
            .stderr
            .contains("carried out, but their outputs are lost"),
        "{}",
        finished.stderr
    );
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn packages_are_kept_in_no_directory_that_others_can_write_into() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    fs::create_dir(place.path("kept")).unwrap();
    let response = Provider::Responses.response(&[note("x")]);
    let turn = place.turn(&response, &["--packages", &place.at("kept")]);
    for mode in [0o777, 0o770, 0o722] {
        place.set_mode("kept", mode);
        let finished = countersign(&texts(&turn));
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (
                2,
                "countersign: the package directory must be your own, and nobody else may write into it (chmod 700)\n"
            ),
            "{mode:o}"
        );
    }
    assert!(place.notes().is_empty());
    place.set_mode("kept", 0o755);
    assert_eq!(countersign(&texts(&turn)).code, 0);
}

#[test]
fn a_later_run_writes_over_no_kept_package() {
    let place = Workplace::new();
    place.edit_tools("approval = \"person\"", "approval = \"policy\"");
    let response = Provider::Responses.response(&[note("x")]);
    let turn = place.turn(&response, &["--packages", &place.at("kept")]);
    assert_eq!(countersign(&texts(&turn)).code, 0);
    let names = || {
        let names = fs::read_dir(place.path("kept")).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let package = names().pop().unwrap();
    let first = place.read(&format!("kept/{package}"));
    assert!(first.contains("\"succeeded\""), "{first}");
    assert_eq!(countersign(&texts(&turn)).code, 0);
    assert_eq!(place.read(&format!("kept/{package}")), first);
    assert_eq!(names().len(), 4);
    let second = package.replace(".package", ".2.package");
    let text = place.read(&format!("kept/{second}"));
    assert!(text.contains("local_replay"), "{text}");
    let second = place.at(&format!("kept/{second}"));
    let call = second.replace(".package", ".call");
    assert_eq!(countersign(&["verify", &second, "--call", &call]).code, 0);
}
