//! A client on standard input and output. One thread writes, so that a slow client holds up nobody else.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_mcp::port::{Outgoing, ToClient};
use countersign_mcp::write;

/// The most messages that wait for a slow client.
const MAX_QUEUED: usize = 256;

/// The way to the client.
#[derive(Clone)]
pub(super) struct StdioClient {
    queue: Arc<Mutex<Option<SyncSender<Outgoing>>>>,
}

/// What goes out, for the thread that writes it.
pub(super) struct ClientQueue(Receiver<Outgoing>);

impl StdioClient {
    pub(super) fn new() -> (Self, ClientQueue) {
        let (queue, outgoing) = sync_channel(MAX_QUEUED);
        let queue = Arc::new(Mutex::new(Some(queue)));
        (Self { queue }, ClientQueue(outgoing))
    }

    /// Nothing more is queued; what is goes out.
    pub(super) fn finish(&self) {
        self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<SyncSender<Outgoing>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToClient for StdioClient {
    fn send(&self, message: Outgoing) {
        let message = Outgoing {
            text: write::on_one_line(message.text),
            ..message
        };
        // The lock is not held while a slow client is waited for.
        let queue = self.lock().clone();
        if let Some(queue) = queue {
            // Where the client has gone there is nobody to tell.
            let _ = queue.send(message);
        }
    }
}

impl ClientQueue {
    /// Writes until all senders or the client are gone.
    pub(super) fn drain(self, mut output: impl Write) {
        for Outgoing {
            mut text,
            on_written,
            ..
        } in self.0
        {
            text.push('\n');
            let written = output
                .write_all(text.as_bytes())
                .and_then(|()| output.flush());
            if written.is_err() {
                return;
            }
            if let Some(on_written) = on_written {
                on_written();
            }
        }
    }
}
