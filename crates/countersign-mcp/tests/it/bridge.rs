//! A side of a bridge, in the words of the protocol.

use countersign_mcp::bridge::{Bridge, Step, ToSession};
use countersign_mcp::{Message, RequestId};

pub(crate) fn message(text: &str) -> Message {
    Message::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A bridge, and what comes out of it: `>` for the server, `<` for the client, `!` for what has no answer.
pub(crate) struct Between<B> {
    pub(crate) bridge: B,
}

impl<B: Bridge> Between<B> {
    pub(crate) fn client(&mut self, text: &str) -> Vec<String> {
        shown(self.bridge.client_sent(&message(text)))
    }

    pub(crate) fn server(&mut self, text: &str) -> Vec<String> {
        shown(self.bridge.server_sent(&message(text), None))
    }

    pub(crate) fn server_about(&mut self, text: &str, about: i64) -> Vec<String> {
        let about = RequestId::Integer(about.to_string().into());
        shown(self.bridge.server_sent(&message(text), Some(&about)))
    }
}

pub(crate) fn to_session(is_shared: bool) -> Between<ToSession> {
    let mut last = 0_u8;
    let randomness = move || {
        last += 1;
        [last; 16]
    };
    Between {
        bridge: ToSession::new(Box::new(randomness), is_shared),
    }
}

pub(crate) fn shown(steps: Vec<Step>) -> Vec<String> {
    let shown = |step| match step {
        Step::ToServer { text, .. } => format!("> {text}"),
        Step::ToClient { text, .. } => format!("< {text}"),
        Step::Unanswered(id) => format!("! {id}"),
    };
    steps.into_iter().map(shown).collect()
}
