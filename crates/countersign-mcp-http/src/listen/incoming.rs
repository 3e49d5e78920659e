//! Reading a request's body.

use std::pin::Pin;
use std::time::Duration;

use countersign_mcp::{MESSAGE_LIMITS, Message, RequestId, salvage};
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::reply::{self, INVALID_REQUEST, Reply};

/// How much of a body that is too long is read on, so that its sender comes to read why it was refused.
const MAX_DISCARDED: usize = 16 * 1024 * 1024;

/// The most bytes of bodies that are being read, of all clients.
const MAX_BUFFERED: usize = 256 * 1024 * 1024;
/// What of that is taken at a time.
const PIECE: usize = 64 * 1024;

/// What all bodies together may take while they are read.
#[derive(Debug)]
pub(super) struct Room(Semaphore);

impl Room {
    pub(super) fn new() -> Self {
        Self(Semaphore::new(MAX_BUFFERED / PIECE))
    }
}

/// Why a body is no message.
pub(super) struct NotRead {
    pub(super) reply: Reply,
    /// Whose answer it seems to have been.
    pub(super) answers: Option<RequestId>,
}

/// Reads one message, within the limits of messages and of time.
pub(super) async fn message(
    body: Incoming,
    limit: Duration,
    room: &Room,
) -> Result<Message, NotRead> {
    let (bytes, is_whole) = match timeout(limit, bytes(body, room)).await {
        Ok(Ok(read)) => read,
        Ok(Err(Failed::NoRoom)) => {
            let text = "too much is being read at once: try again later";
            return Err(NotRead::plain(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        Ok(Err(Failed::Broken)) => {
            return Err(NotRead::plain(
                StatusCode::BAD_REQUEST,
                "the body broke off",
            ));
        }
        Err(_) => {
            let text = "the body took too long";
            return Err(NotRead::plain(StatusCode::REQUEST_TIMEOUT, text));
        }
    };
    if !is_whole {
        let text = "the message is longer than a message may be";
        return Err(NotRead::invalid(
            StatusCode::PAYLOAD_TOO_LARGE,
            &bytes,
            INVALID_REQUEST,
            text,
        ));
    }
    Message::read(&bytes).map_err(|error| {
        let status = StatusCode::BAD_REQUEST;
        NotRead::invalid(status, &bytes, error.code(), &error.to_string())
    })
}

/// Why a body comes to no end.
enum Failed {
    NoRoom,
    Broken,
}

/// The body, or as much of its beginning as a message may be long.
async fn bytes(mut body: Incoming, room: &Room) -> Result<(Vec<u8>, bool), Failed> {
    let (mut read, mut length) = (Vec::new(), 0_usize);
    let mut taken = Vec::new();
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = frame else {
            return Ok((read, length <= MESSAGE_LIMITS.bytes));
        };
        let Ok(data) = frame.map_err(|_| Failed::Broken)?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        let left = MESSAGE_LIMITS.bytes.saturating_sub(read.len());
        read.extend_from_slice(data.get(..left.min(data.len())).unwrap_or_default());
        while read.len() > taken.len().saturating_mul(PIECE) {
            taken.push(room.0.try_acquire().map_err(|_| Failed::NoRoom)?);
        }
        if length > MAX_DISCARDED {
            return Ok((read, false));
        }
    }
}

impl NotRead {
    fn plain(status: StatusCode, text: &str) -> Self {
        Self {
            reply: reply::refused(status, text),
            answers: None,
        }
    }

    fn invalid(status: StatusCode, bytes: &[u8], code: i32, text: &str) -> Self {
        let salvaged = salvage(bytes);
        let request = salvaged.as_ref().filter(|salvaged| salvaged.is_request);
        let id = request.map(|request| &request.id);
        Self {
            reply: reply::error(status, id, code, text),
            answers: salvaged
                .as_ref()
                .filter(|salvaged| !salvaged.is_request)
                .map(|salvaged| salvaged.id.clone()),
        }
    }
}
