//! A server that is a process of ours: how it starts, what goes to it and comes from it, and how it ends.

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::anyhow;
use countersign_mcp::port::{FromServer, NotSent, Ticket, ToServer};
use countersign_mcp::write;
use rustix::process::{Pid, Signal, kill_process};

use super::lines::{Line, next_line};
use crate::input::describe;

/// The most messages that wait for a slow server.
const MAX_QUEUED: usize = 256;
/// How often it is looked whether the server, the client or a signal asks for something.
const LOOK: Duration = Duration::from_millis(20);
/// How long a server may take to end after its input did, and after it was asked to.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How much of a stream is read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// A running server.
pub(super) struct ServerProcess {
    child: Child,
    reader: JoinHandle<()>,
}

/// The way to a server's standard input.
pub(super) struct ToChild {
    queue: Mutex<Option<SyncSender<Queued>>>,
}

struct Queued {
    text: String,
    ticket: Option<Ticket>,
}

/// Where a server has got to, as whoever looks after it sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It goes on.
    On,
    /// Nobody needs it any more.
    End,
}

/// A server that has been started, and nobody listens to yet.
pub(super) struct Started {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

/// Starts a server: our environment, directory and standard error are its own.
pub(super) fn start(command: &[String]) -> anyhow::Result<Started> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| anyhow!("which server?"))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a server lives as long as we do, unlike what the command handler runs"
    )]
    let mut command = Command::new(program);
    let started = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child =
        started.map_err(|error| anyhow!("cannot start the server: {}", describe(&error)))?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Started {
            child,
            input,
            output,
        }),
        (None, _) | (_, None) => Err(anyhow!("cannot talk to the server")),
    }
}

impl Started {
    /// The way to the server, which `takes` what comes from it from now on.
    pub(super) fn listen(self, takes: Arc<dyn FromServer>) -> (ServerProcess, Arc<ToChild>) {
        let (queue, outgoing) = sync_channel(MAX_QUEUED);
        let Self {
            child,
            input,
            output,
        } = self;
        // Whatever it waits for when the program ends, nobody needs any more.
        thread::spawn(move || drain(outgoing, input));
        let reader = thread::spawn(move || {
            let mut output = BufReader::with_capacity(BUFFER_BYTES, output);
            while let Ok(Some(Line::Whole(bytes) | Line::TooLong(bytes))) = next_line(&mut output) {
                takes.receive(&bytes, None);
            }
            takes.gone();
        });
        let way = ToChild {
            queue: Mutex::new(Some(queue)),
        };
        (ServerProcess { child, reader }, Arc::new(way))
    }
}

impl ServerProcess {
    /// Waits for the server's end, and for what it wrote last. `look` is asked again and again what is wanted of it.
    pub(super) fn supervise(
        mut self,
        way: &dyn ToServer,
        mut look: impl FnMut(Pid) -> Wanted,
    ) -> anyhow::Result<ExitStatus> {
        let pid = Pid::from_child(&self.child);
        let mut since_end = Duration::ZERO;
        let status = loop {
            if let Some(status) = self
                .child
                .try_wait()
                .map_err(|error| anyhow!("cannot wait for the server: {}", describe(&error)))?
            {
                break status;
            }
            if look(pid) == Wanted::End {
                way.close();
                since_end = since_end.saturating_add(LOOK);
            }
            if since_end == END_LIMIT {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::TERM);
            }
            if since_end > END_LIMIT * 2 {
                let _ = self.child.kill();
            }
            thread::park_timeout(LOOK);
        };
        let _ = self.reader.join();
        Ok(status)
    }
}

impl ToServer for ToChild {
    fn send(&self, text: String, ticket: Option<Ticket>) -> Result<(), NotSent> {
        let text = write::on_one_line(text);
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or(NotSent::Unreachable)?;
        queue
            .try_send(Queued { text, ticket })
            .map_err(|error| match error {
                TrySendError::Full(_) => NotSent::Busy,
                TrySendError::Disconnected(_) => NotSent::Unreachable,
            })
    }

    fn close(&self) {
        self.queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

/// Writes until there is nothing to be sent any more, or the server is gone.
fn drain(queue: Receiver<Queued>, mut input: impl Write) {
    for Queued { mut text, ticket } in queue {
        if ticket.is_some_and(|ticket| !ticket.take()) {
            continue;
        }
        text.push('\n');
        if input
            .write_all(text.as_bytes())
            .and_then(|()| input.flush())
            .is_err()
        {
            return;
        }
    }
}
