//! A client on standard input and output. One thread writes, so that a slow client holds up nobody else.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use countersign_mcp::port::{Outgoing, ToClient};
use countersign_mcp::write;

use super::queue::Queue;
use super::{END_LIMIT, LOOK};

/// The way to the client.
#[derive(Clone)]
pub(super) struct StdioClient {
    queue: Arc<Queue<Outgoing>>,
}

/// How long a client that has stopped reading is waited for.
#[derive(Default)]
pub(super) struct Patience {
    /// How much it had read at the last look.
    taken: Option<u64>,
    left: Duration,
}

/// What goes out, for the thread that writes it.
pub(super) struct ClientQueue(Arc<Queue<Outgoing>>);

impl StdioClient {
    pub(super) fn new() -> (Self, ClientQueue) {
        let queue = Arc::new(Queue::new());
        let outgoing = ClientQueue(Arc::clone(&queue));
        (Self { queue }, outgoing)
    }

    /// It is time to end, and a client that reads nothing keeps nobody from it: what waits for it is given up in the end.
    ///
    /// To be called at every [`LOOK`].
    pub(super) fn is_waited_for(&self, patience: &mut Patience) {
        let taken = self.queue.taken();
        if taken.is_none() || taken != patience.taken {
            *patience = Patience {
                taken,
                left: END_LIMIT,
            };
        }
        patience.left = patience.left.saturating_sub(LOOK);
        if patience.left.is_zero() {
            self.queue.abandon();
        }
    }

    /// Nothing more is queued; what is goes out.
    pub(super) fn finish(&self) {
        self.queue.close();
    }
}

impl ToClient for StdioClient {
    fn send(&self, message: Outgoing) {
        let message = Outgoing {
            text: write::on_one_line(message.text),
            ..message
        };
        self.queue.put(message.text.len(), message);
    }
}

impl ClientQueue {
    /// Writes until there is nothing more to be written, or the client is gone.
    pub(super) fn drain(self, mut output: impl Write) {
        while let Some(Outgoing {
            mut text,
            on_written,
            ..
        }) = self.0.take()
        {
            text.push('\n');
            let written = output
                .write_all(text.as_bytes())
                .and_then(|()| output.flush());
            if written.is_err() {
                // There is nobody to tell.
                self.0.abandon();
                return;
            }
            if let Some(on_written) = on_written {
                on_written();
            }
        }
    }
}
