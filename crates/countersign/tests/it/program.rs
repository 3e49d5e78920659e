//! Runs the program with a bare environment, no terminal on its streams, and bytes on its standard input.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// The user's data directory of runs that name no ledger: never the real one.
pub(crate) fn data_directory() -> String {
    format!(
        "{}/data-{}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    )
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
