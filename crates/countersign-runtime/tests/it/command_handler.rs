//! Local programs as handlers of the shop's tools, through the whole pipeline.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_contract::{ModelResult, Package, SuccessResult, UtcSecond};
use countersign_runtime::command::{CommandSpec, Diagnostics};
use countersign_runtime::{Answers, CommandHandler, FixedClock, Handlers};
use tempfile::TempDir;

use crate::attack::stage::{Attempt, FRESH, NOW, REPLAY, Said, Stage, said};

/// Longer than any of these programs takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

type Handler = CommandHandler<FixedClock>;

/// A stage whose tools are shell scripts in a directory of their own.
struct Scripts {
    stage: Stage,
    directory: TempDir,
}

impl Scripts {
    fn new() -> Self {
        Self {
            stage: Stage::default(),
            directory: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What the script says of itself: a line for each time it ran.
    fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs")).map_or(0, |text| text.lines().count())
    }

    /// Dispatches to a script that notes that it ran.
    fn says(&self, script: &str, attempt: &Attempt) -> (Said, usize) {
        self.says_by(self.handler(script), attempt)
    }

    fn says_by(&self, handler: Handler, attempt: &Attempt) -> (Said, usize) {
        (said(&self.package(handler, attempt)), self.runs())
    }

    fn package(&self, handler: Handler, attempt: &Attempt) -> Package {
        let handlers = Handlers::new().with(attempt.call.name.clone(), handler);
        attempt.dispatch(&self.stage.ports(&handlers)).unwrap()
    }

    fn handler(&self, script: &str) -> Handler {
        handler(self.spec(script))
    }

    fn spec(&self, script: &str) -> CommandSpec {
        let script = format!("echo run >>runs\n{script}");
        CommandSpec::new(["/bin/sh", "-c", &script])
            .unwrap()
            .with_environment([("PATH".into(), "/usr/bin:/bin".into())].into())
            .unwrap()
            .with_directory(self.directory.path())
            .unwrap()
            .with_timeout(PATIENCE)
            .unwrap()
    }
}

fn handler(spec: CommandSpec) -> Handler {
    CommandHandler::new(spec, FixedClock(UtcSecond::new(NOW).unwrap()))
}

/// A look at an order, with time enough for a busy machine.
fn read() -> Attempt {
    Attempt::read().with(|attempt| attempt.contract.timeout = PATIENCE)
}

/// An approved refund, with time enough for a busy machine.
fn write() -> Attempt {
    Attempt::approved_refund().with(|attempt| attempt.contract.timeout = PATIENCE)
}

fn success(package: &Package) -> &SuccessResult {
    match package.model_result() {
        ModelResult::Success(success) => success,
        ModelResult::Error { code, .. } => panic!("{code}"),
    }
}

const ORDER: &str = r#"echo '{"order_ref": "ORDER-7", "status": "paid"}'"#;
const DRAFT: &str =
    r#"echo '{"draft_id": "DRAFT-1", "order_ref": "ORDER-7", "reason": "duplicate"}'"#;

#[test]
fn the_answer_is_the_data_itself() {
    let scripts = Scripts::new();
    let package = scripts.package(
        scripts.handler(&format!("cat >arguments; {ORDER}")),
        &read(),
    );
    let success = success(&package);
    assert_eq!(success.data.get("status").unwrap().as_str(), Some("paid"));
    assert_eq!(success.observed_at.as_str(), "2026-07-19T00:00:00Z");
    assert_eq!(success.producer_revision.as_str(), "orders-mock-v2");
    assert_eq!(success.resource_revision, None);
    let downstream = &package.protected_audit().downstream;
    assert_eq!(
        (&downstream.receipt_id, &downstream.request_id),
        (&None, &None)
    );
    assert_eq!(
        fs::read_to_string(scripts.path("arguments")).unwrap(),
        r#"{"order_ref":"ORDER-7"}"#
    );
}

#[test]
fn a_write_runs_once() {
    let scripts = Scripts::new();
    assert_eq!(scripts.says(DRAFT, &write()), (FRESH, 1));
    assert_eq!(scripts.says(DRAFT, &write()), (REPLAY, 1));
}

#[test]
fn evidence_comes_along() {
    let scripts = Scripts::new();
    let handler = scripts
        .handler(
            r#"echo '{"data": {"order_ref": "ORDER-7", "status": "paid"}, "resource_revision": "r7",
                "observed_at": "1999-12-31T23:59:59Z", "downstream_request_id": "q1", "receipt_id": null}'"#,
        )
        .answering(Answers::WithEvidence);
    let package = scripts.package(handler, &read());
    let found = success(&package);
    assert_eq!(found.resource_revision.as_deref(), Some("r7"));
    assert_eq!(found.observed_at.as_str(), "1999-12-31T23:59:59Z");
    let downstream = &package.protected_audit().downstream;
    assert_eq!(downstream.request_id.as_deref(), Some("q1"));
    assert_eq!(downstream.receipt_id, None);

    // What a program leaves out or says to be null, it does not know.
    for members in ["", r#", "observed_at": null, "resource_revision": null"#] {
        let script =
            format!(r#"echo '{{"data": {{"order_ref": "ORDER-7", "status": "paid"}}{members}}}'"#);
        let handler = scripts.handler(&script).answering(Answers::WithEvidence);
        let package = scripts.package(handler, &read());
        assert_eq!(
            success(&package).observed_at.as_str(),
            "2026-07-19T00:00:00Z"
        );
        assert_eq!(success(&package).resource_revision, None);
    }
}

#[test]
fn evidence_that_is_not_understood_is_refused_whole() {
    let data = r#""data": {"order_ref": "ORDER-7", "status": "paid"}"#;
    let answers = [
        format!(r#"{{{data}, "note": "x"}}"#),
        format!(r#"{{{data}, "producer_revision": "orders-mock-v2"}}"#),
        format!(r#"{{{data}, "receipt_id": 7}}"#),
        format!(r#"{{{data}, "resource_revision": ["r7"]}}"#),
        format!(r#"{{{data}, "observed_at": "yesterday"}}"#),
        format!(r#"{{{data}, "receipt_id": " "}}"#),
        format!("[{{{data}}}]"),
        r#"{"order_ref": "ORDER-7", "status": "paid"}"#.to_owned(),
        "{}".to_owned(),
        "null".to_owned(),
    ];
    for answer in answers {
        let scripts = Scripts::new();
        let script = format!("echo '{answer}'");
        let handler = scripts.handler(&script).answering(Answers::WithEvidence);
        assert_eq!(
            scripts.says_by(handler, &read()),
            ("OUTPUT_CONTRACT_VIOLATION", 1),
            "{answer}"
        );
    }
    // And the data's own form does not take evidence.
    let scripts = Scripts::new();
    let script = format!("echo '{{{data}}}'");
    assert_eq!(
        scripts.says(&script, &read()),
        ("OUTPUT_CONTRACT_VIOLATION", 1)
    );
}

#[test]
fn what_is_no_answer_breaks_the_contract() {
    let scripts_and_names = [
        ("nothing", "true"),
        ("text", "echo done"),
        ("cut off", r#"printf '{"order_ref": "ORDER-7", "stat'"#),
        (
            "a key twice",
            r#"echo '{"order_ref": "ORDER-7", "status": "pending", "status": "paid"}'"#,
        ),
        ("two documents", r"echo '{}{}'"),
        ("NaN", "echo NaN"),
        ("no UTF-8", r"printf '{\377}'"),
        ("too deep", "head -c 100000 /dev/zero | tr '\\0' '['"),
    ];
    for (what, script) in scripts_and_names {
        let scripts = Scripts::new();
        assert_eq!(
            scripts.says(script, &read()),
            ("OUTPUT_CONTRACT_VIOLATION", 1),
            "{what}"
        );
        let violation = ("OUTPUT_CONTRACT_VIOLATION", 2);
        assert_eq!(
            scripts.says(script, &write().call_id("call-2").approved()),
            violation
        );
        let again = write().call_id("call-2");
        assert_eq!(
            scripts.says(DRAFT, &again),
            ("OUTCOME_UNKNOWN", 2),
            "{what}"
        );
    }
}

#[test]
fn a_program_that_writes_without_end_is_stopped() {
    let scripts = Scripts::new();
    let endless = || handler(scripts.spec("yes").with_output_limit(100_000).unwrap());
    assert_eq!(
        scripts.says_by(endless(), &read()),
        ("OUTPUT_CONTRACT_VIOLATION", 1)
    );
    let write = write().call_id("call-2").approved();
    assert_eq!(
        scripts.says_by(endless(), &write),
        ("OUTPUT_CONTRACT_VIOLATION", 2)
    );
    assert_eq!(scripts.says(DRAFT, &write), ("OUTCOME_UNKNOWN", 2));
}

#[test]
fn a_failure_says_nothing_about_what_was_done() {
    for end in [
        "exit 1",
        "exit 75",
        "exit 255",
        "kill -KILL $$",
        "kill -TERM $$",
    ] {
        let scripts = Scripts::new();
        let script = format!("{DRAFT}; {end}");
        assert_eq!(scripts.says(&script, &read()), ("TOOL_ERROR", 1), "{end}");
        let write = write().call_id("call-2").approved();
        assert_eq!(
            scripts.says(&script, &write),
            ("OUTCOME_UNKNOWN", 2),
            "{end}"
        );
        assert_eq!(scripts.says(DRAFT, &write), ("OUTCOME_UNKNOWN", 2), "{end}");
    }
}

#[test]
fn an_exit_code_gives_the_key_back_only_where_the_tool_promised() {
    let scripts = Scripts::new();
    let promising = |end: &str| scripts.handler(end).trusting_not_started([75, 9, 3, 0]);
    assert_eq!(
        scripts.says_by(promising("exit 75"), &read()),
        ("RATE_LIMIT", 1)
    );
    let write = write().call_id("call-2").approved();
    let mut runs = 1;
    for (end, code) in [
        ("exit 75", "RATE_LIMIT"),
        ("exit 3", "TOOL_ERROR"),
        ("exit 75", "RATE_LIMIT"),
    ] {
        runs += 1;
        assert_eq!(scripts.says_by(promising(end), &write), (code, runs));
    }
    assert_eq!(scripts.says_by(promising(DRAFT), &write), (FRESH, runs + 1));
    // Neither another code nor a signal of that number was promised. Only this signal cannot be ignored, as a shell lets its
    // background jobs do with some.
    for (end, n) in [("exit 74", 2), ("kill -9 $$", 3)] {
        let key = format!("key-{n}");
        let write = write.clone().key(&key).call_id(&key).approved();
        let (word, _) = scripts.says_by(promising(end), &write);
        assert_eq!(word, "OUTCOME_UNKNOWN", "{end}");
    }
}

#[test]
fn a_program_that_is_late_is_stopped() {
    let scripts = Scripts::new();
    let late = || {
        let spec = scripts.spec("sleep 60; echo survived >>runs");
        handler(spec.with_timeout(Duration::from_millis(300)).unwrap())
    };
    assert_eq!(scripts.says_by(late(), &read()), ("TOOL_ERROR", 1));
    let write = write().call_id("call-2").approved();
    assert_eq!(scripts.says_by(late(), &write), ("OUTCOME_UNKNOWN", 2));
    assert_eq!(scripts.says(DRAFT, &write), ("OUTCOME_UNKNOWN", 2));
}

#[test]
fn the_contract_bounds_the_time_too() {
    let scripts = Scripts::new();
    let hasty = read().with(|attempt| attempt.contract.timeout = Duration::from_millis(300));
    assert_eq!(scripts.says("sleep 60", &hasty), ("TOOL_ERROR", 1));
}

#[test]
fn a_missing_program_is_proven_not_to_have_started() {
    let scripts = Scripts::new();
    let missing = || handler(CommandSpec::new(["/nowhere/tool"]).unwrap());
    assert_eq!(scripts.says_by(missing(), &read()), ("TOOL_ERROR", 0));
    let write = write().call_id("call-2").approved();
    assert_eq!(scripts.says_by(missing(), &write), ("TOOL_ERROR", 0));
    // Nor is a tool without any handler.
    let nobody = Handlers::new();
    let package = write.dispatch(&scripts.stage.ports(&nobody)).unwrap();
    assert_eq!(said(&package), "TOOL_ERROR");
    // Key and approval are free for when it is there.
    assert_eq!(scripts.says(DRAFT, &write), (FRESH, 1));
}

#[test]
fn a_key_that_no_environment_can_hold_starts_nothing() {
    let scripts = Scripts::new();
    let write = write().key("key\0").approved();
    assert_eq!(scripts.says(DRAFT, &write), ("TOOL_ERROR", 0));
}

#[test]
fn only_writes_carry_identities_in_their_environment() {
    let variables = |text: String| -> BTreeMap<String, String> {
        text.lines()
            .filter_map(|line| line.split_once('='))
            .filter(|(name, _)| name.starts_with("COUNTERSIGN_"))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let scripts = Scripts::new();
    let noting = |then: &str| format!("env >environment; {then}");
    // A read has none, even where its call has a key.
    let keyed_read = read().key("key-1");
    assert_eq!(scripts.says(&noting(ORDER), &keyed_read), (FRESH, 1));
    let seen = variables(fs::read_to_string(scripts.path("environment")).unwrap());
    assert_eq!(seen, BTreeMap::new());

    let write = write().call_id("call-2").approved();
    assert_eq!(scripts.says(&noting(DRAFT), &write), (FRESH, 2));
    let seen = variables(fs::read_to_string(scripts.path("environment")).unwrap());
    let expected = [
        ("COUNTERSIGN_IDEMPOTENCY_KEY", "key-1".to_owned()),
        ("COUNTERSIGN_STATUS_REF", write.status_ref().to_string()),
    ];
    assert_eq!(
        seen,
        expected
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    );
}

#[test]
fn diagnostics_are_the_operators_alone() {
    let scripts = Scripts::new();
    let cases = [
        (format!("echo hunter2 >&2; {ORDER}"), FRESH),
        ("echo hunter2 >&2; exit 1".to_owned(), "TOOL_ERROR"),
        (
            "echo hunter2 >&2; yes".to_owned(),
            "OUTPUT_CONTRACT_VIOLATION",
        ),
    ];
    for (n, (script, word)) in cases.into_iter().enumerate() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let sink = {
            let reported = Arc::clone(&reported);
            Box::new(
                move |tool: &countersign_contract::ToolName, seen: &Diagnostics| {
                    let entry = (tool.to_string(), seen.for_operator());
                    reported.lock().unwrap().push(entry);
                },
            )
        };
        let handler = scripts.handler(&script).reporting_to(sink);
        let package = scripts.package(handler, &read().call_id(&format!("call-{n}")));
        assert_eq!(said(&package), word);
        assert_eq!(
            *reported.lock().unwrap(),
            [("get_order".to_owned(), "hunter2\n".to_owned())]
        );
        let bytes = String::from_utf8(package.to_canonical()).unwrap();
        assert!(!bytes.contains("hunter2"), "{bytes}");
    }
    // Where there is nothing to say, nothing is said.
    let handler = scripts
        .handler(ORDER)
        .reporting_to(Box::new(|_, _| panic!("nothing was written")));
    let package = scripts.package(handler, &read().call_id("call-9"));
    assert_eq!(said(&package), FRESH);
}
