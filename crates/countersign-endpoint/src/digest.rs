//! Digest types of the two encodings, which cannot take each other's place.

use std::fmt;

use crate::grammar::is_lower_hex;

/// Declares one digest type; there is no conversion between two of them.
macro_rules! digest_type {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// Reads exactly 64 lower-case hexadecimal digits.
            pub fn parse(text: &str) -> Option<Self> {
                decode_hex(text).map(Self)
            }

            pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The digest itself.
            pub fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

digest_type! {
    /// A SHA-256 over the ASCII-escaped canonical form.
    ///
    /// `args_sha256` and `intent_digest` are of this family. It is no [`Utf8Digest`]:
    ///
    /// ```compile_fail,E0308
    /// use countersign_endpoint::{Utf8Digest, Value, sha256_json_ascii};
    /// let digest: Utf8Digest = sha256_json_ascii(&Value::Null);
    /// ```
    ///
    /// ```compile_fail,E0308
    /// use countersign_endpoint::{Value, sha256_json_ascii, sha256_json_utf8};
    /// assert!(sha256_json_ascii(&Value::Null) == sha256_json_utf8(&Value::Null));
    /// ```
    AsciiDigest
}

digest_type! {
    /// A SHA-256 over the UTF-8 canonical form.
    ///
    /// `execution_digest`, `effect_digest`, `action_digest` and
    /// `authorization_receipt_sha256` are of this family.
    ///
    /// ```
    /// use countersign_endpoint::{Utf8Digest, Value, sha256_json_utf8};
    /// let digest: Utf8Digest = sha256_json_utf8(&Value::Null);
    /// assert_eq!(Utf8Digest::parse(&digest.to_string()), Some(digest));
    /// ```
    Utf8Digest
}

fn decode_hex(text: &str) -> Option<[u8; 32]> {
    if !is_lower_hex(text, 64) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for digit in pair {
            *byte = *byte << 4 | u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_lower_case_digits_parse() {
        let good = "0123456789abcdef".repeat(4);
        let digest = Utf8Digest::parse(&good).expect("a digest");
        assert_eq!(digest.to_string(), good);
        assert_eq!(digest.as_bytes().first_chunk(), Some(&[0x01, 0x23, 0x45]));
        for bad in [
            good.to_uppercase(),
            format!("{good}\n"),
            good.replace('f', "g"),
            "ab".repeat(31),
            String::new(),
        ] {
            assert_eq!(Utf8Digest::parse(&bad), None, "{bad:?}");
            assert_eq!(AsciiDigest::parse(&bad), None, "{bad:?}");
        }
    }
}
