//! Between a client and a server that speak different versions: state machines that turn the messages of one side into those of
//! the other.
//!
//! A bridge does nothing itself. It takes a message and says what to send; its caller sends it, in that order. What the caller asks
//! on its own account (a list of tools, a call that has been approved) goes through the same bridge, so that there is one place
//! where versions meet.
//!
//! Invariants:
//! - Every request of a client is answered once, or told to the caller as unanswered once, if the server answers or is said to be
//!   gone; a request that the client has cancelled may stay without an answer.
//! - Towards the server a bridge has ids of its own, so that a client may use an id again as soon as it has its answer, while the
//!   server is still at work.
//! - Contents pass byte for byte: they are cut out of one message and put into another.
//! - Whatever a peer sends, nothing grows beyond a named limit, and nothing panics. What a client is given to carry is not
//!   guessable, counts once, and only for the same request.
//! - No clock and no randomness but what the caller gives.
//!
//! Module map: `to_session` (2026-07-28 in front of a session), `to_stateless` (a session in front of 2026-07-28).

mod to_session;
mod to_stateless;

use std::fmt;

use crate::id::RequestId;
use crate::message::{Kind, Message};
use crate::stateless::{Introduction, RequestMeta};
use crate::version::Version;
use crate::write;

pub use to_session::{
    MAX_HELD_ASKS, MAX_LISTENS, MAX_SUBSCRIBED, MAX_SUSPENDED, MAX_WAITING, ToSession,
};

pub use to_stateless::{MAX_ADDRESSES, MAX_OPEN_ROUNDS, MAX_ROUNDS, ToStateless};

/// The most requests of a client that are under way at a server.
pub const MAX_UNDER_WAY: usize = 4096;

/// Where two versions meet.
pub trait Bridge: Send {
    /// Takes what a client has sent.
    fn client_sent(&mut self, message: &Message) -> Vec<Step>;

    /// Takes a request of the caller's own, under an id that no client has, or the cancellation of one. `sender` says on whose
    /// behalf; its answer comes as a step for the client.
    fn host_sent(&mut self, message: &Message, sender: Option<&RequestMeta>) -> Vec<Step>;

    /// Takes what the server has sent. `about` is the request in whose course it came, by its id at the server, where the
    /// transport tells.
    fn server_sent(&mut self, message: &Message, about: Option<&RequestId>) -> Vec<Step>;

    /// A request, by its id at the server, has had no answer and will have none.
    fn unanswered(&mut self, request: &RequestId) -> Vec<Step>;

    /// What a step had for the server has certainly not gone out, and will not. Without this, what it was waits for ever.
    fn not_sent(&mut self, text: &str) -> Vec<Step> {
        match Message::read(text.as_bytes()).as_ref().map(Message::kind) {
            Ok(Kind::Request { id, .. }) => self.unanswered(id),
            Ok(Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. }) | Err(_) => {
                Vec::new()
            }
        }
    }

    /// Gives up what has been left lying since the last time this was called: a client that was asked for something and has not
    /// come back, and the like. To be called every few minutes.
    fn expire(&mut self) -> Vec<Step>;

    /// The server is gone. What was under way has no answer.
    fn gone(&mut self) -> Vec<Step>;

    /// What the server says of itself and the version that is spoken with it, as soon as it is known.
    fn server(&self) -> Option<(&Introduction, Version)>;
}

/// What to do with a message.
#[derive(Clone, PartialEq, Eq)]
pub enum Step {
    /// Send this to the server.
    ToServer {
        /// The message.
        text: String,
        /// The client's (or caller's own) request that it carries, if it carries one for the first time: for whoever
        /// decides until the last moment whether that goes out.
        carries: Option<RequestId>,
    },
    /// Send this to the client.
    ToClient {
        /// The message.
        text: String,
        /// The client's (or caller's own) request that it answers, or in whose course it came up.
        about: Option<RequestId>,
    },
    /// This request of a client (or of the caller) has had no answer from the server and will have none. Nothing has been sent to
    /// the client.
    Unanswered(RequestId),
}

/// Where unguessable bytes come from.
pub type Randomness = Box<dyn FnMut() -> [u8; 16] + Send>;

impl Step {
    fn to_server(text: String) -> Self {
        Self::ToServer {
            text,
            carries: None,
        }
    }

    /// An error for a client.
    fn refusal(id: &RequestId, code: i32, text: &str) -> Self {
        Self::answer(id, write::error(Some(id), code, text))
    }

    /// An answer for a client.
    fn answer(id: &RequestId, text: String) -> Self {
        Self::ToClient {
            text,
            about: Some(id.clone()),
        }
    }
}

/// The id of ours towards a server.
fn request_id(number: u64) -> RequestId {
    RequestId::Integer(number.to_string().into())
}

fn number(id: &RequestId) -> Option<u64> {
    match id {
        RequestId::Integer(digits) => digits.parse().ok(),
        RequestId::Text(_) => None,
    }
}

/// Under which token a client wants to hear of progress, as JSON.
fn token(message: &Message) -> Option<String> {
    let meta = message.params()?.member("_meta")?;
    let token = meta.member("progressToken")?;
    RequestId::from_value(token.value())?;
    Some(token.text().to_owned())
}

/// A message may hold anything: only its size is shown.
impl fmt::Debug for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToServer { text, carries } => formatter
                .debug_struct("ToServer")
                .field("bytes", &text.len())
                .field("carries", carries)
                .finish(),
            Self::ToClient { text, about } => formatter
                .debug_struct("ToClient")
                .field("bytes", &text.len())
                .field("about", about)
                .finish(),
            Self::Unanswered(id) => formatter.debug_tuple("Unanswered").field(id).finish(),
        }
    }
}
