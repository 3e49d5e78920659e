//! A server that is a process of ours: how it starts, what goes to it and comes from it, and how it ends.

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::anyhow;
use countersign_mcp::port::{FromServer, NotSent, Ticket, ToServer};
use countersign_mcp::write;
use rustix::process::{Pid, Signal, kill_process};

use super::lines::{Line, next_line};
use super::queue::{NotQueued, Queue};
use crate::input::describe;

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
    takes: Arc<dyn FromServer>,
    /// Whether something that it wrote is being taken at the moment.
    is_taken: Arc<AtomicBool>,
}

/// The way to a server's standard input.
pub(super) struct ToChild {
    queue: Arc<Queue<Queued>>,
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
        let queue = Arc::new(Queue::new());
        let Self {
            child,
            input,
            output,
        } = self;
        // Whatever it waits for when the program ends, nobody needs any more.
        let outgoing = Arc::clone(&queue);
        thread::spawn(move || drain(&outgoing, input));
        let is_taken = Arc::new(AtomicBool::new(false));
        let reader = {
            let (takes, is_taken) = (Arc::clone(&takes), Arc::clone(&is_taken));
            thread::spawn(move || {
                let mut output = BufReader::with_capacity(BUFFER_BYTES, output);
                while let Ok(Some(Line::Whole(bytes) | Line::TooLong(bytes))) =
                    next_line(&mut output)
                {
                    is_taken.store(true, Ordering::Release);
                    takes.receive(&bytes, None);
                    is_taken.store(false, Ordering::Release);
                }
                takes.gone();
            })
        };
        let process = ServerProcess {
            child,
            reader,
            takes,
            is_taken,
        };
        (process, Arc::new(ToChild { queue }))
    }
}

impl ServerProcess {
    /// Waits for the server's end, and for what it wrote last. `look` is asked again and again what is wanted of it, while it lives
    /// and after.
    pub(super) fn supervise(
        mut self,
        way: &dyn ToServer,
        mut look: impl FnMut(Option<Pid>) -> Wanted,
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
            if look(Some(pid)) == Wanted::End {
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
        self.hear_out(|| look(None));
        Ok(status)
    }

    /// Waits for what the server wrote last, as long as its client takes it. Somebody else may hold its output open: that says
    /// nothing any more.
    fn hear_out(&self, mut look: impl FnMut() -> Wanted) {
        let mut left = END_LIMIT;
        while !self.reader.is_finished() && !left.is_zero() {
            let is_going_on = look() == Wanted::On && self.is_taken.load(Ordering::Acquire);
            left = if is_going_on {
                END_LIMIT
            } else {
                left.saturating_sub(LOOK)
            };
            thread::park_timeout(LOOK);
        }
        if !self.reader.is_finished() && !self.is_taken.load(Ordering::Acquire) {
            self.takes.gone();
        }
    }
}

impl ToServer for ToChild {
    fn send(&self, text: String, ticket: Option<Ticket>) -> Result<(), NotSent> {
        let text = write::on_one_line(text);
        self.queue
            .offer(text.len(), Queued { text, ticket })
            .map_err(|error| match error {
                NotQueued::Full => NotSent::Busy,
                NotQueued::Closed => NotSent::Unreachable,
            })
    }

    fn close(&self) {
        self.queue.close();
    }
}

/// Writes until there is nothing to be sent any more, or the server is gone.
fn drain(queue: &Queue<Queued>, mut input: impl Write) {
    while let Some(Queued { mut text, ticket }) = queue.take() {
        if ticket.is_some_and(|ticket| !ticket.take()) {
            continue;
        }
        text.push('\n');
        if input
            .write_all(text.as_bytes())
            .and_then(|()| input.flush())
            .is_err()
        {
            queue.abandon();
            return;
        }
    }
}
