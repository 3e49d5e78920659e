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

/// One byte more than a message may have, so that the parser says so too.
const MAX_LINE_BYTES: usize = MESSAGE_LIMITS.bytes + 1;

/// Reads the next line that is not blank; nothing at the end of the stream.
pub(super) fn next_line(stream: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut held = Vec::new();
        let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
        io::Read::take(&mut *stream, limit).read_until(b'\n', &mut held)?;
        let is_ended = held.pop_if(|last| *last == b'\n').is_some();
        if !is_ended && held.len() == MAX_LINE_BYTES {
            // The rest is not kept.
            stream.skip_until(b'\n')?;
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
