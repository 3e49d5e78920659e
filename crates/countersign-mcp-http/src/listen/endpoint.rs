//! What is asked for, and who answers it.

use std::sync::Arc;

use countersign_mcp::port::Connect;
use countersign_mcp::{Kind, Message, Opening, Version};
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request, StatusCode};

use super::guard::Guard;
use super::headers::{
    EVENT_STREAM, JSON, LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID, accepts, is_json, single,
};
use super::incoming::Room;
use super::options::Options;
use super::reply::{self, Reply};
use super::session::Session;
use super::sessions::Sessions;
use super::socket::Written;
use super::stateless::Stateless;
use super::stop::Stop;
use super::{handshake, incoming};
use crate::sse::encode::EventId;

/// The one path that is served.
const PATH: &str = "/mcp";

/// Everything behind the address.
pub(super) struct Endpoint {
    pub(super) guard: Guard,
    pub(super) connect: Arc<dyn Connect>,
    pub(super) room: Room,
    pub(super) sessions: Sessions,
    pub(super) stateless: Stateless,
    pub(super) options: Options,
    pub(super) stop: Stop,
}

impl Endpoint {
    /// Answers one request.
    pub(super) async fn serve(&self, request: Request<Incoming>, written: Arc<Written>) -> Reply {
        if let Err(foreign) = self.guard.check(&request) {
            return reply::refused(StatusCode::FORBIDDEN, &foreign.to_string());
        }
        if request.uri().path() != PATH {
            return reply::empty(StatusCode::NOT_FOUND);
        }
        if self.stop.is_requested() {
            let text = "countersign is ending";
            return reply::refused(StatusCode::SERVICE_UNAVAILABLE, text);
        }
        let served = match *request.method() {
            Method::POST => self.post(request, written).await,
            Method::GET => self.get(request.headers(), written),
            Method::DELETE => self.delete(request.headers()),
            _ => Ok(reply::not_allowed("POST, GET, DELETE")),
        };
        // Both are replies: what has been refused comes by the short way.
        served.unwrap_or_else(|refused| *refused)
    }

    /// Lets go what nobody uses, and what leads nowhere.
    pub(super) fn sweep(&self) {
        self.sessions.sweep(self.options.idle_limit);
        self.stateless.sweep();
    }

    async fn post(
        &self,
        request: Request<Incoming>,
        written: Arc<Written>,
    ) -> Result<Reply, Box<Reply>> {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        if !accepts(headers, JSON) || !accepts(headers, EVENT_STREAM) {
            let text = "a client has to accept application/json and text/event-stream";
            return Err(refused(StatusCode::NOT_ACCEPTABLE, text));
        }
        if !is_json(headers) {
            let text = "a message has to be application/json";
            return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        let message = match incoming::message(body, self.options.header_limit, &self.room).await {
            Ok(message) => message,
            Err(not_read) => {
                let session = not_read.answers.as_ref().zip(self.session(headers).ok());
                if let Some((id, session)) = session {
                    session.unreadable_answer(id).await;
                }
                return Err(Box::new(not_read.reply));
            }
        };
        if let Kind::Request { id, method } = message.kind()
            && method == "initialize"
            && !stands_alone(headers, &message)
        {
            let (connect, id) = (&self.connect, id.clone());
            return Ok(handshake::open(connect, &self.sessions, id, message, written).await);
        }
        if stands_alone(headers, &message) {
            let options = &self.options;
            return Ok(self
                .stateless
                .post(headers, message, options, written)
                .await);
        }
        let session = self.session(headers)?;
        Ok(session.post(message, &self.options, written).await)
    }

    fn get(&self, headers: &HeaderMap, written: Arc<Written>) -> Result<Reply, Box<Reply>> {
        has_session(headers)?;
        if !accepts(headers, EVENT_STREAM) {
            let text = "a client has to accept text/event-stream";
            return Err(refused(StatusCode::NOT_ACCEPTABLE, text));
        }
        let session = self.session(headers)?;
        let after = if headers.contains_key(LAST_EVENT_ID) {
            let after = single(headers, LAST_EVENT_ID).and_then(EventId::parse);
            let text = "Last-Event-ID is none of this session's";
            Some(after.ok_or_else(|| refused(StatusCode::BAD_REQUEST, text))?)
        } else {
            None
        };
        Ok(session.get(after, &self.options, written))
    }

    fn delete(&self, headers: &HeaderMap) -> Result<Reply, Box<Reply>> {
        has_session(headers)?;
        self.session(headers)?;
        if let Some(id) = single(headers, SESSION_ID) {
            self.sessions.end(id);
        }
        Ok(reply::empty(StatusCode::NO_CONTENT))
    }

    /// The session that a request names.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Box<Reply>> {
        is_known_version(headers)?;
        let Some(id) = single(headers, SESSION_ID) else {
            let text =
                "a session begins with initialize, and later messages name it in Mcp-Session-Id";
            return Err(refused(StatusCode::BAD_REQUEST, text));
        };
        self.sessions.find(id).ok_or_else(|| {
            let text = "this session has ended, or never was: begin a new one with initialize";
            refused(StatusCode::NOT_FOUND, text)
        })
    }
}

/// Whether a message is a request of the kind that needs no session. One with a session is what its session is.
fn stands_alone(headers: &HeaderMap, message: &Message) -> bool {
    let version = single(headers, PROTOCOL_VERSION).and_then(Version::parse);
    if let Some(version) = version
        && version.traits().opening == Opening::EachRequest
    {
        return true;
    }
    !headers.contains_key(SESSION_ID)
        && (super::mirrored::body_version(message).is_some()
            || matches!(message.kind(), Kind::Request { method, .. } if method == "server/discover"))
}

/// Since 2026-07-28 there are neither GET nor DELETE.
fn has_session(headers: &HeaderMap) -> Result<(), Box<Reply>> {
    match single(headers, PROTOCOL_VERSION).and_then(Version::parse) {
        Some(version) if version.traits().opening == Opening::EachRequest => {
            Err(Box::new(reply::not_allowed("POST")))
        }
        Some(_) | None => Ok(()),
    }
}

/// A request without a version is taken as of 2025-03-26, which had no header for it.
fn is_known_version(headers: &HeaderMap) -> Result<(), Box<Reply>> {
    let is_known = !headers.contains_key(PROTOCOL_VERSION)
        || single(headers, PROTOCOL_VERSION)
            .and_then(Version::parse)
            .is_some();
    if is_known {
        Ok(())
    } else {
        let text = "this version of the protocol is not served";
        Err(refused(StatusCode::BAD_REQUEST, text))
    }
}

fn refused(status: StatusCode, text: &str) -> Box<Reply> {
    Box::new(reply::refused(status, text))
}
