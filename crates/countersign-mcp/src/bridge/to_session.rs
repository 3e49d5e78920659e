//! A client that speaks 2026-07-28, and a server that speaks sessions.
//!
//! The bridge opens one session for all requests, with what the first one says of its sender. A server's own request becomes a
//! result that asks back, for the request that it came up in; the client's second attempt brings the answer, and then waits for
//! what the server makes of the first one, which has never been interrupted.
//!
//! Module map: `opening`, `calls` (requests and their answers), `asks` (what the server asks), `state` (what a client carries
//! meanwhile), `listens` (subscriptions).

mod asks;
mod calls;
mod listens;
mod opening;
mod state;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use self::calls::Sent;
use self::listens::Listens;
use self::opening::{Opened, Request, Session, Waiting};
use self::state::{Asked, State, refuse_all};
use super::{Bridge, Randomness, Step};
use crate::id::RequestId;
use crate::message::{Kind, Message};
use crate::stateless::{Introduction, LogLevel, RequestMeta};
use crate::version::Version;
use crate::write::{self, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND};

pub use self::asks::MAX_HELD_ASKS;
pub use self::listens::{MAX_LISTENS, MAX_SUBSCRIBED};
pub use self::opening::MAX_WAITING;
pub use self::state::MAX_SUSPENDED;

/// The bridge from 2026-07-28 to a session.
pub struct ToSession {
    randomness: Randomness,
    is_shared: bool,
    /// The last id that was used towards the server.
    last_id: u64,
    session: Session,
    waiting: VecDeque<Waiting>,
    /// Where each request of a client is.
    requests: BTreeMap<RequestId, Place>,
    sent: BTreeMap<u64, Sent>,
    states: VecDeque<State>,
    held: Vec<Asked>,
    last_key: u64,
    listens: Listens,
    log_level: Option<LogLevel>,
}

/// Where a client's request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It waits for the session.
    Waiting,
    /// The server is at work on it.
    AtServer(u64),
    /// It is a stream of notifications.
    Listening,
}

/// The versions that are told to a client.
const SUPPORTED: [Version; 1] = [Version::V2026_07_28];

impl ToSession {
    /// A bridge to a server that no session has been opened with. Where the clients behind it may be several people's, what a
    /// server asks is passed on only if it is certain whose request it belongs to.
    #[must_use]
    pub fn new(randomness: Randomness, is_shared: bool) -> Self {
        Self {
            randomness,
            is_shared,
            last_id: 0,
            session: Session::Closed,
            waiting: VecDeque::new(),
            requests: BTreeMap::new(),
            sent: BTreeMap::new(),
            states: VecDeque::new(),
            held: Vec::new(),
            last_key: 0,
            listens: Listens::default(),
            log_level: None,
        }
    }

    fn request(
        &mut self,
        message: &Message,
        sender: Option<RequestMeta>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let Kind::Request { id, method } = message.kind() else {
            return None;
        };
        if self.requests.contains_key(id) {
            // With its id, the refusal would pass for the answer to the other one.
            let text = "this request's id is in use";
            steps.push(Step::ToClient {
                text: write::error(None, INVALID_REQUEST, text),
                about: None,
            });
            return None;
        }
        let is_host = sender.is_some();
        let sender = match sender.map_or_else(|| RequestMeta::read(message.params().as_ref()), Ok) {
            Ok(sender) => sender,
            Err(error) => {
                steps.push(Step::answer(id, error.answer(id, &SUPPORTED)));
                return None;
            }
        };
        if is_gone(method) {
            let text = "2026-07-28 has no such method";
            steps.push(Step::refusal(id, METHOD_NOT_FOUND, text));
            return None;
        }
        let request = Request {
            message,
            sender: &sender,
            is_host,
        };
        if self.opened().is_some() {
            self.serve(request, steps)
        } else {
            self.wait(id, request, steps)
        }
    }

    /// Serves a request on an open session.
    fn serve(&mut self, request: Request<'_>, steps: &mut Vec<Step>) -> Option<()> {
        let Kind::Request { id, method } = request.message.kind() else {
            return None;
        };
        match method.as_str() {
            "server/discover" => {
                let discovered = self.opened()?.introduction.to_discover(&SUPPORTED);
                steps.push(Step::answer(id, write::result(id, &discovered)));
                Some(())
            }
            "subscriptions/listen" => self.listen(id, request.message, steps),
            _ => self.call(id, method, request, steps),
        }
    }

    fn opened(&self) -> Option<&Opened> {
        match &self.session {
            Session::Open(opened) => Some(opened),
            Session::Closed | Session::Opening => None,
        }
    }

    /// An id for the server.
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The client does not want an answer any more.
    fn cancelled(&mut self, message: &Message, steps: &mut Vec<Step>) -> Option<()> {
        let params = message.params()?;
        let id = RequestId::from_value(params.value().get("requestId")?)?;
        match self.requests.remove(&id)? {
            Place::Waiting => self.waiting.retain(|waiting| waiting.id() != Some(&id)),
            Place::AtServer(number) => {
                if let Some(Sent::Call(call)) = self.sent.remove(&number) {
                    refuse_all(call.queued, steps);
                }
                let params = write::with_member(params.text(), "requestId", &number.to_string());
                let params = write::without_meta(&params, &crate::stateless::SENDER_KEYS);
                let text = write::notification("notifications/cancelled", &params);
                steps.push(Step::to_server(text));
            }
            Place::Listening => self.stop_listening(&id, steps),
        }
        Some(())
    }

    fn notification(&mut self, method: &str, message: &Message, steps: &mut Vec<Step>) {
        match method {
            "notifications/cancelled" => {
                self.cancelled(message, steps);
            }
            // Nothing of an earlier version: whoever sends it means another session.
            "notifications/initialized"
            | "notifications/progress"
            | "notifications/roots/list_changed" => {}
            _ if self.opened().is_some() => {
                steps.push(Step::to_server(message.text().to_owned()));
            }
            _ => {}
        }
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
            "notifications/message" => self.log_message(message, about, steps),
            "notifications/cancelled" => self.ask_cancelled(message),
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated" => {
                self.listens.deliver(method, message, steps);
                Some(())
            }
            // 2026-07-28 sends nothing that nobody has asked for.
            _ => None,
        }
    }
}

impl Bridge for ToSession {
    fn client_sent(&mut self, message: &Message) -> Vec<Step> {
        let mut steps = Vec::new();
        match message.kind() {
            Kind::Request { .. } => {
                self.request(message, None, &mut steps);
            }
            Kind::Notification { method } => self.notification(method, message, &mut steps),
            // Nobody has asked this client anything.
            Kind::Response { .. } | Kind::Error { .. } => {}
        }
        steps
    }

    fn host_sent(&mut self, message: &Message, sender: Option<&RequestMeta>) -> Vec<Step> {
        let mut steps = Vec::new();
        match message.kind() {
            Kind::Request { .. } => {
                let sender = sender.cloned().unwrap_or_else(RequestMeta::nobody);
                self.request(message, Some(sender), &mut steps);
            }
            Kind::Notification { method } => self.notification(method, message, &mut steps),
            Kind::Response { .. } | Kind::Error { .. } => {}
        }
        steps
    }

    fn server_sent(&mut self, message: &Message, about: Option<&RequestId>) -> Vec<Step> {
        let mut steps = Vec::new();
        match message.kind() {
            Kind::Request { id, method } => self.asked(id, method, message, about, &mut steps),
            Kind::Notification { method } => {
                self.server_notification(method, message, about, &mut steps);
            }
            Kind::Response { id } | Kind::Error { id: Some(id) } => {
                self.answered(id, message, &mut steps);
            }
            Kind::Error { id: None } => {}
        }
        steps
    }

    fn unanswered(&mut self, request: &RequestId) -> Vec<Step> {
        let mut steps = Vec::new();
        let sent =
            super::number(request).and_then(|number| Some((number, self.sent.remove(&number)?)));
        match sent {
            None => {}
            Some((_, Sent::Initialize)) => {
                self.session = Session::Closed;
                for waiting in self.waiting.drain(..) {
                    if let Some(id) = waiting.id() {
                        self.requests.remove(id);
                        steps.push(Step::Unanswered(id.clone()));
                    }
                }
            }
            Some((_, Sent::Subscribe(address))) => {
                self.listens.subscribed(&address, false, &mut steps);
            }
            Some((number, Sent::Call(call))) => self.call_lost(number, call, &mut steps),
        }
        steps
    }

    fn expire(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        self.expire_states(&mut steps);
        self.expire_held(&mut steps);
        steps
    }

    fn gone(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let info = self
            .opened()
            .and_then(|opened| opened.introduction.server_info());
        let info = info.map(str::to_owned);
        for (id, place) in std::mem::take(&mut self.requests) {
            match place {
                Place::Waiting | Place::AtServer(_) => steps.push(Step::Unanswered(id)),
                Place::Listening => steps.push(listens::ended(&id, info.as_deref())),
            }
        }
        self.listens = Listens::default();
        self.session = Session::Closed;
        self.log_level = None;
        self.waiting.clear();
        self.sent.clear();
        self.states.clear();
        self.held.clear();
        steps
    }

    fn server(&self) -> Option<(&Introduction, Version)> {
        let opened = self.opened()?;
        Some((&opened.introduction, opened.version))
    }
}

/// What earlier versions have and 2026-07-28 has not (changelog, major changes 2, 4, 5 and 6).
fn is_gone(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
    ) || method.starts_with("tasks/")
}

/// Messages and what clients carry are not shown.
impl fmt::Debug for ToSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToSession")
            .field("requests", &self.requests)
            .field("suspended", &self.states.len())
            .finish_non_exhaustive()
    }
}
