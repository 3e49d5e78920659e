//! The official clients, each with a server named by a command or a URL.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::program::data_directory;
use crate::workplace::Workplace;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp");

/// The interpreter that has `tests/mcp/python-2.txt` installed.
pub(crate) const PYTHON_2: &str = "COUNTERSIGN_TEST_MCP_PYTHON";
/// The interpreter that has `tests/mcp/python-1.txt` installed.
pub(crate) const PYTHON_1: &str = "COUNTERSIGN_TEST_MCP_1_PYTHON";
/// The program `node`, and the folder with what `tests/mcp/node/package-lock.json` names.
const NODE: &str = "COUNTERSIGN_TEST_NODE";
const MODULES: &str = "COUNTERSIGN_TEST_NODE_MODULES";

/// A request: its method and its parameters.
pub(crate) type Step = (&'static str, Value);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RealClient {
    Python,
    /// The same, with requests that stand alone.
    PythonAlone,
    Node1,
    Node2,
    /// The same, with requests that stand alone.
    Node2Alone,
    Inspector,
}

/// Those that open a session.
pub(crate) const CLIENTS: [RealClient; 4] = [
    RealClient::Python,
    RealClient::Node1,
    RealClient::Node2,
    RealClient::Inspector,
];
/// Those whose requests stand alone, each with the same program as it opens a session.
pub(crate) const ALONE: [(RealClient, RealClient); 2] = [
    (RealClient::PythonAlone, RealClient::Python),
    (RealClient::Node2Alone, RealClient::Node2),
];

impl RealClient {
    /// What the client prints about the answers to some requests, as it prints it: one text, or one for each request.
    pub(crate) fn prints(
        self,
        place: &Workplace,
        steps: &[Step],
        target: &[String],
    ) -> Vec<String> {
        self.runs(steps, target)
            .into_iter()
            .map(|arguments| printed(command(place, &arguments).output().unwrap()))
            .collect()
    }

    /// The result of the last request.
    pub(crate) fn result(self, place: &Workplace, steps: &[Step], target: &[String]) -> Value {
        let printed = self.prints(place, steps, target).pop().unwrap();
        let mut seen: Value = serde_json::from_str(&printed).unwrap();
        match seen["results"].as_array_mut() {
            Some(results) => results.pop().unwrap(),
            None => seen,
        }
    }

    /// Leaves the client running, with the last request.
    pub(crate) fn start(self, place: &Workplace, steps: &[Step], target: &[String]) -> Running {
        let arguments = self.runs(steps, target).pop().unwrap();
        let child = command(place, &arguments)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Running(child)
    }

    /// The command lines that make the requests.
    fn runs(self, steps: &[Step], target: &[String]) -> Vec<Vec<OsString>> {
        let program: Vec<OsString> = match self {
            Self::Python | Self::PythonAlone => {
                vec![named(PYTHON_2), format!("{SCRIPTS}/client.py").into()]
            }
            Self::Node1 => vec![named(NODE), format!("{SCRIPTS}/node/client_1.mjs").into()],
            Self::Node2 | Self::Node2Alone => {
                vec![named(NODE), format!("{SCRIPTS}/node/client_2.mjs").into()]
            }
            Self::Inspector => vec![named(NODE), module("mcp-inspector"), "--cli".into()],
        };
        let requests = match self {
            // It makes one request a run. The first ones show enough of what it does with an answer.
            Self::Inspector => {
                let last = steps.len().saturating_sub(1);
                let (few, end) = (steps.iter().take(last.min(2)), &steps[last..]);
                few.chain(end).map(inspected).collect()
            }
            Self::Python | Self::Node1 | Self::Node2 => {
                vec![vec![
                    json!({"era": "session", "steps": steps}).to_string().into(),
                ]]
            }
            Self::PythonAlone | Self::Node2Alone => {
                vec![vec![
                    json!({"era": "stateless", "steps": steps})
                        .to_string()
                        .into(),
                ]]
            }
        };
        let target = match (self, target) {
            (Self::Inspector, [url]) => vec!["--transport", "http", "--server-url", url],
            (Self::Inspector, command) => std::iter::once("--")
                .chain(command.iter().map(String::as_str))
                .collect(),
            (_, target) => target.iter().map(String::as_str).collect(),
        };
        let target = || target.iter().map(OsString::from);
        requests
            .into_iter()
            .map(|request| {
                program
                    .iter()
                    .cloned()
                    .chain(request)
                    .chain(target())
                    .collect()
            })
            .collect()
    }
}

/// A client in a process group of its own, with whatever it has started.
pub(crate) struct Running(Child);

impl Running {
    /// Ends all of it at once, and lets none of it say anything any more.
    pub(crate) fn kill(mut self) {
        self.kill_group();
        self.0.wait().unwrap();
    }

    fn kill_group(&self) {
        let group = Pid::from_raw(self.0.id().cast_signed()).unwrap();
        let _ = kill_process_group(group, Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.kill_group();
            let _ = self.0.wait();
        }
    }
}

/// A program of the Node packages.
pub(crate) fn node_program(name: &str) -> [String; 2] {
    [named(NODE), module(name)].map(|text| text.into_string().unwrap())
}

/// A program beside an interpreter.
pub(crate) fn python_program(interpreter: &str, name: &str) -> String {
    let path = PathBuf::from(named(interpreter)).with_file_name(name);
    path.into_os_string().into_string().unwrap()
}

fn module(name: &str) -> OsString {
    PathBuf::from(named(MODULES)).join(".bin").join(name).into()
}

#[expect(
    clippy::disallowed_methods,
    reason = "`cargo xtask test` says where it is"
)]
fn named(variable: &str) -> OsString {
    std::env::var_os(variable).unwrap_or_else(|| {
        panic!("{variable} is not set: run `cargo xtask test`, which makes what tests/mcp describes and names it")
    })
}

fn inspected((method, params): &Step) -> Vec<OsString> {
    let text = |name: &str| OsString::from(params[name].as_str().unwrap());
    let mut arguments: Vec<OsString> = vec!["--method".into(), (*method).into()];
    match *method {
        "tools/call" => arguments.extend([
            "--tool-name".into(),
            text("name"),
            "--tool-args-json".into(),
            params["arguments"].to_string().into(),
        ]),
        "resources/read" => arguments.extend(["--uri".into(), text("uri")]),
        "prompts/get" => arguments.extend(["--prompt-name".into(), text("name")]),
        _ => {}
    }
    arguments
}

#[expect(clippy::disallowed_methods, reason = "the clients are programs")]
fn command(place: &Workplace, arguments: &[OsString]) -> Command {
    let mut command = Command::new(&arguments[0]);
    command
        .args(&arguments[1..])
        .current_dir(place.path("root"))
        // The inspector keeps a catalog of servers in the user's home.
        .env("HOME", place.path("home"))
        .env("XDG_DATA_HOME", data_directory())
        .stdin(Stdio::null());
    command
}

/// A client says with its exit code that a result is an error; what it saw is printed all the same.
fn printed(output: Output) -> String {
    assert!(
        !output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
