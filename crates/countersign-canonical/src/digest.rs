use std::{fmt, marker::PhantomData, str::FromStr};

use crate::Form;

/// The SHA-256 of a canonical encoding in the form `F`.
///
/// Written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest<F: Form> {
    bytes: [u8; 32],
    form: PhantomData<F>,
}

/// The text is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is written as 64 lower-case hexadecimal digits")]
pub struct MalformedDigest;

impl<F: Form> Digest<F> {
    pub(crate) const fn new(bytes: [u8; 32]) -> Self {
        Self {
            bytes,
            form: PhantomData,
        }
    }

    /// Reads a digest as it is written on the wire. Upper-case digits are refused.
    pub fn parse_hex(text: &str) -> Result<Self, MalformedDigest> {
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(MalformedDigest);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = (nibble(*high)? << 4) | nibble(*low)?;
        }
        Ok(Self::new(bytes))
    }

    /// Takes over bytes that a store has kept of a digest in this form.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self::new(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// The digest as it is written on the wire.
    pub fn to_hex(&self) -> HexDigest {
        let mut digits = [0; 64];
        let (pairs, _) = digits.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(self.bytes) {
            *pair = [digit(byte >> 4), digit(byte & 0xf)];
        }
        HexDigest(digits)
    }
}

/// The 64 lower-case hexadecimal digits of a [`Digest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HexDigest([u8; 64]);

impl HexDigest {
    /// The digits as text.
    pub fn as_str(&self) -> &str {
        // INVARIANT: `to_hex` writes ASCII only.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

const fn digit(nibble: u8) -> u8 {
    if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' + nibble - 10
    }
}

fn nibble(digit: u8) -> Result<u8, MalformedDigest> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(MalformedDigest),
    }
}

impl<F: Form> fmt::Display for Digest<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_hex().as_str())
    }
}

impl<F: Form> fmt::Debug for Digest<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl<F: Form> FromStr for Digest<F> {
    type Err = MalformedDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_hex(text)
    }
}
