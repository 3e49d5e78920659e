//! Runs the program on a pseudo-terminal.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use crate::program::{PROGRAM, data_directory};

/// Of the key in the user's data directory of the tests.
pub(crate) const PASSPHRASE: &str = "correct horse battery\n";

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/terminal.py");

/// What the terminal is like, and what happens on it.
pub(crate) struct Session<'s> {
    arguments: Vec<String>,
    environment: Map<String, Value>,
    columns: u16,
    has_terminal: bool,
    shows_output: bool,
    stdin: &'s str,
    early: &'s str,
    knows_passphrase: bool,
    signal: Option<i32>,
    typed: Vec<(&'s str, Option<&'s str>)>,
}

/// What a session came to.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Negative where a signal ended it.
    pub(crate) code: i64,
    /// Whether the terminal echoes, takes lines and knows Ctrl-C, as it did before.
    pub(crate) is_plain: bool,
    pub(crate) terminal: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl<'s> Session<'s> {
    /// For the user of the tests, who types the passphrase wherever it is asked for.
    pub(crate) fn new(arguments: &[&str]) -> Self {
        Self {
            knows_passphrase: true,
            ..Self::of_user(&data_directory(), arguments)
        }
    }

    /// For a user with a data directory of their own.
    #[expect(clippy::disallowed_methods, reason = "tools are found on the PATH")]
    pub(crate) fn of_user(data: &str, arguments: &[&str]) -> Self {
        let path = std::env::var("PATH").unwrap();
        Self {
            arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
            environment: Map::from_iter([
                ("PATH".to_owned(), path.into()),
                ("TERM".to_owned(), "xterm-256color".into()),
                ("XDG_DATA_HOME".to_owned(), data.into()),
            ]),
            columns: 100,
            has_terminal: true,
            shows_output: false,
            stdin: "",
            early: "",
            knows_passphrase: false,
            signal: None,
            typed: Vec::new(),
        }
    }

    /// Types a line as soon as the terminal shows the question.
    pub(crate) fn answering(mut self, line: &'s str) -> Self {
        self.typed.push(("Type yes: ", Some(line)));
        self
    }

    /// Types a line as soon as the terminal shows a text.
    pub(crate) fn typing_at(mut self, shown: &'s str, line: &'s str) -> Self {
        self.typed.push((shown, Some(line)));
        self
    }

    /// Sends a signal as soon as the terminal shows a text.
    pub(crate) fn signalled_at(mut self, shown: &'s str, signal: i32) -> Self {
        self.signal = Some(signal);
        self.typed.push((shown, None));
        self
    }

    /// Closes the terminal as soon as it shows the question.
    pub(crate) fn hanging_up(mut self) -> Self {
        self.typed.push(("Type yes: ", None));
        self
    }

    /// Types before the program has even started.
    pub(crate) fn typing_early(mut self, text: &'s str) -> Self {
        self.early = text;
        self
    }

    pub(crate) fn reading(mut self, stdin: &'s str) -> Self {
        self.stdin = stdin;
        self
    }

    pub(crate) fn without_terminal(mut self) -> Self {
        self.has_terminal = false;
        self
    }

    pub(crate) fn with_columns(mut self, columns: u16) -> Self {
        self.columns = columns;
        self
    }

    /// Puts standard output on the terminal, so many columns wide.
    pub(crate) fn showing_output(mut self, columns: u16) -> Self {
        self.shows_output = true;
        self.with_columns(columns)
    }

    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "only another program can hold the terminal's other end"
    )]
    pub(crate) fn run(self) -> Ended {
        let argv: Vec<&str> = std::iter::once(PROGRAM)
            .chain(self.arguments.iter().map(String::as_str))
            .collect();
        let request = json!({
            "argv": argv,
            "environment": self.environment,
            "columns": self.columns,
            "has_terminal": self.has_terminal,
            "shows_output": self.shows_output,
            "stdin": self.stdin,
            "early": self.early,
            "signal": self.signal,
            "passphrase": self.knows_passphrase.then_some(["Passphrase of operator: ", PASSPHRASE]),
            "typed": self.typed,
        });
        let mut driver = Command::new("python3")
            .args(["-B", DRIVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("these tests need python3");
        let mut input = driver.stdin.take().unwrap();
        input.write_all(request.to_string().as_bytes()).unwrap();
        drop(input);
        let output = driver.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        let ended: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |name: &str| ended[name].as_str().unwrap().to_owned();
        Ended {
            code: ended["code"].as_i64().unwrap(),
            is_plain: ended["is_plain"].as_bool().unwrap(),
            terminal: text("terminal").replace("\r\n", "\n"),
            stdout: text("stdout"),
            stderr: text("stderr"),
        }
    }
}
