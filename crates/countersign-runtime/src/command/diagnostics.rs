use std::fmt::{self, Write as _};

/// What a program wrote to standard error: for the host's operator, never for a model.
///
/// It has no `Display`, no serialization, and no view as bytes or text other than [`Self::for_operator`], so that it cannot
/// slip into an answer or an error by a conversion:
///
/// ```compile_fail
/// fn answer(diagnostics: &countersign_runtime::command::Diagnostics) -> String {
///     format!("{diagnostics}")
/// }
/// ```
/// ```compile_fail
/// fn answer(diagnostics: &countersign_runtime::command::Diagnostics) -> &[u8] {
///     diagnostics.as_ref()
/// }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Diagnostics {
    tail: Vec<u8>,
    omitted_bytes: u64,
}

impl Diagnostics {
    /// The kept text, for a protected log or the operator's terminal.
    ///
    /// Bytes that are no UTF-8 are replaced, and control characters other than line breaks and tabs are escaped: a
    /// tool must not drive the operator's terminal.
    pub fn for_operator(&self) -> String {
        let mut text = String::with_capacity(self.tail.len());
        for character in String::from_utf8_lossy(&self.tail).chars() {
            if character.is_control() && character != '\n' && character != '\t' {
                text.extend(character.escape_unicode());
            } else {
                text.push(character);
            }
        }
        text
    }

    /// How many bytes were dropped before the kept ones.
    pub fn omitted_bytes(&self) -> u64 {
        self.omitted_bytes
    }

    /// Whether the program wrote nothing.
    pub fn is_empty(&self) -> bool {
        self.tail.is_empty() && self.omitted_bytes == 0
    }
}

/// Shows the size only.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Diagnostics(")?;
        write!(f, "{} bytes", self.tail.len())?;
        if self.omitted_bytes > 0 {
            write!(f, " after {} omitted", self.omitted_bytes)?;
        }
        f.write_char(')')
    }
}

/// Collects standard error and keeps its end, where programs say what went wrong.
pub(super) struct DiagnosticsBuffer {
    kept: Vec<u8>,
    omitted_bytes: u64,
    limit_bytes: usize,
}

impl DiagnosticsBuffer {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            kept: Vec::new(),
            omitted_bytes: 0,
            limit_bytes,
        }
    }

    /// Takes more bytes; memory stays within twice the limit plus the size of one piece.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.kept.extend_from_slice(piece);
        if self.kept.len() > self.limit_bytes.saturating_mul(2) {
            self.trim();
        }
    }

    pub(super) fn finish(mut self) -> Diagnostics {
        self.trim();
        Diagnostics {
            tail: self.kept,
            omitted_bytes: self.omitted_bytes,
        }
    }

    fn trim(&mut self) {
        let excess = self.kept.len().saturating_sub(self.limit_bytes);
        self.kept.drain(..excess);
        self.omitted_bytes = self
            .omitted_bytes
            .saturating_add(u64::try_from(excess).unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_whatever_the_pieces() {
        let text: Vec<u8> = (0..1000_u32)
            .map(|n| u8::try_from(n % 251).unwrap())
            .collect();
        for piece in [1, 3, 10, 11, 99, 1000] {
            for limit in [0, 1, 10, 999, 1000, 1001] {
                let mut buffer = DiagnosticsBuffer::new(limit);
                text.chunks(piece).for_each(|piece| buffer.push(piece));
                let diagnostics = buffer.finish();
                let kept = limit.min(text.len());
                assert_eq!(
                    diagnostics.tail,
                    text[text.len() - kept..],
                    "pieces of {piece}, limit {limit}"
                );
                assert_eq!(diagnostics.omitted_bytes(), (text.len() - kept) as u64);
            }
        }
    }

    #[test]
    fn shows_text_that_cannot_drive_a_terminal() {
        let mut buffer = DiagnosticsBuffer::new(100);
        buffer.push(b"one\n\ttwo \x1b[2J \xff \xc2\x9b");
        let diagnostics = buffer.finish();
        assert_eq!(
            diagnostics.for_operator(),
            "one\n\ttwo \\u{1b}[2J \u{fffd} \\u{9b}"
        );
        assert_eq!(format!("{diagnostics:?}"), "Diagnostics(18 bytes)");
    }
}
