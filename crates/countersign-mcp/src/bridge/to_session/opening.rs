//! Opening the session, and the requests that wait for it.

use super::calls::Sent;
use super::{INTERNAL_ERROR, Place, ToSession};
use crate::bridge::Step;
use crate::id::{RequestId, json_text};
use crate::message::{Kind, Message};
use crate::stateless::{Introduction, RequestMeta};
use crate::version::{Opening, Version};
use crate::write;

/// The most requests that wait for a session.
pub const MAX_WAITING: usize = 64;

/// How far the session is.
pub(super) enum Session {
    Closed,
    Opening,
    Open(Opened),
}

pub(super) struct Opened {
    pub(super) version: Version,
    pub(super) introduction: Introduction,
    /// On whose behalf.
    pub(super) sender: RequestMeta,
}

/// A request with what it says of its sender.
#[derive(Clone, Copy)]
pub(super) struct Request<'r> {
    pub(super) message: &'r Message,
    pub(super) sender: &'r RequestMeta,
    /// Whether it is the caller's own.
    pub(super) is_host: bool,
}

/// A request that waits.
pub(super) struct Waiting {
    message: Message,
    sender: RequestMeta,
    is_host: bool,
}

impl Waiting {
    fn request(&self) -> Request<'_> {
        Request {
            message: &self.message,
            sender: &self.sender,
            is_host: self.is_host,
        }
    }

    pub(super) fn id(&self) -> Option<&RequestId> {
        match self.message.kind() {
            Kind::Request { id, .. } => Some(id),
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => None,
        }
    }
}

/// Who opens a session for clients that do not say who they are.
const OURSELVES: &str = concat!(
    "{\"name\":\"countersign\",\"version\":\"",
    env!("CARGO_PKG_VERSION"),
    "\"}"
);

impl ToSession {
    /// Has a request wait for the session, and opens it where nobody has yet.
    pub(super) fn wait(
        &mut self,
        id: &RequestId,
        request: Request<'_>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if self.waiting.len() >= MAX_WAITING {
            let text = "too many requests wait for the server to open a session";
            steps.push(Step::refusal(id, INTERNAL_ERROR, text));
            return None;
        }
        if matches!(self.session, Session::Closed) {
            self.session = Session::Opening;
            let number = self.next_id();
            self.sent.insert(number, Sent::Initialize);
            let params = format!(
                "{{\"protocolVersion\":{},\"capabilities\":{},\"clientInfo\":{}}}",
                json_text(Version::NEWEST_SESSION.as_str()),
                request.sender.capabilities().across_versions(),
                request.sender.client_info().unwrap_or(OURSELVES)
            );
            let text = write::request(&crate::bridge::request_id(number), "initialize", &params);
            steps.push(Step::to_server(text));
        }
        self.requests.insert(id.clone(), Place::Waiting);
        self.waiting.push_back(Waiting {
            message: request.message.clone(),
            sender: request.sender.clone(),
            is_host: request.is_host,
        });
        Some(())
    }

    /// Takes the answer to `initialize`.
    pub(super) fn session_opened(&mut self, message: &Message, steps: &mut Vec<Step>) {
        let Some(opened) = self.read_opened(message) else {
            self.session = Session::Closed;
            for waiting in std::mem::take(&mut self.waiting) {
                let Some(id) = waiting.id() else { continue };
                self.requests.remove(id);
                let text = "the server has not opened a session";
                steps.push(Step::refusal(id, INTERNAL_ERROR, text));
            }
            return;
        };
        self.session = Session::Open(opened);
        let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
        steps.push(Step::to_server(initialized.to_owned()));
        for waiting in std::mem::take(&mut self.waiting) {
            if let Some(id) = waiting.id() {
                self.requests.remove(id);
            }
            self.serve(waiting.request(), steps);
        }
    }

    fn read_opened(&self, message: &Message) -> Option<Opened> {
        let result = message.result()?;
        let version = result.value().get("protocolVersion")?.as_str()?;
        let version = Version::parse(version)?;
        let sender = self.waiting.front().map(|waiting| waiting.sender.clone());
        (version.traits().opening == Opening::Handshake).then_some(())?;
        Some(Opened {
            version,
            introduction: Introduction::of_initialize(&result)?,
            sender: sender.unwrap_or_else(RequestMeta::nobody),
        })
    }
}
