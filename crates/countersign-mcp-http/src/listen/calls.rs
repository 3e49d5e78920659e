//! Requests that stand alone, of all clients, on one connection.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_mcp::port::{Outgoing, ToClient};
use countersign_mcp::{Kind, Message, RequestId, stateless, write};

use super::outbox::{id, is_answer};
use super::stateless::Line;
use super::stream::{Receipt, Stream};
use crate::parameters::Parameters;

/// The most requests that wait for an answer.
const MAX_OPEN: usize = 1024;
/// Where a request says how its progress is to be called.
const TOKEN_OF_REQUEST: [&str; 3] = ["params", "_meta", "progressToken"];
/// Where progress says whose it is.
const TOKEN_OF_PROGRESS: [&str; 2] = ["params", "progressToken"];
/// Where a notification says which subscription it belongs to.
const SUBSCRIPTION: [&str; 3] = ["params", "_meta", stateless::SUBSCRIPTION_ID];
/// Where the answer to a subscription does.
const SUBSCRIPTION_OF_RESULT: [&str; 3] = ["result", "_meta", stateless::SUBSCRIPTION_ID];
/// What a server says when it ends a subscription.
const ENDED: [&str; 2] = ["params", "requestId"];

/// Whose request is which. Each goes on under an id that nobody else has, which is also its progress token.
#[derive(Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    /// Which arguments headers repeat, by the lists that clients were given.
    pub(super) parameters: Parameters,
}

#[derive(Default)]
struct State {
    last: u64,
    open: HashMap<RequestId, Call>,
    /// Given up before they were handed over.
    given_up: HashSet<RequestId>,
}

/// One request without an answer.
struct Call {
    /// Its id as its client wrote it.
    id: String,
    /// Its progress token as its client wrote it.
    token: Option<String>,
    is_subscription: bool,
    lists_tools: bool,
    is_handed_over: bool,
    stream: Arc<Stream>,
}

/// A request as it goes on.
pub(super) struct Opened {
    pub(super) id: RequestId,
    pub(super) message: Message,
    pub(super) stream: Arc<Stream>,
}

/// Why a request does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotOpened {
    #[error("too many requests have no answer yet: try again later")]
    TooMany,
    #[error("the message is longer than a message may be")]
    TooLong,
}

impl Calls {
    pub(super) fn open(&self, message: &Message, method: &str) -> Result<Opened, NotOpened> {
        let number = {
            let mut state = self.lock();
            if state.open.len() >= MAX_OPEN {
                return Err(NotOpened::TooMany);
            }
            state.last += 1;
            state.last
        };
        let id = RequestId::Text(format!("http-{number}").into());
        let json = id.to_json();
        let text = message.text();
        let own_id = write::value_at(text, &["id"]).unwrap_or("null").to_owned();
        let token = write::value_at(text, &TOKEN_OF_REQUEST).map(str::to_owned);
        let text = write::with_value_at(text, &["id"], &json).ok_or(NotOpened::TooLong)?;
        let text = write::with_value_at(&text, &TOKEN_OF_REQUEST, &json).unwrap_or(text);
        let message = Message::read(text.as_bytes()).map_err(|_| NotOpened::TooLong)?;
        let stream = Stream::new(false);
        let call = Call {
            id: own_id,
            token,
            is_subscription: method == "subscriptions/listen",
            lists_tools: method == "tools/list",
            is_handed_over: false,
            stream: Arc::clone(&stream),
        };
        self.lock().open.insert(id.clone(), call);
        Ok(Opened {
            id,
            message,
            stream,
        })
    }

    /// A request has been handed over. False: it has been given up meanwhile, and is to be cancelled.
    pub(super) fn hand_over(&self, id: &RequestId) -> bool {
        let mut state = self.lock();
        if let Some(call) = state.open.get_mut(id) {
            call.is_handed_over = true;
        }
        !state.given_up.remove(id)
    }

    /// A request's client is gone. True: it is to be cancelled.
    pub(super) fn give_up(&self, id: &RequestId) -> bool {
        let mut state = self.lock();
        let Some(call) = state.open.remove(id) else {
            return false;
        };
        if !call.is_handed_over {
            state.given_up.insert(id.clone());
        }
        call.is_handed_over
    }

    /// Nobody gets an answer any more.
    pub(super) fn end_all(&self) {
        for (_, call) in self.lock().open.drain() {
            call.stream.end();
        }
    }

    /// Ends what has no end of its own.
    pub(super) fn end_subscriptions(&self) {
        for call in self.lock().open.values() {
            if call.is_subscription {
                call.stream.end();
            }
        }
    }

    fn answer(&self, message: Outgoing, text: &str) {
        let Some(id) = id(text) else { return };
        // Without a call nobody waits: its client is gone.
        let Some(call) = self.lock().open.remove(&id) else {
            return;
        };
        if call.lists_tools {
            self.parameters.learn(text.as_bytes());
        }
        let own = write::with_value_at(text, &["id"], &call.id);
        let own = own.unwrap_or_else(|| text.to_owned());
        let own = replaced(own, &SUBSCRIPTION_OF_RESULT, &id.to_json(), &call.id);
        call.stream.answer(own, Receipt::new(message.on_written));
    }

    fn notify(&self, message: Outgoing, text: String) {
        let named = |path: &[&str]| write::value_at(&text, path);
        let named = named(&TOKEN_OF_PROGRESS)
            .or_else(|| named(&SUBSCRIPTION))
            .or_else(|| named(&ENDED));
        let id = named.and_then(|json| {
            let json = json.strip_prefix('"')?.strip_suffix('"')?;
            Some(RequestId::Text(json.into()))
        });
        let Some(id) = message.about.or(id) else {
            return;
        };
        let internal = id.to_json();
        let (stream, text) = {
            let mut state = self.lock();
            let Some(call) = state.open.get(&id) else {
                return;
            };
            if write::value_at(&text, &ENDED) == Some(&internal) && is_cancellation(&text) {
                call.stream.end();
                state.open.remove(&id);
                return;
            }
            let text = match (&call.token, write::value_at(&text, &TOKEN_OF_PROGRESS)) {
                (Some(token), Some(_)) => replaced(text, &TOKEN_OF_PROGRESS, &internal, token),
                // It wants to hear of no progress.
                (None, Some(_)) => return,
                (_, None) => text,
            };
            let text = replaced(text, &SUBSCRIPTION, &internal, &call.id);
            (Arc::clone(&call.stream), text)
        };
        stream.push(text, Receipt::new(message.on_written));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToClient for Calls {
    fn send(&self, mut message: Outgoing) {
        let text = write::on_one_line(std::mem::take(&mut message.text));
        if is_answer(&text) {
            self.answer(message, &text);
        } else if write::value_at(&text, &["id"]).is_none() {
            self.notify(message, text);
        }
        // Servers ask nothing since 2026-07-28: they answer that they need something.
    }
}

/// Puts the client's own value in the place of the one that stands for it.
fn replaced(text: String, path: &[&str], internal: &str, own: &str) -> String {
    if write::value_at(&text, path) != Some(internal) {
        return text;
    }
    write::with_value_at(&text, path, own).unwrap_or(text)
}

fn is_cancellation(text: &str) -> bool {
    write::value_at(text, &["method"]) == Some("\"notifications/cancelled\"")
}

/// Cancels a request when its client goes, unless it has been answered.
pub(super) struct Held {
    pub(super) line: Arc<Line>,
    pub(super) id: RequestId,
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.line.calls.give_up(&self.id)
            && let Some(message) = cancellation(&self.id)
        {
            self.line.connection.receive_later(message);
        }
    }
}

/// What tells the connection that a request has been given up.
pub(super) fn cancellation(id: &RequestId) -> Option<Message> {
    let params = format!("{{\"requestId\":{}}}", id.to_json());
    let text = write::notification("notifications/cancelled", &params);
    Message::read(text.as_bytes()).ok()
}

/// Whether a notification may go on: none that names a request, since another client's could be meant.
pub(super) fn may_pass(message: &Message) -> bool {
    !matches!(message.kind(), Kind::Notification { method } if method == "notifications/cancelled")
}

impl fmt::Debug for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Calls").finish_non_exhaustive()
    }
}
