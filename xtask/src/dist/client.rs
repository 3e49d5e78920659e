//! A client of the Model Context Protocol that says what it is told, and hears lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::program::Program;

/// How long an answer may take: `uvx` unpacks the wheel before the first.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);
/// How often it is looked whether a program has ended.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// An open session with a program that speaks the protocol on its standard input and output.
#[derive(Debug)]
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    next_id: u32,
}

impl Client {
    /// Starts the program and opens a session.
    pub(super) fn open(program: Program) -> anyhow::Result<Self> {
        let mut child = program.start()?;
        let output = child.stdout.take().context("the program has no output")?;
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut client = Self {
            input: child.stdin.take(),
            child,
            output: receiver,
            next_id: 0,
        };
        client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "distribution-check", "version": "1"},
            }),
        )?;
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Asks and gives the result; an error is an error.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let line = self
                .output
                .recv_timeout(PATIENCE)
                .with_context(|| format!("no answer came to `{method}`"))?;
            let message: Value = serde_json::from_str(&line)
                .with_context(|| format!("something else than JSON came: {line}"))?;
            if message.get("id").and_then(Value::as_u64) == Some(u64::from(id)) {
                return message
                    .get("result")
                    .cloned()
                    .with_context(|| format!("`{method}` was answered with an error: {line}"));
            }
        }
    }

    /// Ends the session as clients do, and waits until the program has gone.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        drop(self.input.take());
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.child.try_wait().context("the program is lost")? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the program ended with {status}"),
                None => thread::sleep(PAUSE),
            }
        }
        bail!("the program does not end when its input does");
    }

    fn say(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the session has ended")?;
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .context("the program does not listen any more")
    }
}

impl Drop for Client {
    /// Leaves no program behind, also where a check has failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
