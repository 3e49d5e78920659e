//! The server behind: its process, what is sent to it, and what we ask of it ourselves.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use countersign_dispatch::NotStarted;
use countersign_mcp::{Message, RequestId, write};
use uuid::Uuid;

use crate::input::describe;

/// The most messages that wait for a slow server.
const MAX_QUEUED: usize = 256;

/// The way to the server.
pub(super) struct Upstream {
    queue: Mutex<Option<SyncSender<Outgoing>>>,
    asked: Mutex<BTreeMap<RequestId, SyncSender<Reply>>>,
    /// What our own ids begin with, so that none is the client's.
    prefix: String,
    count: AtomicU64,
}

/// What somebody of our own hears.
enum Reply {
    Message(Message),
    /// The server answered with something that is no message.
    Invalid,
}

/// What came of a question of our own.
pub(super) enum Asked {
    /// The server answered, with a result or an error.
    Answered(Message),
    /// It is proven that the server has read nothing of it.
    NotSent(NotStarted),
    /// It may have gone out, and no answer came that is one.
    Lost,
}

struct Outgoing {
    text: String,
    /// Whoever sets it first decides: the writer, and it goes out; the one who gave up, and it does not.
    is_taken: Option<Arc<AtomicBool>>,
}

/// What goes out, for the thread that writes it.
pub(super) struct UpstreamQueue(Receiver<Outgoing>);

/// Starts a server: our environment, directory and standard error are its own.
pub(super) fn start(command: &[String]) -> anyhow::Result<(Child, ChildStdin, ChildStdout)> {
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
        (Some(input), Some(output)) => Ok((child, input, output)),
        (None, _) | (_, None) => Err(anyhow!("cannot talk to the server")),
    }
}

impl Upstream {
    pub(super) fn new() -> (Self, UpstreamQueue) {
        let (queue, outgoing) = sync_channel(MAX_QUEUED);
        let upstream = Self {
            queue: Mutex::new(Some(queue)),
            asked: Mutex::default(),
            prefix: format!("countersign-{}-", Uuid::new_v4().simple()),
            count: AtomicU64::new(0),
        };
        (upstream, UpstreamQueue(outgoing))
    }

    /// Passes a message on. False where the server takes no more.
    pub(super) fn pass(&self, text: &str) -> bool {
        self.queue_up(text.to_owned(), None).is_ok()
    }

    /// Asks the server, and waits for its answer.
    pub(super) fn ask(&self, method: &str, params: &str, timeout: Duration) -> Asked {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::Text(format!("{}{number}", self.prefix).into());
        let (sender, receiver) = sync_channel(1);
        self.lock_asked().insert(id.clone(), sender);
        let is_taken = Arc::new(AtomicBool::new(false));
        let request = write::on_one_line(write::request(&id, method, params));
        let asked = match self.queue_up(request, Some(Arc::clone(&is_taken))) {
            Err(cause) => Asked::NotSent(cause),
            Ok(()) => match receiver.recv_timeout(timeout) {
                Ok(Reply::Message(message)) => Asked::Answered(message),
                Err(cause) if !is_taken.swap(true, Ordering::AcqRel) => {
                    Asked::NotSent(match cause {
                        RecvTimeoutError::Timeout => NotStarted::DeadlineExceeded,
                        RecvTimeoutError::Disconnected => NotStarted::Unreachable,
                    })
                }
                Ok(Reply::Invalid)
                | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Asked::Lost,
            },
        };
        self.lock_asked().remove(&id);
        asked
    }

    /// Gives an answer to whoever of us asked for it, and back where nobody did.
    pub(super) fn answered(&self, id: &RequestId, message: Message) -> Option<Message> {
        match self.lock_asked().remove(id) {
            Some(sender) => {
                let _ = sender.try_send(Reply::Message(message));
                None
            }
            None => Some(message),
        }
    }

    /// Says that what the server answered is no message. False where nobody of us had asked.
    pub(super) fn answered_invalid(&self, id: &RequestId) -> bool {
        let sender = self.lock_asked().remove(id);
        sender.is_some_and(|sender| sender.try_send(Reply::Invalid).is_ok())
    }

    /// Whether an id is one of our own.
    pub(super) fn is_own(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Text(text) if text.starts_with(&self.prefix))
    }

    /// Nothing comes from the server any more: whoever waits hears so.
    pub(super) fn is_gone(&self) {
        self.close();
        self.lock_asked().clear();
    }

    /// Sends nothing any more; the server sees the end of its input.
    pub(super) fn close(&self) {
        self.queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    fn queue_up(&self, text: String, is_taken: Option<Arc<AtomicBool>>) -> Result<(), NotStarted> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or(NotStarted::Unreachable)?;
        queue
            .try_send(Outgoing { text, is_taken })
            .map_err(|error| match error {
                TrySendError::Full(_) => NotStarted::RateLimited,
                TrySendError::Disconnected(_) => NotStarted::Unreachable,
            })
    }

    fn lock_asked(&self) -> std::sync::MutexGuard<'_, BTreeMap<RequestId, SyncSender<Reply>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UpstreamQueue {
    /// Writes until there is nothing to be sent any more, or the server is gone.
    pub(super) fn drain(self, mut input: impl Write) {
        for Outgoing { mut text, is_taken } in self.0 {
            if is_taken.is_some_and(|is_taken| is_taken.swap(true, Ordering::AcqRel)) {
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
}
