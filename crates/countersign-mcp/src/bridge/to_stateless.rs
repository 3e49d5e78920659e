//! A client that speaks sessions, and a server that speaks 2026-07-28.
//!
//! The session is the bridge's own: it answers `initialize` from what the server tells about itself, and adds to each request
//! what the session's client said of itself. A result that asks back becomes requests to the client, and their answers the
//! server's request once more, under a new id.
//!
//! Module map: `opening`, `calls` (requests and their answers), `rounds` (what the server asks), `listening` (subscriptions).

mod calls;
mod listening;
mod opening;
mod rounds;

use std::collections::BTreeMap;
use std::fmt;

use self::calls::Sent;
use self::listening::Listening;
use self::opening::Session;
use self::rounds::Round;
use super::{Bridge, Step};
use crate::id::RequestId;
use crate::message::{Kind, Message};
use crate::stateless::{Introduction, LogLevel, RequestMeta};
use crate::version::Version;
use crate::write::{self, INVALID_REQUEST, METHOD_NOT_FOUND};

pub use self::listening::MAX_ADDRESSES;
pub use self::rounds::{MAX_OPEN_ROUNDS, MAX_ROUNDS};

/// The bridge from a session to 2026-07-28.
pub struct ToStateless {
    /// The last id that was used towards the server.
    last_id: u64,
    /// What the server says of itself, where that is known before a client comes.
    introduction: Option<Introduction>,
    session: Session,
    /// Where each request of the client is.
    requests: BTreeMap<RequestId, Place>,
    sent: BTreeMap<u64, Sent>,
    rounds: BTreeMap<u64, Round>,
    log_level: Option<LogLevel>,
    listening: Listening,
}

/// Where a client's request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It opens the session.
    Opening,
    /// The server is at work on it.
    AtServer(u64),
    /// The client is asked for something first.
    InRound(u64),
    /// It waits until the server tells about an address.
    Subscribing,
}

impl ToStateless {
    /// A bridge to a server, with what the server has answered to `server/discover` where it has been asked already.
    #[must_use]
    pub fn new(introduction: Option<Introduction>) -> Self {
        Self {
            last_id: 0,
            introduction,
            session: Session::Closed,
            requests: BTreeMap::new(),
            sent: BTreeMap::new(),
            rounds: BTreeMap::new(),
            log_level: None,
            listening: Listening::default(),
        }
    }

    fn request(
        &mut self,
        id: &RequestId,
        method: &str,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if !self.is_free(id, steps) {
            return None;
        }
        match method {
            "initialize" => return self.initialize(id, message, steps),
            "ping" => {
                steps.push(Step::answer(id, write::result(id, "{}")));
                return Some(());
            }
            _ => {}
        }
        let Some(opened) = self.session.opened() else {
            let text = "the session is not open: initialize it first";
            steps.push(Step::refusal(id, INVALID_REQUEST, text));
            return None;
        };
        match method {
            "logging/setLevel" => self.set_level(id, message, steps),
            "resources/subscribe" => self.subscribe(id, message, steps),
            "resources/unsubscribe" => self.unsubscribe(id, message, steps),
            _ if is_unknown_in_sessions(method) => {
                let text = "there is no such method in this session";
                steps.push(Step::refusal(id, METHOD_NOT_FOUND, text));
                None
            }
            _ => {
                let sender = opened.sender.clone();
                self.start(id, method, message, &sender, steps)
            }
        }
    }

    fn is_free(&self, id: &RequestId, steps: &mut Vec<Step>) -> bool {
        let is_free = !self.requests.contains_key(id);
        if !is_free {
            // With its id, the refusal would pass for the answer to the other one.
            let text = "this request's id is in use";
            steps.push(Step::ToClient {
                text: write::error(None, INVALID_REQUEST, text),
                about: None,
            });
        }
        is_free
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn notification(&mut self, method: &str, message: &Message, steps: &mut Vec<Step>) {
        match method {
            "notifications/initialized" => self.listen_anew(steps),
            "notifications/cancelled" => {
                self.cancelled(message, steps);
            }
            // 2026-07-28 has none of them; the server asks for roots when it needs them.
            "notifications/progress" | "notifications/roots/list_changed" => {}
            _ => steps.push(Step::to_server(message.text().to_owned())),
        }
    }

    /// The client does not want an answer any more.
    fn cancelled(&mut self, message: &Message, steps: &mut Vec<Step>) -> Option<()> {
        let params = message.params()?;
        let id = RequestId::from_value(params.value().get("requestId")?)?;
        match *self.requests.get(&id)? {
            // 2025-11-25, Cancellation: the opening is never cancelled.
            Place::Opening => return None,
            Place::AtServer(number) => {
                self.sent.remove(&number);
                let params = write::with_member(params.text(), "requestId", &number.to_string());
                let text = write::notification("notifications/cancelled", &params);
                steps.push(Step::to_server(text));
            }
            Place::InRound(number) => self.stop_asking(number, steps),
            Place::Subscribing => self.listening.forget(&id),
        }
        self.requests.remove(&id);
        Some(())
    }

    fn server_notification(
        &mut self,
        method: &str,
        message: &Message,
        about: Option<&RequestId>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        match method {
            "notifications/progress" => self.progress(message, steps),
            "notifications/subscriptions/acknowledged" => self.acknowledged(message, steps),
            "notifications/cancelled" => self.listening_ended_by(message, steps),
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated" => self.changed(message, steps),
            _ => {
                steps.push(Step::ToClient {
                    text: message.text().to_owned(),
                    about: self.client_of(about).cloned(),
                });
                Some(())
            }
        }
    }
}

impl Bridge for ToStateless {
    fn client_sent(&mut self, message: &Message) -> Vec<Step> {
        let mut steps = Vec::new();
        match message.kind() {
            Kind::Request { id, method } => {
                self.request(id, method, message, &mut steps);
            }
            Kind::Notification { method } => self.notification(method, message, &mut steps),
            Kind::Response { id } | Kind::Error { id: Some(id) } => {
                self.client_answered(id, message, &mut steps);
            }
            Kind::Error { id: None } => {}
        }
        steps
    }

    fn host_sent(&mut self, message: &Message, sender: Option<&RequestMeta>) -> Vec<Step> {
        let mut steps = Vec::new();
        match message.kind() {
            Kind::Request { id, method } => {
                if self.is_free(id, &mut steps) {
                    let session = self.session.opened().map(|opened| &opened.sender);
                    let sender = sender.or(session).cloned();
                    let sender = sender.unwrap_or_else(RequestMeta::nobody);
                    self.start(id, method, message, &sender, &mut steps);
                }
            }
            Kind::Notification { method } => self.notification(method, message, &mut steps),
            Kind::Response { .. } | Kind::Error { .. } => {}
        }
        steps
    }

    fn server_sent(&mut self, message: &Message, about: Option<&RequestId>) -> Vec<Step> {
        let mut steps = Vec::new();
        match message.kind() {
            // There are none in 2026-07-28, nor answers to them.
            Kind::Request { .. } | Kind::Error { id: None } => {}
            Kind::Notification { method } => {
                self.server_notification(method, message, about, &mut steps);
            }
            Kind::Response { id } | Kind::Error { id: Some(id) } => {
                self.answered(id, message, &mut steps);
            }
        }
        steps
    }

    fn unanswered(&mut self, request: &RequestId) -> Vec<Step> {
        let mut steps = Vec::new();
        let number = super::number(request);
        let sent = number.and_then(|number| Some((number, self.sent.remove(&number)?)));
        match sent {
            None => {}
            Some((_, Sent::Discover)) => {
                if let Some(client) = self.session.close() {
                    self.requests.remove(&client);
                    steps.push(Step::Unanswered(client));
                }
            }
            Some((number, Sent::Listen)) => self.listening_ended(number, &mut steps),
            Some((_, Sent::Call(call))) => {
                self.requests.remove(&call.client);
                steps.push(Step::Unanswered(call.client));
            }
        }
        steps
    }

    fn expire(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        if !self.listening.is_open() {
            self.listen_anew(&mut steps);
        }
        steps
    }

    /// The session goes on: what stands alone can be asked of another process.
    fn gone(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let rounds: Vec<_> = self.rounds.keys().copied().collect();
        for number in rounds {
            self.stop_asking(number, &mut steps);
        }
        self.session.close();
        self.listening = std::mem::take(&mut self.listening).without_server();
        self.sent.clear();
        let requests = std::mem::take(&mut self.requests);
        steps.extend(requests.into_keys().map(Step::Unanswered));
        steps
    }

    fn server(&self) -> Option<(&Introduction, Version)> {
        Some((self.introduction.as_ref()?, Version::V2026_07_28))
    }
}

/// What belongs to 2026-07-28, and tasks, which are others there.
fn is_unknown_in_sessions(method: &str) -> bool {
    matches!(method, "server/discover" | "subscriptions/listen") || method.starts_with("tasks/")
}

/// Messages are not shown.
impl fmt::Debug for ToStateless {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToStateless")
            .field("requests", &self.requests)
            .field("rounds", &self.rounds.len())
            .finish_non_exhaustive()
    }
}
