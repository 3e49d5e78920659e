//! Hands over what came, in order, on a thread of its own: whoever takes it may be slow, and slows nobody else.

use std::io;
use std::sync::Arc;
use std::thread;

use countersign_mcp::RequestId;
use countersign_mcp::port::{FromServer, Unanswered};
use tokio::sync::mpsc::{Sender, channel};

/// The most messages that wait to be taken. The server is not read any further meanwhile.
const MAX_WAITING: usize = 16;

/// The way to whoever takes a server's messages.
#[derive(Clone)]
pub(super) struct Delivery(Sender<Delivered>);

enum Delivered {
    Message {
        bytes: Vec<u8>,
        about: Option<RequestId>,
    },
    Unanswered(RequestId, Unanswered),
    Gone,
}

impl Delivery {
    pub(super) fn start(from_server: Arc<dyn FromServer>) -> io::Result<Self> {
        let (sender, mut receiver) = channel(MAX_WAITING);
        thread::Builder::new()
            .name("countersign-from-server".to_owned())
            .spawn(move || {
                while let Some(delivered) = receiver.blocking_recv() {
                    match delivered {
                        Delivered::Message { bytes, about } => {
                            from_server.receive(&bytes, about.as_ref());
                        }
                        Delivered::Unanswered(request, why) => {
                            from_server.unanswered(&request, why);
                        }
                        Delivered::Gone => from_server.gone(),
                    }
                }
            })?;
        Ok(Self(sender))
    }

    pub(super) async fn message(&self, bytes: Vec<u8>, about: Option<&RequestId>) {
        let about = about.cloned();
        self.give(Delivered::Message { bytes, about }).await;
    }

    pub(super) async fn unanswered(&self, request: &RequestId, why: Unanswered) {
        self.give(Delivered::Unanswered(request.clone(), why)).await;
    }

    pub(super) async fn gone(&self) {
        self.give(Delivered::Gone).await;
    }

    async fn give(&self, delivered: Delivered) {
        // Nobody is there only where the taker has panicked.
        let _ = self.0.send(delivered).await;
    }
}
