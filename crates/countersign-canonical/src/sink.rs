use std::fmt;

use sha2::{Digest as _, Sha256};

/// Where an encoding goes: a buffer, or a hash function.
pub trait Sink {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
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

    #[cold]
    fn write_past_buffer(&mut self, bytes: &[u8]) {
        self.flush();
        if bytes.len() >= CHUNK {
            self.hash.update(bytes);
        } else if let Some(room) = self.buffer.get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
            self.filled = bytes.len();
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
}
