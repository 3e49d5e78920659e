//! Messages as lines, bounded: a line that is too long is skipped, not kept.

use std::io::{self, BufRead};

use countersign_mcp::MESSAGE_LIMITS;

/// One line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without the end of the line.
    Whole(Vec<u8>),
    /// It is longer than a message may be; its beginning.
    TooLong(Vec<u8>),
}

/// Reads the next line that is not blank; nothing at the end of the stream.
pub(super) fn next_line(stream: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut held = Vec::new();
        let mut is_too_long = false;
        let mut is_ended = false;
        while !is_ended {
            let available = match stream.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len()));
            let part = part.unwrap_or_default();
            // One byte more than a message may have, so that the parser says so too.
            let room = (MESSAGE_LIMITS.bytes + 1).saturating_sub(held.len());
            is_too_long |= part.len() > room;
            held.extend_from_slice(part.get(..part.len().min(room)).unwrap_or_default());
            let taken = part.len() + usize::from(end.is_some());
            is_ended = end.is_some();
            stream.consume(taken);
        }
        if is_too_long {
            return Ok(Some(Line::TooLong(held)));
        }
        if held.iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Ok(Some(Line::Whole(held)));
        }
        if !is_ended {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    #[test]
    fn lines_are_whole_or_known_to_be_too_long() {
        let long = "x".repeat(MESSAGE_LIMITS.bytes + 2);
        let text = format!("a\n\n \r\nb\r\n{long}\nc");
        let mut stream = BufReader::with_capacity(7, text.as_bytes());
        let mut whole = |expected: &[u8]| {
            let line = next_line(&mut stream).unwrap();
            assert_eq!(line, Some(Line::Whole(expected.to_vec())));
        };
        whole(b"a");
        whole(b"b\r");
        let Some(Line::TooLong(beginning)) = next_line(&mut stream).unwrap() else {
            panic!("too long");
        };
        assert_eq!(beginning.len(), MESSAGE_LIMITS.bytes + 1);
        assert_eq!(
            next_line(&mut stream).unwrap(),
            Some(Line::Whole(b"c".to_vec()))
        );
        assert_eq!(next_line(&mut stream).unwrap(), None);
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut stream = BufReader::new(io::repeat(b'x').take(64 << 20));
        let line = next_line(&mut stream).unwrap();
        assert!(
            matches!(line, Some(Line::TooLong(held)) if held.len() == MESSAGE_LIMITS.bytes + 1)
        );
    }
}
