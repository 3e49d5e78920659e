//! Writing to the client: one thread, so that a slow client holds up nobody else.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_mcp::{RequestId, write};

/// The most messages that wait for a slow client.
const MAX_QUEUED: usize = 256;

/// The way to the client.
#[derive(Clone)]
pub(super) struct ClientOutput {
    queue: Arc<Mutex<Option<SyncSender<Outgoing>>>>,
}

/// One message for the client.
struct Outgoing {
    text: String,
    /// The request whose written result it carries, where somebody wants to know that it went out.
    delivers: Option<RequestId>,
}

/// What goes out, for the thread that writes it.
pub(super) struct ClientQueue(Receiver<Outgoing>);

impl ClientOutput {
    pub(super) fn new() -> (Self, ClientQueue) {
        let (queue, outgoing) = sync_channel(MAX_QUEUED);
        let queue = Arc::new(Mutex::new(Some(queue)));
        (Self { queue }, ClientQueue(outgoing))
    }

    /// Queues a message. It waits while the client is slow.
    pub(super) fn send(&self, text: String) {
        self.queue_up(text, None);
    }

    /// Queues the answer to a write, of which it is to be known when it went out.
    pub(super) fn deliver(&self, text: String, id: RequestId) {
        self.queue_up(text, Some(id));
    }

    fn queue_up(&self, text: String, delivers: Option<RequestId>) {
        let text = write::on_one_line(text);
        // The lock is not held while a slow client is waited for.
        let queue = self.lock().clone();
        if let Some(queue) = queue {
            // Where the client has gone there is nobody to tell.
            let _ = queue.send(Outgoing { text, delivers });
        }
    }

    /// Nothing more is queued; what is goes out.
    pub(super) fn finish(&self) {
        self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<SyncSender<Outgoing>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientQueue {
    /// Writes until all senders or the client are gone. `delivered` hears of every answer that was written.
    pub(super) fn drain(self, mut output: impl Write, delivered: impl Fn(&RequestId)) {
        for Outgoing { mut text, delivers } in self.0 {
            text.push('\n');
            let written = output
                .write_all(text.as_bytes())
                .and_then(|()| output.flush());
            if written.is_err() {
                return;
            }
            if let Some(id) = delivers {
                delivered(&id);
            }
        }
    }
}
