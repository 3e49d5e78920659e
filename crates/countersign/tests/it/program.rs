//! Running the program.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a run came to.
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

/// Runs the program over an input, without colours.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> Run {
    #[expect(
        clippy::disallowed_methods,
        reason = "the program itself is under test"
    )]
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let mut child = command
        .args(arguments)
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program answers while it reads; both pipes would fill up.
    let output = std::thread::scope(|scope| {
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
