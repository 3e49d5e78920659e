//! A client that waits for a write: under which request it does so at the moment, and what it wants to hear meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_mcp::RequestId;

/// Whoever waits for one write. A stateless client waits under a new request in each round.
#[derive(Debug)]
pub(super) struct Caller {
    waiting: Mutex<Waiting>,
}

/// One request of a client that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) id: RequestId,
    /// The token under which the client wants to hear of progress, as it came.
    pub(super) progress_token: Option<String>,
    pub(super) is_cancelled: Arc<AtomicBool>,
}

impl Caller {
    pub(super) fn new(waiting: Waiting) -> Self {
        Self {
            waiting: Mutex::new(waiting),
        }
    }

    /// The request that the client waits under.
    pub(super) fn waiting(&self) -> Waiting {
        self.lock().clone()
    }

    /// The client waits under another request from now on.
    pub(super) fn goes_on_as(&self, waiting: Waiting) {
        *self.lock() = waiting;
    }

    /// Whether the client has given up.
    pub(super) fn is_cancelled(&self) -> bool {
        self.lock().is_cancelled.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
