//! A client that waits for a write: under which request it does so at the moment, and what it wants to hear meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use countersign_contract::StatusRef;
use countersign_mcp::RequestId;

/// Whoever waits for one write. A stateless client waits under a new request in each round.
#[derive(Debug)]
pub(super) struct Caller {
    waiting: Mutex<Waiting>,
    sent: OnceLock<StatusRef>,
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
            sent: OnceLock::new(),
        }
    }

    /// What it waits for goes to the server now.
    pub(super) fn is_served(&self, status_ref: Option<StatusRef>) {
        if let Some(status_ref) = status_ref {
            // The first says it.
            let _ = self.sent.set(status_ref);
        }
    }

    /// The handle of what has gone to the server on its behalf, so that it may have been carried out whatever fails later.
    pub(super) fn sent(&self) -> Option<StatusRef> {
        self.sent.get().copied()
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
