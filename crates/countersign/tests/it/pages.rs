//! What people read: help, the demonstration, manual pages, error pages, guides.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use countersign_contract::ErrorCode;
use countersign_providers::Refusal;
use serde_json::json;

use crate::program::countersign;
use crate::provider::Provider;
use crate::terminal::Session;
use crate::workplace::{EXAMPLES, Workplace, texts};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

#[test]
fn every_command_has_help_with_what_it_takes() {
    for command in [
        "",
        "turn",
        "approvals",
        "approvals list",
        "approvals show",
        "approvals approve",
        "approvals deny",
        "approvals watch",
        "approver",
        "approver create",
        "approver show",
        "approver change-passphrase",
        "grants",
        "grants create",
        "grants list",
        "grants revoke",
        "operations",
        "operations list",
        "operations show",
        "operations query",
        "operations resolve",
        "work",
        "ledger",
        "ledger check",
        "ledger backup",
        "ledger restore",
        "ledger prune",
        "ledger migrate",
        "scenario",
        "canonical",
        "verify",
        "vectors",
        "demo",
        "completions",
        "man",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let finished = countersign(&arguments);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
        let longest = finished
            .stdout
            .lines()
            .map(|line| line.chars().count())
            .max();
        assert!(longest.unwrap() <= 110, "{}", finished.stdout);
        // Which commands there are, and what `vectors` answers, grows with the program.
        if !["", "vectors"].contains(&command) {
            insta::assert_snapshot!(
                format!("help-of-{}", command.replace(' ', "-")),
                finished.stdout
            );
        }
    }
    let overview = countersign(&["--help"]).stdout;
    for command in [
        "turn",
        "approvals",
        "operations",
        "work",
        "ledger",
        "scenario",
        "canonical",
        "verify",
        "vectors",
        "demo",
        "completions",
        "man",
    ] {
        assert!(overview.contains(&format!("\n  {command} ")), "{overview}");
    }
}

#[test]
fn the_demonstration_tells_one_refund_from_proposal_to_proof() {
    let plain = countersign(&["demo"]);
    assert_eq!((plain.code, plain.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("demo", plain.stdout);
    let json = countersign(&["demo", "--json"]);
    assert_eq!(json.code, 0);
    insta::assert_snapshot!("demo-json", json.stdout);
    let ended = Session::new(&["demo"]).showing_output(100).run();
    assert!(ended.terminal.contains("\u{1b}["));
    let ended = Session::new(&["demo"])
        .showing_output(100)
        .with_variable("NO_COLOR", "1")
        .run();
    assert_eq!(ended.terminal, plain.stdout);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let script = countersign(&["completions", "bash"]);
    assert_eq!(script.code, 0);
    let page = countersign(&["man"]);
    assert_eq!(page.code, 0);
    for command in ["turn", "scenario", "canonical", "verify", "vectors", "demo"] {
        assert!(
            script.stdout.contains(&format!("countersign,{command})")),
            "{command}"
        );
        assert!(
            page.stdout.contains(&format!("countersign\\-{command}(1)")),
            "{command}"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("man/pages");
    let finished = countersign(&["man", "--directory", place.to_str().unwrap()]);
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (0, ""),
        "{}",
        finished.stderr
    );
    assert!(place.join("countersign-turn.1").is_file());
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let finished = countersign(&["man", "--directory", file.to_str().unwrap()]);
    assert_eq!(finished.code, 2);
    assert_eq!(
        finished.stderr,
        "countersign: cannot write the manual pages: entity already exists\n"
    );
}

#[test]
fn every_code_has_its_page_and_every_page_its_code() {
    let catalog = ErrorCode::ALL.iter().map(|code| {
        let entry = code.entry();
        (
            entry.code,
            entry.safe_message,
            entry.outcome.as_str(),
            entry.recovery.as_str(),
        )
    });
    let refusals = Refusal::ALL.iter().map(|refusal| {
        (
            refusal.code(),
            refusal.message(),
            "not_started",
            refusal.recovery(),
        )
    });
    let codes: Vec<_> = catalog.chain(refusals).collect();
    assert_eq!(codes.len(), 31);
    let directory = Path::new(DOCS).join("errors");
    let index = fs::read_to_string(directory.join("README.md")).unwrap();
    let mut due = BTreeSet::from(["README.md".to_owned()]);
    for (code, message, outcome, recovery) in codes {
        let name = format!("{code}.md");
        let page = fs::read_to_string(directory.join(&name)).expect(code);
        let beginning = format!(
            "# {code}\n\n> {message}\n\nOutcome `{outcome}`, recovery `{recovery}`.\n\n**What happened.** "
        );
        assert!(
            page.starts_with(&beginning),
            "{name} does not begin with {beginning:?}"
        );
        assert!(
            page.contains("\n\n**What was not done.** ") && page.contains("\n\n## What to do\n- "),
            "{name}"
        );
        assert!(index.contains(&format!("| [{code}]({name}) |")), "{name}");
        due.insert(name);
    }
    let pages = fs::read_dir(directory).unwrap();
    let pages = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    assert_eq!(pages.collect::<BTreeSet<_>>(), due);
}

#[test]
fn the_guide_s_tools_file_is_the_one_that_answers() {
    let guide = fs::read_to_string(Path::new(DOCS).join("guides/tools-file.md")).unwrap();
    let (_, rest) = guide.split_once("```toml tools.toml\n").unwrap();
    let (tools, _) = rest.split_once("```\n").unwrap();
    let place = Workplace::new();
    place.write("tools.toml", tools);
    for name in ["count_words.sh", "append_note.sh"] {
        let (_, rest) = guide.split_once(&format!("```sh {name}\n")).unwrap();
        let (program, _) = rest.split_once("```\n").unwrap();
        place.write_program(name, program);
    }
    let provider = Provider::Responses;
    let response = provider.response(&[
        ("count_words", json!({"text": "one two three"})),
        ("append_note", json!({"text": "x"})),
    ]);
    let finished = countersign(&texts(&place.turn(&response, &["--approve", "none"])));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(
        provider.codes(&finished.stdout, &["count_words", "append_note"]),
        ["OK", "APPROVAL_REQUIRED"]
    );
    assert!(
        finished.stdout.contains(r#"{\"words\":3}"#),
        "{}",
        finished.stdout
    );
    let ended = Session::new(&texts(&place.turn(&response, &[])))
        .answering("yes\n")
        .run();
    assert_eq!(
        provider.codes(&ended.stdout, &["count_words", "append_note"]),
        ["OK", "OK"]
    );
    assert_eq!(place.read("notes.txt"), "x\n");
}

/// Every member that some reader of a tools file knows is explained, and every example file is in order.
#[test]
fn the_guide_names_every_member() {
    let guide = fs::read_to_string(Path::new(DOCS).join("guides/tools-file.md")).unwrap();
    let example = fs::read_to_string(format!("{EXAMPLES}/tools.toml")).unwrap();
    let members = [
        "principal",
        "policy",
        "tools",
        "approval_seconds",
        "approvers",
        "rules",
        "effect",
        "tenants",
        "subjects",
        "roles",
        "when",
        "approval",
        "name",
        "description",
        "risk",
        "source_label",
        "timeout_ms",
        "limits",
        "revisions",
        "arguments",
        "output",
        "command",
        "status",
        "downstream_memory_seconds",
        "argv",
        "directory",
        "environment",
        "set",
        "answers",
        "not_started_exit_codes",
    ];
    for member in members {
        assert!(guide.contains(&format!("`{member}`")), "{member}");
    }
    let used: toml::Table = example.parse().unwrap();
    assert!(used.keys().all(|name| members.contains(&name.as_str())));
}
