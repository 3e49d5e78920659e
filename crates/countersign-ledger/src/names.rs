//! The names that a ledger gives and keeps.

use std::fmt;
use std::sync::Arc;

use countersign_contract::is_blank;

/// The most characters of a name.
const MAX_NAME_CHARS: usize = 64;
/// The most characters of a note.
pub const MAX_NOTE_CHARS: usize = 1000;

macro_rules! names {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        ///
        /// 1 to 64 letters, digits, `-` and `_` of ASCII.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes a well-formed name.
            #[must_use]
            pub fn new(text: &str) -> Option<Self> {
                let is_allowed = |character: char| {
                    character.is_ascii_alphanumeric() || character == '-' || character == '_'
                };
                let is_name = !text.is_empty()
                    && text.len() <= MAX_NAME_CHARS
                    && text.chars().all(is_allowed);
                is_name.then(|| Self(Arc::from(text)))
            }

            /// The name.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    )+};
}

names! {
    /// A running host: one process that may hold operations. A new one for every start.
    InstanceId;
    /// A standing approval.
    GrantId;
    /// One start of a machine.
    BootId;
}

/// What a person writes about a decision: 1 to 1000 characters, not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note(Arc<str>);

impl Note {
    /// Takes a text that says something and is not too long.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_note = !is_blank(text) && text.chars().count() <= MAX_NOTE_CHARS;
        is_note.then(|| Self(Arc::from(text)))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
