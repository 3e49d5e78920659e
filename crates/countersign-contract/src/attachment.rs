//! A JSON text that travels beside a call or an answer, byte for byte.

use std::fmt;
use std::sync::Arc;

use countersign_canonical::{Digest, Limits, Number, ParseError, Utf8, Value, encode, parse};
use sha2::{Digest as _, Sha256};

/// A JSON text that is passed on exactly as it came, while a reference to it is what is digested, authorized and recorded.
///
/// For tools whose arguments and answers are not ours to describe: integers of any size, any nesting up to 128 levels, up to
/// 4 MiB. The reference binds the canonical UTF-8 form, so that white space and member order do not make another call.
#[derive(Clone, PartialEq, Eq)]
pub struct Attachment {
    text: Arc<str>,
    content: ContentReference,
}

/// What stands for an attachment: the SHA-256 of its canonical UTF-8 form, and that form's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentReference {
    sha256: Digest<Utf8>,
    bytes: u64,
}

impl Attachment {
    /// Reads a text strictly.
    pub fn read(text: &str) -> Result<Self, ParseError> {
        let value = parse(text.as_bytes(), &Limits::passthrough())?;
        let canonical = encode::<Utf8>(&value);
        let content = ContentReference {
            sha256: Digest::from_bytes(Sha256::digest(&canonical).into()),
            bytes: u64::try_from(canonical.len()).unwrap_or(u64::MAX),
        };
        Ok(Self {
            text: Arc::from(text),
            content,
        })
    }

    /// The text, as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands for it.
    #[must_use]
    pub fn content(&self) -> &ContentReference {
        &self.content
    }
}

/// A text may hold anything: only what stands for it is shown.
impl fmt::Debug for Attachment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Attachment")
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

impl ContentReference {
    /// The members that stand for the content in arguments and data.
    #[must_use]
    pub fn members(&self) -> [(&'static str, Value); 2] {
        [
            ("bytes", Value::Number(Number::from(self.bytes))),
            ("content_sha256", self.sha256.to_string().into()),
        ]
    }

    /// Tells whether a document has exactly these members, among others perhaps.
    #[must_use]
    pub fn stands_in(&self, document: &Value) -> bool {
        self.members()
            .iter()
            .all(|(name, value)| document.get(name) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_stays_and_its_meaning_is_what_is_bound() {
        let read = |text: &str| Attachment::read(text).unwrap();
        let one = read("{\"b\": 123456789012345678901234567890, \"a\": 1.0}");
        let other = read("{\"a\":1.0,\"b\":123456789012345678901234567890}");
        assert_eq!(one.content(), other.content());
        assert_ne!(one.text(), other.text());
        assert_ne!(read("{\"a\":1}").content(), read("{\"a\":1.0}").content());
        let document = Value::from(one.content().members());
        assert!(other.content().stands_in(&document));
        assert!(!read("null").content().stands_in(&document));
    }

    #[test]
    fn what_is_not_strict_json_is_no_attachment() {
        for text in ["", "{\"a\":1,\"a\":1}", "NaN", "\"\\ud800\"", "1 2"] {
            assert!(Attachment::read(text).is_err(), "{text}");
        }
        assert!(!format!("{:?}", Attachment::read("\"secret\"").unwrap()).contains("secret"));
    }
}
