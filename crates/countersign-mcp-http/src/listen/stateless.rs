//! Requests that stand alone.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_mcp::port::{Connect, Refused, ToClient};
use countersign_mcp::{Kind, Message, Opening, write};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::body::Events;
use super::calls::{Calls, Held, Opened, cancellation, may_pass};
use super::connection::Connection;
use super::options::Options;
use super::reply::{self, INTERNAL_ERROR, METHOD_NOT_FOUND, Reply};
use super::socket::Written;
use super::stream::Next;
use super::{handshake, mirrored};

/// The one connection of all requests, opened with the first one.
pub(super) struct Stateless {
    connect: Arc<dyn Connect>,
    line: Mutex<Option<Arc<Line>>>,
}

/// A connection, and whose requests are on it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) connection: Connection,
    pub(super) calls: Arc<Calls>,
    /// That its server has ended was seen before.
    was_over: AtomicBool,
}

impl Stateless {
    pub(super) fn new(connect: Arc<dyn Connect>) -> Self {
        Self {
            connect,
            line: Mutex::default(),
        }
    }

    pub(super) async fn post(
        &self,
        headers: &HeaderMap,
        message: Message,
        options: &Options,
        written: Arc<Written>,
    ) -> Reply {
        if let Err(refused) = mirrored::check(headers, &message) {
            return *refused;
        }
        let line = self.line().await;
        let Kind::Request { id, method } = message.kind().clone() else {
            if let Ok(line) = line
                && may_pass(&message)
            {
                line.connection.receive(message).await;
            }
            return reply::empty(StatusCode::ACCEPTED);
        };
        let line = match line {
            Ok(line) => line,
            Err(error) => return handshake::refused(&id, error),
        };
        let arguments = line.calls.parameters.of(&message);
        if let Err(refused) = mirrored::check_arguments(headers, &id, arguments) {
            return *refused;
        }
        let opened = match line.calls.open(&message, &method) {
            Ok(opened) => opened,
            Err(error) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let text = error.to_string();
                return reply::error(status, Some(&id), INTERNAL_ERROR, &text);
            }
        };
        answer(line, opened, options, written).await
    }

    /// Gives up a connection whose server has ended: whoever still waits at the second time hears nothing any more.
    pub(super) fn sweep(&self) {
        // While a connection is being opened, which may take long, there is none to give up.
        let Ok(mut line) = self.line.try_lock() else {
            return;
        };
        let Some(open) = line.as_ref().filter(|line| !line.connection.is_open()) else {
            return;
        };
        if open.was_over.swap(true, Ordering::AcqRel) {
            open.calls.end_all();
            *line = None;
        }
    }

    /// Ends what has no end of its own.
    pub(super) fn finish(&self) {
        // Whoever opens a connection at this moment sees the end by itself.
        if let Ok(line) = self.line.try_lock()
            && let Some(line) = &*line
        {
            line.calls.end_subscriptions();
        }
    }

    /// The connection; a new one where there is none, or where its server has ended.
    async fn line(&self) -> Result<Arc<Line>, Refused> {
        let mut line = self.line.lock().await;
        if let Some(open) = &*line
            && open.connection.is_open()
        {
            return Ok(Arc::clone(open));
        }
        let calls = Arc::<Calls>::default();
        let client: Arc<dyn ToClient> = Arc::clone(&calls) as _;
        let connection = Connection::open(&self.connect, Opening::EachRequest, client).await?;
        let opened = Arc::new(Line {
            connection,
            calls,
            was_over: AtomicBool::new(false),
        });
        *line = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

async fn answer(
    line: Arc<Line>,
    opened: Opened,
    options: &Options,
    written: Arc<Written>,
) -> Reply {
    let Opened {
        id,
        message,
        stream,
    } = opened;
    let reader = stream.read(None);
    let held = Held {
        line: Arc::clone(&line),
        id: id.clone(),
    };
    let (calls, of_thread) = (Arc::clone(&line.calls), id.clone());
    let then = move || {
        let is_waited_for = calls.hand_over(&of_thread);
        (!is_waited_for).then(|| cancellation(&of_thread)).flatten()
    };
    line.connection.receive_then(message, then).await;
    let first = match timeout(options.json_wait, reader.next()).await {
        Ok(Next::Event(event)) if event.is_answer => {
            return reply::answer(status(&event.text), event, written);
        }
        Ok(Next::Event(event)) => Some(event),
        Ok(Next::End | Next::Cut) => {
            let text = "the request was ended without an answer";
            return reply::error(StatusCode::OK, None, INTERNAL_ERROR, text);
        }
        Err(_) => None,
    };
    let keep_alive = options.keep_alive;
    reply::events(Events::new(
        reader,
        first,
        None,
        keep_alive,
        written,
        Some(held),
    ))
}

/// The status that an answer has (2026-07-28, Streamable HTTP): 404 where the method is not known, 400 where the request was not
/// what it has to be, and else 200, for errors too.
fn status(answer: &[u8]) -> StatusCode {
    let text = std::str::from_utf8(answer).unwrap_or_default();
    let code = write::value_at(text, &["error", "code"]).and_then(|code| code.parse().ok());
    match code {
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(-32022..=-32020) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

impl fmt::Debug for Stateless {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stateless").finish_non_exhaustive()
    }
}
