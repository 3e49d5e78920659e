//! What an installation is told to mend.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::program::{Finished, countersign_with};
use crate::terminal::Session;

fn doctor(home: &str, options: &[&str]) -> Finished {
    let data = format!("{home}/data");
    let arguments = [&["doctor"], options].concat();
    countersign_with(&arguments, b"", &[("HOME", home), ("XDG_DATA_HOME", &data)])
}

#[test]
fn a_fresh_machine_has_nothing_wrong_and_is_left_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let finished = doctor(home.path().to_str().unwrap(), &["--json"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    let document: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(document["schema"], "countersign-doctor-v1");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn what_is_not_as_it_should_be_is_said_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::create_dir_all(path("data/countersign")).unwrap();
    fs::set_permissions(path("data/countersign"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(path("data/countersign/ledger.db"), "no ledger").unwrap();
    fs::set_permissions(
        path("data/countersign/ledger.db"),
        fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    fs::create_dir(path(".cursor")).unwrap();
    let servers = r#"{"mcpServers": {
        "open\u001b[2J": {"command": "npx"},
        "good": {"command": "/bin/sh/countersign", "args": ["wrap", "--", "sh"]},
        "gone": {"command": "PROGRAM", "args": ["wrap", "--", "no-such-program-anywhere"]},
        "fine": {"command": "PROGRAM", "args": ["wrap", "--", "sh"]},
        "sse": {"type": "sse", "url": "https://example.com"}
    }}"#;
    let servers = servers.replace("PROGRAM", crate::program::PROGRAM);
    fs::write(path(".cursor/mcp.json"), servers).unwrap();
    fs::write(path(".claude.json"), "{\"S3NTINEL\": ").unwrap();
    let finished = doctor(home.path().to_str().unwrap(), &[]);
    assert_eq!(finished.code, 1);
    // Room and terminal differ from machine to machine.
    let lines = finished.stdout.lines();
    let lines: Vec<&str> = lines
        .filter(|line| {
            ![" disk: ", " terminal: ", "a terminal of your own"]
                .iter()
                .any(|part| line.contains(part))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert!(!finished.stdout.contains("S3NTINEL"));
}

#[test]
fn a_ledger_that_is_named_must_be_there() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let finished = doctor(home, &["--ledger", &format!("sqlite:{home}/none.db")]);
    assert_eq!(finished.code, 1, "{}", finished.stdout);
    let ended = Session::new(&["doctor"]).with_variable("HOME", home).run();
    assert!(
        ended.stdout.contains("approvals can be asked for here"),
        "{}",
        ended.stdout
    );
}
