use std::fmt;

const MAX_LABEL_BYTES: usize = 64;

/// A provider's code word (`status`, `type`, an error code) that is safe to show.
///
/// A word is at most 64 ASCII letters, digits, `_`, `-`, `.` or `:`. Anything
/// else is somebody's text, may hold anything, and is not repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(String);

impl Label {
    pub(crate) fn of(text: &str) -> Self {
        if Self::is_word(text) {
            Self(text.to_owned())
        } else {
            Self("(unreadable)".to_owned())
        }
    }

    pub(crate) fn is_word(text: &str) -> bool {
        !text.is_empty()
            && text.len() <= MAX_LABEL_BYTES
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
