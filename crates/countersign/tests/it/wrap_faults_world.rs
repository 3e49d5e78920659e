//! A wrapped server that does whatever it is told to, and looks at what is left behind.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp_client::{Client, outcome};
use crate::terminal::{Ended, Session};
use crate::workplace::Workplace;

pub(crate) const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/faulty_server.py");
/// How often it is looked whether something is so, and how long after each look.
const LOOKS: u32 = 3000;
const LOOK: Duration = Duration::from_millis(20);
/// What the program may need at most, whatever a server or a client does.
const MEMORY_KB: u64 = 64 * 1024;

/// Wraps the faulty server.
pub(crate) fn start(place: &Workplace, options: &[&str], faults: &Value) -> Client {
    let command = [
        "python3",
        SERVER,
        &place.at("root/notes"),
        &faults.to_string(),
    ];
    Client::wrap(place, options, &command)
}

/// Wraps the faulty server, and opens a session.
pub(crate) fn open(place: &Workplace, options: &[&str]) -> Client {
    let mut client = start(place, options, &json!({}));
    client.initialize();
    client
}

/// A call's request.
pub(crate) fn request(id: u32, tool: &str, arguments: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        .to_string()
}

/// Calls a tool, and gives the answer as it came.
pub(crate) fn call(client: &mut Client, id: u32, tool: &str, arguments: &Value) -> String {
    client.say(&request(id, tool, arguments));
    hear(client, id)
}

/// The answer to a request, whatever comes before it.
pub(crate) fn hear(client: &Client, id: u32) -> String {
    let begins = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
    std::iter::repeat_with(|| client.hear())
        .find(|line| line.starts_with(&begins) && !line.contains(r#""method":"#))
        .unwrap()
}

/// What became of a write: its status, or its code.
pub(crate) fn word(answer: &str) -> String {
    let outcome = outcome(answer);
    let word = outcome["code"].as_str().or(outcome["status"].as_str());
    word.expect(answer).to_owned()
}

/// How an operation stands in the ledger.
pub(crate) fn state(place: &Workplace, handle: &str) -> String {
    let shown = asked(place, &["operations", "show", handle, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect(&shown.stderr);
    shown["state"].as_str().unwrap().to_owned()
}

/// Waits until an operation stands so.
pub(crate) fn becomes(place: &Workplace, handle: &str, wanted: &str) {
    eventually(wanted, || state(place, handle) == wanted);
}

/// Runs a command over the place's ledger, without a terminal.
pub(crate) fn asked(place: &Workplace, command: &[&str]) -> Ended {
    let ledger = place.ledger();
    Session::new(&[command, &["--ledger", &ledger]].concat())
        .without_terminal()
        .run()
}

/// Waits until something is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if is_so() {
            return;
        }
        std::thread::park_timeout(LOOK);
    }
    panic!("still not: {what}");
}

/// The most memory that a process has had so far is within bounds.
pub(crate) fn is_small(process: u32) {
    let status =
        fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status")).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MEMORY_KB, "{peak} kB");
}

/// What stands in the ledger fits together.
pub(crate) fn is_sound(place: &Workplace) {
    let checked = asked(place, &["ledger", "check"]);
    assert_eq!(checked.code, 0, "{checked:?}");
}
