//! Reads server-sent events, bounded (HTML Standard, section 9.2.6, "Interpreting an event stream").
//!
//! The crates that do this keep an event however long it gets, and give up on bytes that are no UTF-8. Here an event's data are
//! bytes for our own parser, and what is too long is cut and known to be.

use std::time::Duration;

use countersign_mcp::MESSAGE_LIMITS;

/// The longest id of an event that is remembered.
pub(crate) const MAX_EVENT_ID_BYTES: usize = 1024;
/// One byte more than a message may have, so that the parser says so too.
const MAX_DATA_BYTES: usize = MESSAGE_LIMITS.bytes + 1;
/// A line of data, with the field's name and blank before it.
const MAX_LINE_BYTES: usize = MAX_DATA_BYTES + "data: ".len();

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What stood between two blank lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its data; their beginning, where they are longer than a message may be.
    pub(crate) data: Vec<u8>,
    /// Where the stream may be taken up again.
    pub(crate) position: Position,
    /// How long to wait before that.
    pub(crate) retry: Option<Duration>,
    /// It has a type of its own, and so is no message.
    pub(crate) is_other: bool,
}

/// What an event says about where it stands in its stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Position {
    /// Nothing.
    #[default]
    Unsaid,
    /// This id stands for it.
    Id(Vec<u8>),
    /// From here on there is no id that could be given.
    Lost,
}

/// Takes bytes as they come, and gives events.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    has_begun: bool,
    /// The last byte ended a line with a carriage return: a line feed that follows belongs to it.
    is_behind_return: bool,
}

impl Decoder {
    /// Reads until an event is complete or the input is used up. What has been read is taken off the input.
    pub(crate) fn next_event(&mut self, input: &mut &[u8]) -> Option<Event> {
        while let Some(first) = input.first() {
            if std::mem::take(&mut self.is_behind_return) && *first == b'\n' {
                *input = input.get(1..).unwrap_or_default();
                continue;
            }
            let end = input.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = input.get(..end.unwrap_or(input.len())).unwrap_or_default();
            let room = MAX_LINE_BYTES.saturating_sub(self.line.len());
            self.line
                .extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
            let Some(end) = end else {
                *input = &[];
                break;
            };
            self.is_behind_return = input.get(end) == Some(&b'\r');
            *input = input.get(end + 1..).unwrap_or_default();
            if let Some(event) = self.end_line() {
                return Some(event);
            }
        }
        None
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            self.has_data = false;
            let event = std::mem::take(&mut self.event);
            return (event != Event::default()).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(colon) => (line.get(..colon), line.get(colon + 1..)),
            None => (Some(line.as_slice()), None),
        };
        let value = value.unwrap_or_default();
        self.field(
            name.unwrap_or_default(),
            value.strip_prefix(b" ").unwrap_or(value),
        );
        None
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.extend(b"\n");
                }
                self.extend(value);
            }
            b"event" => self.event.is_other = !matches!(value, b"" | b"message"),
            b"id" if value.contains(&0) => {}
            b"id" if value.is_empty() || value.len() > MAX_EVENT_ID_BYTES => {
                self.event.position = Position::Lost;
            }
            b"id" => self.event.position = Position::Id(value.to_vec()),
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok();
                let is_digits = value.iter().all(u8::is_ascii_digit);
                let milliseconds = milliseconds.filter(|_| is_digits);
                if let Some(Ok(milliseconds)) = milliseconds.map(str::parse) {
                    self.event.retry = Some(Duration::from_millis(milliseconds));
                }
            }
            _ => {}
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = MAX_DATA_BYTES.saturating_sub(self.event.data.len());
        let kept = bytes.get(..bytes.len().min(room)).unwrap_or_default();
        self.event.data.extend_from_slice(kept);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that mean something in a stream, and some that do not.
    fn pieces() -> impl Strategy<Value = Vec<&'static [u8]>> {
        let piece = prop::sample::select(vec![
            &b"data"[..],
            b":",
            b" ",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"id",
            b"event",
            b"message",
            b"retry",
            b"17",
            b"\0",
            b"\xff",
            BYTE_ORDER_MARK,
        ]);
        prop::collection::vec(piece, 0..64)
    }

    proptest! {
        #[test]
        fn how_bytes_come_in_changes_nothing(pieces in pieces(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let bytes = pieces.concat();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let chunks: Vec<_> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            let whole = events(&[&bytes]);
            prop_assert_eq!(&events(&chunks), &whole);
            for event in whole {
                prop_assert!(event.data.len() <= bytes.len());
                prop_assert!(event != Event::default());
            }
        }
    }

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for chunk in chunks {
            let mut input = *chunk;
            while let Some(event) = decoder.next_event(&mut input) {
                found.push(event);
            }
            assert!(input.is_empty());
        }
        found
    }

    fn data(text: &str) -> Event {
        Event {
            data: text.into(),
            ..Event::default()
        }
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = "\u{feff}data: {\"a\":\ndata:1}\n\n: comment\r\n\r\nid: 7\r\ndata\r\n\r\nretry: 250\revent: ping\rdata: x\r\rid\n\n\
                    data:  two\nother: y\n\nevent: message\ndata: z\n\nretry: 1x\nid: a\0b\ndata: 3\n\ndata: never ends\n";
        let expected = [
            data("{\"a\":\n1}"),
            Event {
                position: Position::Id(b"7".to_vec()),
                ..Event::default()
            },
            Event {
                data: b"x".to_vec(),
                retry: Some(Duration::from_millis(250)),
                is_other: true,
                ..Event::default()
            },
            Event {
                position: Position::Lost,
                ..Event::default()
            },
            data(" two"),
            data("z"),
            data("3"),
        ];
        assert_eq!(events(&[text.as_bytes()]), expected);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(events(&bytes), expected);
        for at in 0..text.len() {
            let (before, after) = text.as_bytes().split_at(at);
            assert_eq!(events(&[before, after]), expected, "{at}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_what_follows_is_read() {
        let long = "x".repeat(1024 * 1024);
        let mut decoder = Decoder::default();
        let mut feed = |text: &str| {
            let mut input = text.as_bytes();
            let event = decoder.next_event(&mut input);
            assert!(decoder.line.capacity() <= 2 * MAX_LINE_BYTES);
            assert!(decoder.event.data.capacity() <= 2 * MAX_DATA_BYTES);
            event
        };
        assert_eq!(feed("data: "), None);
        for _ in 0..64 {
            assert_eq!(feed(&long), None);
        }
        for _ in 0..64 {
            assert_eq!(feed("\ndata: "), None);
            assert_eq!(feed(&long), None);
        }
        let event = feed("\n\n").unwrap();
        assert_eq!(event.data.len(), MESSAGE_LIMITS.bytes + 1);
        for _ in 0..64 {
            assert_eq!(feed(&long), None);
        }
        assert_eq!(feed("\n\n"), None);
        assert_eq!(feed("data: y\n\n"), Some(data("y")));
        let id = "i".repeat(MAX_EVENT_ID_BYTES + 1);
        let event = feed(&format!("id: {id}\n\n")).unwrap();
        assert_eq!(event.position, Position::Lost);
    }
}
