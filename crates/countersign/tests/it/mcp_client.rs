//! A client that writes and reads lines, and a server that it does not see directly.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::program::{PROGRAM, data_directory};
use crate::terminal::Session;
use crate::workplace::Workplace;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_server.py");
const PATIENCE: Duration = Duration::from_mins(1);

/// A wrapped server, and a client on its line.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    errors: Receiver<String>,
    is_paused: Arc<AtomicBool>,
}

impl Client {
    /// Wraps the scripted server.
    pub(crate) fn start(place: &Workplace, options: &[&str]) -> Self {
        let notes = place.at("root/notes");
        Self::wrap(place, options, &["python3", SERVER, &notes])
    }

    /// Wraps the scripted server as it speaks 2026-07-28.
    pub(crate) fn start_stateless(place: &Workplace, options: &[&str]) -> Self {
        Self::start_with(place, options, &["stateless"])
    }

    /// Wraps the scripted server with arguments of its own.
    pub(crate) fn start_with(place: &Workplace, options: &[&str], arguments: &[&str]) -> Self {
        let notes = place.at("root/notes");
        let command = ["python3", SERVER, &notes];
        Self::wrap(place, options, &[&command, arguments].concat())
    }

    pub(crate) fn wrap(place: &Workplace, options: &[&str], command: &[&str]) -> Self {
        Self::wrap_for(&data_directory(), place, options, command)
    }

    /// Wraps a server at an address.
    pub(crate) fn in_front_of(place: &Workplace, options: &[&str], url: &str) -> Self {
        Self::run(
            &data_directory(),
            place,
            &[options, &["--url", url]].concat(),
        )
    }

    /// Wraps the scripted server for a user with a data directory of their own.
    pub(crate) fn open_for(data: &str, place: &Workplace, options: &[&str]) -> Self {
        let notes = place.at("root/notes");
        let mut client = Self::wrap_for(data, place, options, &["python3", SERVER, &notes]);
        client.initialize();
        client
    }

    fn wrap_for(data: &str, place: &Workplace, options: &[&str], command: &[&str]) -> Self {
        Self::run(data, place, &[options, &["--"], command].concat())
    }

    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    fn run(data: &str, place: &Workplace, arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["wrap", "--server", "scripted", "--ledger", &place.ledger()])
            .args(["--pins", &place.at("pins")])
            .args(arguments)
            .env("XDG_DATA_HOME", data)
            .current_dir(place.path("root"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let is_paused = Arc::new(AtomicBool::new(false));
        let output = lines(child.stdout.take().unwrap(), Arc::clone(&is_paused));
        let errors = lines(child.stderr.take().unwrap(), Arc::default());
        Self {
            input: child.stdin.take(),
            child,
            output,
            errors,
            is_paused,
        }
    }

    /// Opens a session.
    pub(crate) fn open(place: &Workplace, options: &[&str]) -> Self {
        let mut client = Self::start(place, options);
        client.initialize();
        client
    }

    pub(crate) fn initialize(&mut self) {
        self.initialize_as("2025-11-25", "{}");
    }

    /// Opens a session as a client of a version, with capabilities as they are written.
    pub(crate) fn initialize_as(&mut self, version: &str, capabilities: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ));
        assert!(self.hear().contains("\"serverInfo\""));
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The next line, as it came.
    pub(crate) fn hear(&self) -> String {
        self.output.recv_timeout(PATIENCE).expect("a line")
    }

    /// The handle of the call that is told to wait next.
    pub(crate) fn hear_waiting(&self) -> String {
        let told = self.hear();
        let (_, handle) = told.split_once("waiting for approval: ").expect(&told);
        handle.split('"').next().unwrap().to_owned()
    }

    pub(crate) fn hear_json(&self) -> Value {
        serde_json::from_str(&self.hear()).unwrap()
    }

    /// Calls a tool with arguments as they are written, and gives the answer as it came.
    pub(crate) fn call(&mut self, id: u32, tool: &str, arguments: &str) -> String {
        self.say_call(id, tool, arguments);
        self.hear()
    }

    pub(crate) fn say_call(&mut self, id: u32, tool: &str, arguments: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
    }

    /// Ends the client, and gives the exit code and what was said on standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let code = self.child.wait().unwrap().code();
        (code, self.errors.iter().map(|line| line + "\n").collect())
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Reads nothing more of what comes, except for a line that is being read already.
    pub(crate) fn stops_reading(&self) {
        self.is_paused.store(true, Ordering::Release);
    }

    pub(crate) fn goes_on_reading(&self) {
        self.is_paused.store(false, Ordering::Release);
    }

    /// What the client writes into, for a thread of its own.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(
    stream: impl std::io::Read + Send + 'static,
    is_paused: Arc<AtomicBool>,
) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
            while is_paused.load(Ordering::Acquire) {
                thread::park_timeout(Duration::from_millis(5));
            }
        }
    });
    receiver
}

/// What became of a call, as its answer says.
pub(crate) fn outcome(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["result"]["_meta"]["countersign/outcome"].clone()
}

/// The handle that an answer names.
pub(crate) fn handle(answer: &str) -> String {
    outcome(answer)["status_ref"]
        .as_str()
        .expect(answer)
        .to_owned()
}

/// A person decides on a terminal.
pub(crate) fn decide(place: &Workplace, command: &str, handle: &str) -> String {
    let ledger = place.ledger();
    let ended = Session::new(&[
        "approvals",
        command,
        handle,
        "--as",
        "operator",
        "--ledger",
        &ledger,
    ])
    .with_variable("NO_COLOR", "1")
    .answering("yes\n")
    .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.terminal
}
