//! The two ways that messages go, as traits: to and from a client, to and from a server. A transport implements one half of each
//! and calls the other.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::id::RequestId;
use crate::message::Message;
use crate::version::Opening;

/// The way to one client.
pub trait ToClient: Send + Sync {
    /// Queues a message. It may wait while the client is slow, for a bounded time; where the client is gone it does nothing.
    fn send(&self, message: Outgoing);
}

/// A message for a client.
pub struct Outgoing {
    /// The message, without line breaks outside of its strings or with them: a transport puts it on one line where it has to.
    pub text: String,
    /// The client's request that it belongs to: the one that it answers, or the one in whose course it came up. A transport with
    /// one stream a request sends it there.
    pub about: Option<RequestId>,
    /// Called once the message has been written to the client, and never where that failed.
    pub on_written: Option<Box<dyn FnOnce() + Send>>,
}

/// What takes the messages of one client, in order. Where many clients share a connection there is no order between theirs, and they
/// come at the same time.
pub trait FromClient: Send + Sync {
    /// Takes a message. It returns soon: what takes long happens elsewhere.
    fn receive(&self, message: Message);
    /// The client is gone: it sends nothing, and reads nothing, any more.
    fn close(&self);
    /// Whether messages can still come to anything. Where the server behind has ended they cannot, and a client has to come anew.
    fn is_open(&self) -> bool {
        true
    }
}

/// Makes connections for clients that come and go.
pub trait Connect: Send + Sync + 'static {
    /// A client has come. `opening` says how it speaks: with `initialize`, which is its first message; or with requests that stand
    /// alone, all of which may share one connection (their ids are unique in it).
    fn connect(
        &self,
        opening: Opening,
        client: Arc<dyn ToClient>,
    ) -> Result<Arc<dyn FromClient>, Refused>;
}

/// Why a client is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// As many are served as may be.
    #[error("too many sessions are open: close one, or try again later")]
    Full,
    /// The server behind cannot be reached or started.
    #[error("the server behind cannot be started or reached")]
    Unavailable,
}

/// The way to one server.
pub trait ToServer: Send + Sync {
    /// Queues a message for the server. An error proves that it has not gone out, and will not.
    fn send(&self, text: String, ticket: Option<Ticket>) -> Result<(), NotSent>;
    /// Sends nothing any more, and tells the server so, as the transport has it.
    fn close(&self);
}

/// What takes the messages of one server, in order.
pub trait FromServer: Send + Sync {
    /// Takes what the server wrote, before anybody has read it. `about` is the request in whose course it came, where the
    /// transport tells.
    fn receive(&self, bytes: &[u8], about: Option<&RequestId>);
    /// A request has had no answer, and will have none.
    fn unanswered(&self, request: &RequestId, why: Unanswered);
    /// Nothing comes any more.
    fn gone(&self);
}

/// Why a message has certainly not gone out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// There is no way to the server.
    #[error("the server cannot be reached")]
    Unreachable,
    /// Too many messages wait for the server already, or it said so itself.
    #[error("the server takes no more messages at the moment")]
    Busy,
    /// Whoever wanted it sent has given up before.
    #[error("it was given up before it was sent")]
    GivenUp,
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It has certainly not gone out.
    NotSent(NotSent),
    /// It may have reached the server.
    Lost,
}

/// Decides, once, whether a message goes out: either its transport takes it, and it does, or whoever waits gives up, and it does
/// not.
#[derive(Clone, Debug, Default)]
pub struct Ticket(Arc<AtomicBool>);

impl Ticket {
    /// For the transport, right before the first byte. False: it must not go out.
    #[must_use]
    pub fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// For the one who waits. True: it has not gone out, and will not.
    #[must_use]
    pub fn give_up(&self) -> bool {
        self.take()
    }
}

/// A message may hold anything: only its size is shown.
impl fmt::Debug for Outgoing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Outgoing")
            .field("bytes", &self.text.len())
            .field("about", &self.about)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_taken_or_given_up_and_never_both() {
        let ticket = Ticket::default();
        assert!(ticket.take() && !ticket.give_up());
        let ticket = Ticket::default();
        assert!(ticket.give_up() && !ticket.take());
    }
}
