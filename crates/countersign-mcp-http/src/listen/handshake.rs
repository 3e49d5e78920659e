//! Opening a session.

use std::sync::Arc;
use std::time::Duration;

use countersign_canonical::Value;
use countersign_mcp::port::{Connect, Refused};
use countersign_mcp::{Message, Opening, RequestId, Version};
use hyper::StatusCode;
use hyper::header::HeaderValue;
use tokio::time::timeout;

use super::connection::Connection;
use super::headers::SESSION_ID;
use super::outbox::Outbox;
use super::reply::{self, INTERNAL_ERROR, Reply};
use super::session::{Session, SessionId};
use super::sessions::Sessions;
use super::socket::Written;
use super::stream::Next;

/// How long the server behind may take until it has answered `initialize`.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// Opens a session with its client's `initialize`. There is a session only where the answer is a result.
pub(super) async fn open(
    connect: &Arc<dyn Connect>,
    sessions: &Sessions,
    id: RequestId,
    message: Message,
    written: Arc<Written>,
) -> Reply {
    let Some(place) = sessions.place() else {
        return refused(&id, Refused::Full);
    };
    let outbox = Outbox::new();
    let opened = outbox.open(id.clone(), true);
    let client = Arc::clone(&outbox);
    let connection = match Connection::open(connect, Opening::Handshake, client).await {
        Ok(connection) => connection,
        Err(error) => return refused(&id, error),
    };
    let Ok((number, stream)) = opened else {
        return refused(&id, Refused::Unavailable);
    };
    let reader = stream.read(None);
    connection.receive(message).await;
    let answer = match timeout(MAX_WAIT, reader.next()).await {
        Ok(Next::Event(event)) => event,
        Ok(Next::End | Next::Cut) | Err(_) => return refused(&id, Refused::Unavailable),
    };
    outbox.forget(number);
    let version = agreed(&answer.text);
    let mut reply = reply::answer(StatusCode::OK, answer, written);
    if let Some(version) = version {
        let session_id = SessionId::random();
        if let Ok(value) = HeaderValue::from_str(session_id.as_str()) {
            reply.headers_mut().insert(SESSION_ID, value);
        }
        let session = Session::new(connection, outbox, version, place);
        sessions.insert(&session_id, session);
    }
    reply
}

/// The version that an answer agrees on; nothing where it is an error. One that is not known is taken for the oldest.
fn agreed(answer: &[u8]) -> Option<Version> {
    let answer = Message::read(answer).ok()?;
    let version = answer.result()?.value().get("protocolVersion");
    let version = version.and_then(Value::as_str).and_then(Version::parse);
    Some(version.unwrap_or(Version::V2024_11_05))
}

/// Nobody is there to serve a request.
pub(super) fn refused(id: &RequestId, error: Refused) -> Reply {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    reply::error(status, Some(id), INTERNAL_ERROR, &error.to_string())
}
