//! One client with a session.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_mcp::{Kind, Message, RequestId, Version, write};
use hyper::StatusCode;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::body::Events;
use super::connection::Connection;
use super::options::Options;
use super::outbox::{GENERAL, Outbox};
use super::reply::{self, INTERNAL_ERROR, Reply};
use super::socket::Written;
use super::stream::{Event, Next, Reader};
use crate::sse::encode::EventId;

/// A session's id: 244 random bits, as digits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct SessionId(String);

impl SessionId {
    pub(super) fn random() -> Self {
        let (first, second) = (Uuid::new_v4().simple(), Uuid::new_v4().simple());
        Self(format!("{first}{second}"))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// One client, from its `initialize` on.
#[derive(Debug)]
pub(super) struct Session {
    connection: Connection,
    outbox: Arc<Outbox>,
    version: Version,
    last_use: Mutex<Instant>,
    /// That its server has ended was seen before.
    was_over: AtomicBool,
    _place: OwnedSemaphorePermit,
}

impl Session {
    pub(super) fn new(
        connection: Connection,
        outbox: Arc<Outbox>,
        version: Version,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            connection,
            outbox,
            version,
            last_use: Mutex::new(Instant::now()),
            was_over: AtomicBool::new(false),
            _place: place,
        }
    }

    /// A message of the client.
    pub(super) async fn post(
        &self,
        message: Message,
        options: &Options,
        written: Arc<Written>,
    ) -> Reply {
        self.touch();
        let Kind::Request { id, .. } = message.kind().clone() else {
            let given_up = given_up(&message);
            self.connection.receive(message).await;
            if let Some(id) = given_up {
                self.outbox.give_up(&id);
            }
            return reply::empty(StatusCode::ACCEPTED);
        };
        let (number, stream) = match self.outbox.open(id, false) {
            Ok(opened) => opened,
            // With its id, the refusal could pass for the answer to the other one.
            Err(error) => return reply::refused(error.status(), &error.to_string()),
        };
        let reader = stream.read(None);
        self.connection.receive(message).await;
        let reply = match timeout(options.json_wait, reader.next()).await {
            Ok(Next::Event(event)) if event.is_answer => {
                self.outbox.forget(number);
                return reply::answer(StatusCode::OK, event, written);
            }
            Ok(Next::Event(event)) => events(reader, Some(event), number, options, written),
            Ok(Next::End | Next::Cut) => return reply::empty(StatusCode::ACCEPTED),
            Err(_) => {
                let events = events(reader, None, number, options, written);
                // Before 2025-11-25 an event without data was not foreseen.
                if self.version >= Version::V2025_11_25 {
                    events.begun()
                } else {
                    events
                }
            }
        };
        reply::events(reply)
    }

    /// The stream that belongs to no request, or the rest of one that broke.
    pub(super) fn get(
        &self,
        after: Option<EventId>,
        options: &Options,
        written: Arc<Written>,
    ) -> Reply {
        self.touch();
        let number = after.map_or(GENERAL, |after| after.stream);
        let Some(stream) = self.outbox.find(number) else {
            let text = "nothing of this stream is kept any more";
            return reply::refused(StatusCode::BAD_REQUEST, text);
        };
        if after.is_none() && stream.has_reader() {
            let text = "this session has its stream already";
            return reply::refused(StatusCode::CONFLICT, text);
        }
        let reader = stream.read(after.map(|after| after.event));
        reply::events(events(reader, None, number, options, written))
    }

    /// Whoever waits for an answer of the client's hears that it could not be read.
    pub(super) async fn unreadable_answer(&self, id: &RequestId) {
        let text = "the client's answer could not be read";
        let error = write::error(Some(id), INTERNAL_ERROR, text);
        if let Ok(message) = Message::read(error.as_bytes()) {
            self.connection.receive(message).await;
        }
    }

    /// Whether the server behind has ended.
    pub(super) fn is_over(&self) -> bool {
        !self.connection.is_open()
    }

    /// Whether its server has ended, and whoever waited has had time to hear so.
    pub(super) fn is_done(&self) -> bool {
        self.is_over()
            && (self.was_over.swap(true, Ordering::AcqRel) || !self.outbox.is_waited_for())
    }

    /// Whether nobody has used it for so long. As long as somebody waits for something, it is used.
    pub(super) fn is_idle_for(&self, limit: Duration) -> bool {
        if self.outbox.is_waited_for() {
            self.touch();
            return false;
        }
        let last_use = *self.last_use.lock().unwrap_or_else(PoisonError::into_inner);
        last_use.elapsed() >= limit
    }

    /// Nothing goes to the client any more but what it waits for.
    pub(super) fn finish(&self) {
        self.outbox.end_general();
    }

    /// Nothing goes to the client any more.
    pub(super) fn end(&self) {
        self.outbox.end();
    }

    fn touch(&self) {
        *self.last_use.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

fn events(
    reader: Reader,
    first: Option<Event>,
    number: u64,
    options: &Options,
    written: Arc<Written>,
) -> Events {
    let keep_alive = options.keep_alive;
    Events::new(reader, first, Some(number), keep_alive, written, None)
}

/// The request that a message cancels.
fn given_up(message: &Message) -> Option<RequestId> {
    let Kind::Notification { method } = message.kind() else {
        return None;
    };
    let params = message.params()?;
    let id = params.value().get("requestId")?;
    RequestId::from_value(id).filter(|_| method == "notifications/cancelled")
}

/// Whoever knows it has the session.
impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionId")
    }
}
