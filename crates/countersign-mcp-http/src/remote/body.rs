//! Bodies of answers, and what they are about.

use std::time::Duration;

use countersign_mcp::MESSAGE_LIMITS;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use tokio::time::timeout;

use super::stream::MAX_SILENCE;

/// How much of a refusal is looked at for what it is about.
const MAX_REFUSAL_BYTES: usize = 4096;
/// How long a refusal may take to come in.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);
const SESSION: &[u8] = b"session id";

/// What an answer is, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Json,
    Events,
    Other,
}

pub(super) fn content(response: &Response) -> Content {
    let value = response.headers().get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    match essence.map(|essence| essence.trim().to_ascii_lowercase()) {
        Some(essence) if essence == "application/json" => Content::Json,
        Some(essence) if essence == "text/event-stream" => Content::Events,
        Some(_) | None => Content::Other,
    }
}

/// A body, up to one byte more than a message may have: what is longer is not read, and the parser says so.
pub(super) async fn read(mut response: Response) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() <= MESSAGE_LIMITS.bytes {
        let chunk = timeout(MAX_SILENCE, response.chunk()).await.ok()?.ok()?;
        let Some(chunk) = chunk else {
            break;
        };
        let room = (MESSAGE_LIMITS.bytes + 1).saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..chunk.len().min(room)).unwrap_or_default());
    }
    Some(bytes)
}

/// Whether a server says that it does not know the session that a message came in.
pub(super) async fn ends_session(response: Response) -> bool {
    let status = response.status();
    if status != StatusCode::BAD_REQUEST {
        return status == StatusCode::NOT_FOUND;
    }
    let refusal = timeout(REFUSAL_TIMEOUT, read(response)).await;
    matches!(refusal, Ok(Some(refusal)) if names_session(&refusal))
}

/// Whether a refusal is about the session. Servers made after the examples of the official TypeScript SDK, and older ones of the
/// Python SDK, answer so, and not with 404, where they do not know it.
pub(super) fn names_session(refusal: &[u8]) -> bool {
    let beginning = refusal.get(..MAX_REFUSAL_BYTES).unwrap_or(refusal);
    let beginning = beginning.to_ascii_lowercase();
    beginning
        .windows(SESSION.len())
        .any(|window| window == SESSION)
}
