use std::fmt;

use sha2::{Digest as _, Sha256};

/// Where an encoding goes: a buffer, or a hash function.
pub trait Sink {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]);

    /// Appends one byte.
    #[inline]
    fn push(&mut self, byte: u8) {
        self.write(&[byte]);
    }

    /// Lends room for one word, if there is any before bytes must be moved.
    /// What is put there counts once it is [kept](Self::keep).
    #[inline]
    fn word_room(&mut self) -> Option<&mut [u8; 8]> {
        None
    }

    /// Appends the first bytes, at most 8, of what was put into the lent room.
    #[inline]
    fn keep(&mut self, _length: usize) {}
}

impl Sink for Vec<u8> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.push(byte);
    }
}

/// Counts an encoding without keeping it.
#[derive(Debug, Default)]
pub(crate) struct LengthSink(usize);

impl LengthSink {
    pub(crate) fn bytes(&self) -> usize {
        self.0
    }
}

impl Sink for LengthSink {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

const CHUNK: usize = 4096;

/// SHA-256 behind a buffer, since an encoding comes in pieces of a few bytes.
pub struct DigestSink {
    hash: Sha256,
    buffer: [u8; CHUNK],
    filled: usize,
}

impl DigestSink {
    pub(crate) fn new() -> Self {
        Self {
            hash: Sha256::new(),
            buffer: [0; CHUNK],
            filled: 0,
        }
    }

    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.flush();
        self.hash.finalize().into()
    }

    fn flush(&mut self) {
        if let Some(filled) = self.buffer.get(..self.filled) {
            self.hash.update(filled);
        }
        self.filled = 0;
    }

    /// Hashes whole buffers only, which keeps the hash function's own one empty.
    #[cold]
    fn write_past_buffer(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if let Some(room) = self.buffer.get_mut(self.filled..)
            && let Some((fitting, after)) = rest.split_at_checked(room.len())
        {
            room.copy_from_slice(fitting);
            self.filled = CHUNK;
            self.flush();
            rest = after;
        }
        let (whole, rest) = rest.split_at(rest.len() - rest.len() % CHUNK);
        if !whole.is_empty() {
            self.hash.update(whole);
        }
        if let Some(room) = self.buffer.get_mut(..rest.len()) {
            room.copy_from_slice(rest);
            self.filled = rest.len();
        }
    }
}

impl fmt::Debug for DigestSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DigestSink").finish_non_exhaustive()
    }
}

impl Sink for DigestSink {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let end = self.filled + bytes.len();
        if let Some(room) = self.buffer.get_mut(self.filled..end) {
            room.copy_from_slice(bytes);
            self.filled = end;
        } else {
            self.write_past_buffer(bytes);
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        if let Some(room) = self.buffer.get_mut(self.filled) {
            *room = byte;
            self.filled += 1;
        } else {
            self.write_past_buffer(&[byte]);
        }
    }

    #[inline]
    fn word_room(&mut self) -> Option<&mut [u8; 8]> {
        self.buffer.get_mut(self.filled..)?.first_chunk_mut()
    }

    #[inline]
    fn keep(&mut self, length: usize) {
        self.filled += length;
    }
}
