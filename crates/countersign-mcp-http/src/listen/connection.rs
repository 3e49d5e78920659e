//! The way from a client, from tasks to the plain threads behind it.

use std::fmt;
use std::sync::Arc;

use countersign_mcp::port::{Connect, FromClient, Refused, ToClient};
use countersign_mcp::{Message, Opening};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// What takes the messages of a client. It is told that the client is gone when this is dropped.
pub(super) struct Connection {
    inner: Arc<dyn FromClient>,
    /// Held while a message is taken, where there is an order.
    order: Option<Arc<Mutex<()>>>,
    runtime: Handle,
}

impl Connection {
    pub(super) async fn open(
        connect: &Arc<dyn Connect>,
        opening: Opening,
        client: Arc<dyn ToClient>,
    ) -> Result<Self, Refused> {
        let connect = Arc::clone(connect);
        let runtime = Handle::current();
        // Whoever asked may go meanwhile: what has been opened is then closed all the same.
        let opened = spawn_blocking(move || {
            let inner = connect.connect(opening, client)?;
            Ok(Self {
                inner,
                order: (opening == Opening::Handshake).then(Arc::default),
                runtime,
            })
        });
        opened.await.unwrap_or(Err(Refused::Unavailable))
    }

    /// Hands a message over, behind those before it.
    pub(super) async fn receive(&self, message: Message) {
        let turn = match &self.order {
            Some(order) => Some(Arc::clone(order).lock_owned().await),
            None => None,
        };
        let inner = Arc::clone(&self.inner);
        let received = spawn_blocking(move || {
            inner.receive(message);
            drop(turn);
        });
        // A panic behind it is not this client's to hear of.
        let _ = received.await;
    }

    /// Hands a message over, and another one behind it where `then` has one by that time.
    pub(super) async fn receive_then(
        &self,
        message: Message,
        then: impl FnOnce() -> Option<Message> + Send + 'static,
    ) {
        let inner = Arc::clone(&self.inner);
        let received = spawn_blocking(move || {
            inner.receive(message);
            if let Some(message) = then() {
                inner.receive(message);
            }
        });
        let _ = received.await;
    }

    /// Hands a message over, when there is time.
    pub(super) fn receive_later(&self, message: Message) {
        let inner = Arc::clone(&self.inner);
        drop(self.runtime.spawn_blocking(move || inner.receive(message)));
    }

    pub(super) fn is_open(&self) -> bool {
        self.inner.is_open()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let inner = Arc::clone(&self.inner);
        drop(self.runtime.spawn_blocking(move || inner.close()));
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").finish_non_exhaustive()
    }
}
