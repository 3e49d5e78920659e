//! Answers of HTTP.

use std::sync::Arc;

use countersign_mcp::{RequestId, write};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::body::{AnswerBody, Events, Whole};
use super::headers::{EVENT_STREAM, JSON};
use super::socket::Written;
use super::stream::Event;

/// What a request is answered with.
pub(super) type Reply = Response<AnswerBody>;

/// JSON-RPC 2.0, section 5.1.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC 2.0, section 5.1.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC 2.0, section 5.1.
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// Tells proxies to pass each event on at once (2026-07-28, Streamable HTTP).
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) fn empty(status: StatusCode) -> Reply {
    with(status, AnswerBody::Empty)
}

/// An error of our own.
pub(super) fn error(status: StatusCode, id: Option<&RequestId>, code: i32, text: &str) -> Reply {
    json(status, write::error(id, code, text))
}

/// A request that is not what it has to be.
pub(super) fn refused(status: StatusCode, text: &str) -> Reply {
    error(status, None, INVALID_REQUEST, text)
}

/// A method of HTTP that is not served.
pub(super) fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = empty(StatusCode::METHOD_NOT_ALLOWED);
    let headers = reply.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

pub(super) fn json(status: StatusCode, text: String) -> Reply {
    whole(status, Bytes::from(text), None)
}

/// An answer that somebody wants to know is out.
pub(super) fn answer(status: StatusCode, event: Event, written: Arc<Written>) -> Reply {
    whole(status, event.text, Some((event.receipt, written)))
}

pub(super) fn events(events: Events) -> Reply {
    let mut reply = with(StatusCode::OK, AnswerBody::Events(Box::new(events)));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    reply
}

fn whole(
    status: StatusCode,
    text: Bytes,
    receipt: Option<(super::stream::Receipt, Arc<Written>)>,
) -> Reply {
    let body = AnswerBody::Whole(Some(Whole { text, receipt }));
    let mut reply = with(status, body);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    reply
}

fn with(status: StatusCode, body: AnswerBody) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
