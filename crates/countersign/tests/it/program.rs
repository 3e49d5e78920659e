//! Runs the program with a bare environment, no terminal on its streams, and bytes on its standard input.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use crate::terminal::{PASSPHRASE, Session};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// The user's data directory of runs that name no ledger, with an approver's key: never the real one.
pub(crate) fn data_directory() -> String {
    static MADE: OnceLock<String> = OnceLock::new();
    MADE.get_or_init(|| {
        let number = std::process::id();
        let data = format!("{}/data-{number}", env!("CARGO_TARGET_TMPDIR"));
        // A process of the same number may have been here before.
        if !std::fs::exists(key_file(&data)).unwrap() {
            make_key(&data, "operator");
        }
        data
    })
    .clone()
}

/// The key of `operator` in a user's data directory.
pub(crate) fn key_file(data: &str) -> String {
    format!("{data}/countersign/approvers/operator.key.json")
}

/// Makes an approver's key, as a user would.
pub(crate) fn make_key(data: &str, name: &str) {
    let asked = ["New passphrase", "The same again,"].map(|what| format!("{what} of {name}: "));
    let made = Session::of_user(data, &["approver", "create", "--name", name])
        .typing_at(&asked[0], PASSPHRASE)
        .typing_at(&asked[1], PASSPHRASE)
        .run();
    assert_eq!(made.code, 0, "{made:?}");
    let shown = [&made.terminal, &made.stdout, &made.stderr];
    assert!(!shown.iter().any(|text| text.contains("horse")), "{made:?}");
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn countersign(arguments: &[&str]) -> Finished {
    countersign_with(arguments, b"", &[])
}

pub(crate) fn countersign_with(
    arguments: &[&str],
    stdin: &[u8],
    environment: &[(&str, &str)],
) -> Finished {
    let run = run_with(arguments, stdin, environment);
    Finished {
        code: run.exit.expect("ended by itself"),
        stdout: run.text().to_owned(),
        stderr: run.stderr,
    }
}

/// What a run came to, whatever it printed.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }
}

/// Runs the program over an input.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> Run {
    run_with(arguments, input, &[])
}

fn run_with(arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Run {
    let mut child = start(arguments, environment, Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    // The program answers while it reads; both pipes would fill up.
    let output = thread::scope(|scope| {
        scope.spawn(move || {
            // A program that refuses its arguments does not read.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap()
    });
    Run {
        exit: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs with a standard output that nobody reads.
pub(crate) fn countersign_unread(arguments: &[&str]) -> Finished {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = start(arguments, &[], writer.into())
        .wait_with_output()
        .unwrap();
    Finished {
        code: output.status.code().expect("ended by itself"),
        stdout: String::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts the program, and leaves it running.
pub(crate) fn spawn(arguments: &[&str]) -> Child {
    start(arguments, &[], Stdio::piped())
}

#[expect(
    clippy::disallowed_methods,
    reason = "these tests start the real program, and tools are found on the PATH"
)]
fn start(arguments: &[&str], environment: &[(&str, &str)], stdout: Stdio) -> Child {
    Command::new(PROGRAM)
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("XDG_DATA_HOME", data_directory())
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
