//! What a person should hear about a server.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What is wrong with a server, in words for the person who has wrapped it. Nothing of it was written by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Problem {
    /// HTTP 401 or 403.
    #[error(
        "the server refuses the credentials (HTTP status {0}): give them with --header-env Authorization=VARIABLE"
    )]
    Refused(u16),
    /// HTTP 3xx. Credentials and calls go where a person sent them, and nowhere else.
    #[error(
        "the server sends its callers elsewhere (HTTP status {0}): give the address it stands at now"
    )]
    Moved(u16),
    /// Another HTTP status, without a message that answers the request.
    #[error("the server answered with HTTP status {0} and no message")]
    Status(u16),
    /// Neither JSON nor events.
    #[error(
        "what the server answered is neither JSON nor a stream of events: is this the address of an MCP server?"
    )]
    NotMcp,
    /// No address belongs to the name.
    #[error("the server's name cannot be resolved")]
    NoAddress,
    /// The connection took too long.
    #[error("the server did not take the connection in time")]
    ConnectTimeout,
    /// The connection was refused, or its encryption failed.
    #[error("the connection to the server was refused, or its certificate is not valid here")]
    NoConnection,
    /// The server had ended the session, and has begun another: what it kept for the old one is gone.
    #[error("the server had ended the session; a new one was opened")]
    SessionRenewed,
    /// Something that the client had set does not hold in the session that took the place of another.
    #[error(
        "in the new session not everything could be set again that the client had asked for: its log level, or its subscriptions to resources"
    )]
    SettingsLost,
    /// The server had ended the session, and begins no other like it.
    #[error(
        "the server had ended the session, and opens no new one with the same protocol version"
    )]
    SessionLost,
}

/// Who hears of problems: each once, until the server has answered properly again.
pub(super) struct Problems {
    listener: Arc<dyn Fn(Problem) + Send + Sync>,
    told: Mutex<BTreeSet<Problem>>,
}

impl Problems {
    pub(super) fn new(listener: Arc<dyn Fn(Problem) + Send + Sync>) -> Self {
        Self {
            listener,
            told: Mutex::default(),
        }
    }

    pub(super) fn tell(&self, problem: Problem) {
        let is_new = self.lock().insert(problem);
        if is_new {
            (self.listener)(problem);
        }
    }

    /// The server answers as it should: what is told from now on is new.
    pub(super) fn settle(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<Problem>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
