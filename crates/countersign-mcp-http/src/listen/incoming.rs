//! Reading a request's body.

use std::pin::Pin;
use std::time::Duration;

use countersign_mcp::{MESSAGE_LIMITS, Message, RequestId, salvage};
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::reply::{self, INVALID_REQUEST, Reply};

/// How much of a body that is too long is read on, so that its sender comes to read why it was refused.
const MAX_DISCARDED: usize = 16 * 1024 * 1024;

/// Why a body is no message.
pub(super) struct NotRead {
    pub(super) reply: Reply,
    /// Whose answer it seems to have been.
    pub(super) answers: Option<RequestId>,
}

/// Reads one message, within the limits of messages and of time.
pub(super) async fn message(body: Incoming, limit: Duration) -> Result<Message, NotRead> {
    let (bytes, is_whole) = match timeout(limit, bytes(body)).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => {
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

/// The body, or as much of its beginning as a message may be long.
async fn bytes(mut body: Incoming) -> Result<(Vec<u8>, bool), hyper::Error> {
    let (mut read, mut length) = (Vec::new(), 0_usize);
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = frame else {
            return Ok((read, length <= MESSAGE_LIMITS.bytes));
        };
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        length = length.saturating_add(data.len());
        let room = MESSAGE_LIMITS.bytes.saturating_sub(read.len());
        read.extend_from_slice(data.get(..room.min(data.len())).unwrap_or_default());
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
