//! One governed action by the command line: proposed, approved, sent, answered; and each of them spoiled.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::{Run, run};

const NOW: &str = "1784000000";
const ACTION_ID: &str = "8f8b2b83-022b-4320-a161-5022409a8a78";

/// A directory with the documents of one action.
struct Desk {
    directory: tempfile::TempDir,
}

impl Desk {
    /// Lays out everything that one action needs, each document made by the program from the ones before it.
    fn new() -> Self {
        let desk = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        desk.put(
            "args.json",
            &json!({"task_id": "t-1", "hours": 24, "reason": "après 🍵"}),
        );
        let fields = [
            "api_request_id",
            "authority_lane",
            "contact_id",
            "platform",
            "sender_id",
            "session_id",
            "task_id",
            "tool_call_id",
            "turn_id",
        ];
        let context: serde_json::Map<_, _> = fields
            .map(|field| (field.to_owned(), json!("v")))
            .into_iter()
            .collect();
        desk.put("context.json", &context.into());
        let build = [
            "contract",
            "build",
            "intent",
            "--tool",
            "colony_task_snooze",
            "--args",
            "args.json",
            "--context",
            "context.json",
        ];
        desk.keep("intent.json", &desk.run(&build));
        desk.keep(
            "envelope.json",
            &desk.run(&[&build[..], &["--envelope"]].concat()),
        );
        desk.put("gate.json", &desk.gate());
        let build = [
            "contract",
            "build",
            "request",
            "--intent",
            "envelope.json",
            "--gate",
            "gate.json",
        ];
        desk.keep("request.json", &desk.run(&build));
        desk.put("result.json", &desk.result());
        desk
    }

    fn gate(&self) -> Value {
        let payload_sha256 = self.digest("envelope.json");
        let evidence = json!({
            "decision": "approved", "authority": "owner", "decision_id": "d-1", "approval_id": "APR-ABCDEF012345",
            "action_id": ACTION_ID, "action_digest": payload_sha256, "revision": 1, "principal": "owner:1",
            "decided_at_epoch": 1_783_999_900, "expires_at_epoch": 1_784_000_060, "channel": "sms", "thread_id": "t",
            "event_id": "e", "event_key": "k", "delivery_id": "d", "delivery_message_id": "m", "binding_method": "delivered_reply",
        });
        self.put("evidence.json", &evidence);
        json!({
            "action": {"action_id": ACTION_ID, "payload_sha256": payload_sha256}, "tool": "colony_task_snooze", "now": 1_784_000_000,
            "receipts": [{
                "receipt_key": "owner-gate", "kind": "gate", "status": "passed", "external_id": "APR-ABCDEF012345",
                "evidence": evidence, "evidence_sha256": self.digest("evidence.json"),
            }],
        })
    }

    fn result(&self) -> Value {
        let effect = json!({
            "schema": "ColonyGovernedActionEffectV1", "version": 1, "effect_id": "eff-1", "outcome": "snoozed",
            "verification": {"state": "snoozed"},
        });
        self.put("effect.json", &effect);
        let request = self.read("request.json");
        let mut result = json!({
            "schema": "ColonyGovernedActionExecutionResultV1", "version": 1, "status": "completed", "effect_state": "performed",
            "effect": effect, "effect_digest": self.digest("effect.json"), "observed_at": 1_784_000_001,
        });
        for field in [
            "execution_digest",
            "action_id",
            "action_digest",
            "intent_id",
            "intent_digest",
            "tool_name",
        ] {
            result[field] = request[field].clone();
        }
        result
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn read(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    fn put(&self, name: &str, document: &Value) {
        std::fs::write(self.path(name), document.to_string()).unwrap();
    }

    fn keep(&self, name: &str, made: &Run) {
        assert_eq!((made.exit, made.stderr.as_str()), (Some(0), ""), "{name}");
        std::fs::write(self.path(name), &made.stdout).unwrap();
    }

    /// Runs the program; arguments that end in `.json` or `.toml` are files on this desk.
    fn run(&self, arguments: &[&str]) -> Run {
        let is_file = |argument: &str| {
            let extension = Path::new(argument).extension();
            extension.is_some_and(|extension| extension == "json" || extension == "toml")
        };
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| {
                if is_file(argument) {
                    self.path(argument).to_str().unwrap().to_owned()
                } else {
                    (*argument).to_owned()
                }
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(&arguments, b"")
    }

    fn digest(&self, name: &str) -> String {
        let digest = self.run(&["canonical", "--form", "utf8", "--digest", name]);
        digest.text().trim().to_owned()
    }

    /// Puts a document with one place changed, and tells what checking it says.
    fn spoiled(&self, name: &str, pointer: &str, value: Value, check: &[&str]) -> String {
        let mut document = self.read(name);
        *document.pointer_mut(pointer).unwrap() = value;
        self.put("spoiled.json", &document);
        shown(check, &self.run(check))
    }
}

/// A run as a snapshot shows it.
fn shown(arguments: &[&str], run: &Run) -> String {
    let exit = run.exit.unwrap();
    format!(
        "$ countersign {}\n{}{}(exit {exit})\n",
        arguments.join(" "),
        run.text(),
        run.stderr
    )
}

#[test]
fn each_document_of_an_action_is_accepted() {
    let desk = Desk::new();
    let checks: [&[&str]; 6] = [
        &["contract", "check", "intent", "intent.json"],
        &["contract", "check", "intent", "envelope.json"],
        &["contract", "check", "gate", "gate.json"],
        &["contract", "check", "request", "request.json"],
        &[
            "contract",
            "check",
            "request",
            "request.json",
            "--action-id",
            ACTION_ID,
        ],
        &[
            "contract",
            "check",
            "result",
            "result.json",
            "--request",
            "request.json",
            "--now",
            NOW,
        ],
    ];
    let checks = checks.map(|check| shown(check, &desk.run(check)));
    insta::assert_snapshot!(checks.join("\n"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let desk = Desk::new();
    let intent = ["contract", "check", "intent", "spoiled.json"];
    let request = ["contract", "check", "request", "spoiled.json"];
    let result = [
        "contract",
        "check",
        "result",
        "spoiled.json",
        "--request",
        "request.json",
        "--now",
        NOW,
    ];
    let gate = ["contract", "check", "gate", "spoiled.json"];
    let late = [
        "contract",
        "check",
        "gate",
        "gate.json",
        "--now",
        "1784000060",
    ];
    let said = [
        desk.spoiled("intent.json", "/args/hours", json!(169), &intent),
        desk.spoiled("envelope.json", "/version", json!(2), &intent),
        desk.spoiled("request.json", "/args/hours", json!(24.5), &request),
        desk.spoiled(
            "request.json",
            "/approval/approval_id",
            json!("apr-1"),
            &request,
        ),
        desk.spoiled("result.json", "/effect/outcome", json!("done"), &result),
        desk.spoiled(
            "gate.json",
            "/receipts/0/evidence/principal",
            json!(""),
            &gate,
        ),
        shown(&late, &desk.run(&late)),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn what_cannot_be_built_is_not_printed() {
    let desk = Desk::new();
    let mut gate = desk.read("gate.json");
    gate["receipts"] = json!([]);
    desk.put("ungated.json", &gate);
    desk.put("bad-args.json", &json!({"hours": 0}));
    let builds: [&[&str]; 3] = [
        &[
            "contract",
            "build",
            "request",
            "--intent",
            "intent.json",
            "--gate",
            "ungated.json",
        ],
        &[
            "contract",
            "build",
            "request",
            "--intent",
            "intent.json",
            "--gate",
            "gate.json",
            "--now",
            "1784000060",
        ],
        &[
            "contract",
            "build",
            "intent",
            "--tool",
            "colony_task_snooze",
            "--args",
            "bad-args.json",
            "--context",
            "context.json",
        ],
    ];
    let said = builds.map(|build| {
        let run = desk.run(build);
        assert_eq!((run.exit, run.text()), (Some(1), ""));
        shown(build, &run)
    });
    insta::assert_snapshot!(said.join("\n"));
}

const CATALOG: &str = r#"
schema = "CountersignToolCatalogV1"
version = 1
name = "mail"

[tools.send]
description = "Sends a mail."
grantable = false
display = { summary = "Send to {to}", target = "Mail", risk = "Sends" }

[tools.send.arguments.to]
kind = "text"
maximum_chars = 100
allow_empty = false
required = true

[tools.send.arguments.tags]
kind = "list"
maximum_elements = 2
element = { kind = "choice", values = ["a", "b"] }
required = false
"#;

#[test]
fn catalogs_are_checked_and_shown() {
    let desk = Desk::new();
    std::fs::write(desk.path("catalog.toml"), CATALOG).unwrap();
    std::fs::write(
        desk.path("bad.toml"),
        CATALOG.replace("100", "0").replace("{to}", "{whom}"),
    )
    .unwrap();
    std::fs::write(desk.path("none.toml"), "tools = 2026-12-01").unwrap();
    let runs: [&[&str]; 7] = [
        &["contract", "catalog", "check", "catalog.toml"],
        &["contract", "catalog", "check", "bad.toml"],
        &["contract", "catalog", "check", "none.toml"],
        &["contract", "schema", "send", "--catalog", "catalog.toml"],
        &[
            "contract",
            "schema",
            "send",
            "--for",
            "anthropic",
            "--catalog",
            "catalog.toml",
        ],
        &[
            "contract",
            "schema",
            "colony_research",
            "--catalog",
            "catalog.toml",
        ],
        &["contract", "schema", "send", "--catalog", "bad.toml"],
    ];
    let runs = runs.map(|arguments| shown(arguments, &desk.run(arguments)));
    insta::assert_snapshot!(runs.join("\n"));
}

#[test]
fn every_interface_gets_all_ten_tools() {
    for interface in [
        "openai",
        "openai-chat",
        "anthropic",
        "gemini",
        "gemini-interactions",
        "mcp",
    ] {
        let printed = run(&["contract", "schema", "--for", interface], b"");
        assert_eq!(printed.exit, Some(0));
        let definitions: Value = serde_json::from_slice(&printed.stdout).unwrap();
        let tools = match interface {
            "gemini" => &definitions[0]["functionDeclarations"],
            "mcp" => &definitions["tools"],
            _ => &definitions,
        };
        assert_eq!(tools.as_array().unwrap().len(), 10, "{interface}");
    }
    let schemas = run(&["contract", "schema"], b"");
    let schemas: Value = serde_json::from_slice(&schemas.stdout).unwrap();
    assert_eq!(schemas.as_object().unwrap().len(), 10);
}

/// A tool that only the host's reading can hold is said to be one, not called a fault of ours.
#[test]
fn a_request_under_ones_own_catalog_is_judged_by_both_readings() {
    let desk = Desk::new();
    std::fs::write(desk.path("catalog.toml"), CATALOG).unwrap();
    let check = [
        "contract",
        "check",
        "request",
        "request.json",
        "--catalog",
        "catalog.toml",
    ];
    let refused = desk.run(&check);
    assert_eq!(refused.exit, Some(1));
    let foreign = "By the host's reading:\n  /tool_name: is not a tool of this catalog\n\
        By the endpoint's reading:\n  tool_name: names a tool that is not in the catalog\n";
    assert!(refused.text().ends_with(foreign), "{}", refused.text());
}

#[test]
fn files_that_cannot_be_used_are_no_verdict() {
    let desk = Desk::new();
    std::fs::write(desk.path("torn.json"), "{").unwrap();
    let cases: [(&[&str], i32, &str); 6] = [
        (
            &["contract", "check", "intent", "absent.json"],
            2,
            "cannot read the intent: there is no such file",
        ),
        (
            &[
                "contract",
                "check",
                "result",
                "result.json",
                "--request",
                "torn.json",
            ],
            2,
            "the request is not strict JSON",
        ),
        (
            &[
                "contract",
                "check",
                "result",
                "result.json",
                "--request",
                "gate.json",
            ],
            2,
            "no result can answer this request",
        ),
        (
            &[
                "contract",
                "check",
                "intent",
                "intent.json",
                "--catalog",
                "torn.json",
            ],
            2,
            "the catalog is not in order",
        ),
        (
            &["contract", "check", "gate", "gate.json", "--now", "soon"],
            2,
            "a positive number of seconds",
        ),
        // What is to be judged is judged, even where it is no JSON.
        (
            &["contract", "check", "intent", "torn.json"],
            1,
            "the document: not strict JSON",
        ),
    ];
    for (arguments, exit, reason) in cases {
        let run = desk.run(arguments);
        assert_eq!(run.exit, Some(exit), "{arguments:?}");
        assert!(
            format!("{}{}", run.text(), run.stderr).contains(reason),
            "{run:?}"
        );
    }
}

#[test]
fn a_document_can_come_from_standard_input() {
    let desk = Desk::new();
    let intent = std::fs::read(desk.path("intent.json")).unwrap();
    let checked = run(&["contract", "check", "intent", "-"], &intent);
    assert_eq!(checked.exit, Some(0), "{checked:?}");
}
