//! The official client and a server that people use, with us in between and without.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp_client::decide;
use crate::program::{PROGRAM, data_directory};
use crate::workplace::Workplace;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/official_client.py");

#[test]
fn a_git_server_is_the_same_through_us_and_its_writes_happen_once() {
    let place = Workplace::new();
    let repository = place.at("root");
    git(&repository, &["init", "--quiet"]);
    git(&repository, &["add", "today.md"]);
    git(
        &repository,
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "commit",
            "--quiet",
            "-m",
            "first",
        ],
    );
    let server = interpreter().with_file_name("mcp-server-git");
    let server = [server.to_str().unwrap(), "--repository", &repository];
    let (ledger, pins) = (place.ledger(), place.at("pins"));
    let mut wrapped = vec![PROGRAM, "wrap", "--ledger", &ledger, "--pins", &pins];
    wrapped.extend([
        "--approval-wait",
        "0",
        "--read",
        "git_status,git_diff*,git_log",
        "--",
    ]);
    wrapped.extend(server);

    let repo_path = json!({"repo_path": repository});
    let direct = seen("git_status", &repo_path, &server);
    assert_eq!(seen("git_status", &repo_path, &wrapped), direct);

    let branch = json!({"repo_path": repository, "branch_name": "made"});
    let call = || seen("git_create_branch", &branch, &wrapped)["result"].take();
    let waiting = call();
    let outcome = |result: &Value, name: &str| result["_meta"]["countersign/outcome"][name].clone();
    assert_eq!(outcome(&waiting, "code"), "APPROVAL_REQUIRED");
    assert!(!git(&repository, &["branch"]).contains("made"));
    decide(
        &place,
        "approve",
        outcome(&waiting, "status_ref").as_str().unwrap(),
    );
    let done = call();
    assert_eq!(outcome(&done, "status"), "succeeded", "{done}");
    assert!(git(&repository, &["branch"]).contains("made"));
    // A client that has gone and asks again hears the same, and the server is not asked to make it again.
    let again = call();
    assert_eq!(outcome(&again, "delivery"), "local_replay", "{again}");
    assert_eq!(again["content"], done["content"]);
}

#[expect(clippy::disallowed_methods, reason = "the client is a Python program")]
fn seen(tool: &str, arguments: &Value, server: &[&str]) -> Value {
    let run = Command::new(interpreter())
        .args([CLIENT, tool, &arguments.to_string()])
        .args(server)
        .env("XDG_DATA_HOME", data_directory())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{stderr}");
    serde_json::from_slice(&run.stdout).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "`cargo xtask test` says where it is"
)]
fn interpreter() -> PathBuf {
    let python = std::env::var_os("COUNTERSIGN_TEST_MCP_PYTHON").expect(
        "COUNTERSIGN_TEST_MCP_PYTHON is not set: run `cargo xtask test`, or name a Python interpreter \
         that has tests/mcp/requirements.txt installed",
    );
    python.into()
}

#[expect(clippy::disallowed_methods, reason = "a repository is made by git")]
fn git(repository: &str, arguments: &[&str]) -> String {
    let run = Command::new("git")
        .args(["-C", repository])
        .args(arguments)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}
