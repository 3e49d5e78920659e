//! Writing events.

use std::fmt;

use hyper::body::Bytes;

/// What keeps a quiet stream open, and means nothing.
pub(crate) const COMMENT: &[u8] = b":\n\n";

/// How long a client should wait before it asks for the rest of a broken stream, in milliseconds.
const RETRY: u32 = 1000;

/// Where an event stands: in which stream of its session, and behind how many others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(crate) stream: u64,
    pub(crate) event: u64,
}

impl EventId {
    /// Reads what a client gives back.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| is_plain)
        };
        let (stream, event) = text.split_once('-')?;
        Some(Self {
            stream: number(stream)?,
            event: number(event)?,
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.stream, self.event)
    }
}

/// A message as an event. It stands on one line.
pub(crate) fn message(id: Option<EventId>, text: &[u8]) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from([id.as_bytes(), b"data: ", text, b"\n\n"].concat())
}

/// An event without data, which gives a client something to resume from (MCP 2025-11-25, Streamable HTTP).
pub(crate) fn beginning(id: EventId) -> Bytes {
    Bytes::from(format!("id: {id}\nretry: {RETRY}\ndata: \n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_back_as_it_went_out_and_nothing_else_is_one() {
        let id = EventId {
            stream: 7,
            event: 0,
        };
        assert_eq!(EventId::parse(&id.to_string()), Some(id));
        for text in [
            "",
            "-",
            "7",
            "7-",
            "-7",
            "+7-0",
            "7-0-1",
            "7-x",
            " 7-0",
            "99999999999999999999-0",
        ] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn events_are_lines() {
        let id = EventId {
            stream: 1,
            event: 2,
        };
        assert_eq!(message(Some(id), b"{}"), "id: 1-2\ndata: {}\n\n");
        assert_eq!(message(None, b"{}"), "data: {}\n\n");
        assert_eq!(beginning(id), "id: 1-2\nretry: 1000\ndata: \n\n");
    }
}
