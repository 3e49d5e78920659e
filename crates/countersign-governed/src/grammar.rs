//! The identifier grammars, matched to the last byte.
//!
//! They are written by hand, since a regular expression's `$` may also match
//! before a final newline: the exact end is the point of these checks.

use std::fmt;

use crate::contract::{DECISION_ID_MAX_CHARS, IDENTIFIER_MAX_CHARS};

/// A named grammar of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Grammar {
    /// `[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}`
    Identifier,
    /// As an identifier, with `@` too.
    SafeId,
    /// As an identifier, of at most 128 characters: what an endpoint takes as decision id.
    DecisionId,
    /// 64 lower-case hexadecimal digits.
    Sha256,
    /// `hti_` and 32 lower-case hexadecimal digits.
    IntentId,
    /// `APR-` and 12 upper-case letters or digits.
    ApprovalId,
    /// A lower-case UUID of version 4.
    ActionId,
    /// 32 lower-case hexadecimal digits.
    AuthorizationId,
    /// `[A-Za-z][A-Za-z0-9_-]{0,63}`, which every provider takes as a function name.
    ToolName,
    /// `[A-Za-z][A-Za-z0-9_]{0,63}`
    ArgumentName,
    /// `http://` and a loopback host, with an optional port and nothing after it.
    LoopbackOrigin,
}

impl Grammar {
    /// Tells whether the whole text is of this grammar.
    pub fn matches(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Self::Identifier => is_name(
                bytes,
                IDENTIFIER_MAX_CHARS,
                u8::is_ascii_alphanumeric,
                b"._:/-",
            ),
            Self::SafeId => is_name(
                bytes,
                IDENTIFIER_MAX_CHARS,
                u8::is_ascii_alphanumeric,
                b"._:@/-",
            ),
            Self::DecisionId => is_name(
                bytes,
                DECISION_ID_MAX_CHARS,
                u8::is_ascii_alphanumeric,
                b"._:/-",
            ),
            Self::ToolName => is_name(bytes, 64, u8::is_ascii_alphabetic, b"_-"),
            Self::ArgumentName => is_name(bytes, 64, u8::is_ascii_alphabetic, b"_"),
            Self::Sha256 => is_lower_hex(bytes, 64),
            Self::AuthorizationId => is_lower_hex(bytes, 32),
            Self::IntentId => bytes
                .strip_prefix(b"hti_")
                .is_some_and(|rest| is_lower_hex(rest, 32)),
            Self::ApprovalId => bytes.strip_prefix(b"APR-").is_some_and(|rest| {
                rest.len() == 12
                    && rest
                        .iter()
                        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            }),
            Self::ActionId => is_uuid_v4(bytes),
            Self::LoopbackOrigin => is_loopback_origin(text),
        }
    }
}

impl fmt::Display for Grammar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Identifier => {
                "an identifier (a letter or digit, then letters, digits and . _ : / -)"
            }
            Self::SafeId => {
                "an identifier (a letter or digit, then letters, digits and . _ : @ / -)"
            }
            Self::DecisionId => "an identifier of at most 128 characters",
            Self::Sha256 => "a SHA-256 digest (64 lower-case hexadecimal digits)",
            Self::IntentId => "an intent id (hti_ and 32 lower-case hexadecimal digits)",
            Self::ApprovalId => "an approval id (APR- and 12 upper-case letters or digits)",
            Self::ActionId => "an action id (a lower-case UUID of version 4)",
            Self::AuthorizationId => "an authorization id (32 lower-case hexadecimal digits)",
            Self::ToolName => "a tool name (a letter, then up to 63 letters, digits, _ or -)",
            Self::ArgumentName => "an argument name (a letter, then up to 63 letters, digits or _)",
            Self::LoopbackOrigin => {
                "a loopback origin (such as http://127.0.0.1:8000, without a final slash)"
            }
        })
    }
}

/// Tells whether Python's `str.strip` and `str.split` treat the character as
/// white space; unlike Unicode's property, this includes U+001C to U+001F.
pub fn is_python_space(character: char) -> bool {
    matches!(character, '\u{1c}'..='\u{1f}') || character.is_whitespace()
}

/// Tells whether nothing of the text would be left by Python's `str.strip`.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_python_space)
}

fn is_name(bytes: &[u8], maximum: usize, first: fn(&u8) -> bool, punctuation: &[u8]) -> bool {
    bytes.len() <= maximum
        && bytes.split_first().is_some_and(|(head, rest)| {
            first(head)
                && rest
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || punctuation.contains(byte))
        })
}

fn is_lower_hex(bytes: &[u8], length: usize) -> bool {
    bytes.len() == length
        && bytes
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_uuid_v4(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

fn is_loopback_origin(text: &str) -> bool {
    let Some(authority) = text.strip_prefix("http://") else {
        return false;
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| {
        authority
            .strip_prefix(host)
            .is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
    })
}

fn is_port(text: &str) -> bool {
    !text.starts_with('0')
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammars_end_where_the_text_ends() {
        let hex = "0123456789abcdef".repeat(4);
        let cases: [(Grammar, &str); 9] = [
            (Grammar::Identifier, "a/b:c.d_e-f"),
            (Grammar::SafeId, "a@b"),
            (Grammar::DecisionId, "dec:1/2"),
            (Grammar::Sha256, &hex),
            (Grammar::IntentId, "hti_9f5b719fb0c45988fbf93c4d1e4f9b9d"),
            (Grammar::ApprovalId, "APR-ABCDEF012345"),
            (Grammar::ActionId, "8f8b2b83-022b-4320-a161-5022409a8a78"),
            (Grammar::ToolName, "colony_research"),
            (Grammar::LoopbackOrigin, "http://127.0.0.1:8000"),
        ];
        for (grammar, text) in cases {
            assert!(grammar.matches(text), "{grammar:?} {text}");
            for suffix in ["\n", " ", "\0", "\u{e9}", "\r\n"] {
                assert!(
                    !grammar.matches(&format!("{text}{suffix}")),
                    "{grammar:?} {suffix:?}"
                );
                assert!(
                    !grammar.matches(&format!("{suffix}{text}")),
                    "{grammar:?} {suffix:?}"
                );
            }
            assert!(!grammar.matches(""));
        }
    }

    #[test]
    fn refuses_near_misses() {
        let cases = [
            (Grammar::Identifier, "a@b"),
            (Grammar::Identifier, "-a"),
            (Grammar::ApprovalId, "APR-abcdef012345"),
            (Grammar::ApprovalId, "apr-ABCDEF012345"),
            (Grammar::ApprovalId, "APR-ABCDEF01234"),
            (Grammar::ActionId, "8F8B2B83-022B-4320-A161-5022409A8A78"),
            (Grammar::ActionId, "8f8b2b83-022b-1320-a161-5022409a8a78"),
            (Grammar::ActionId, "8f8b2b83-022b-7320-a161-5022409a8a78"),
            (Grammar::ActionId, "8f8b2b83-022b-4320-c161-5022409a8a78"),
            (Grammar::ActionId, "8f8b2b83022b4320a1615022409a8a78"),
            (Grammar::LoopbackOrigin, "http://127.0.0.1:8000/"),
            (Grammar::LoopbackOrigin, "https://127.0.0.1"),
            (Grammar::LoopbackOrigin, "http://localhost.example"),
            (Grammar::LoopbackOrigin, "http://localhost:"),
            (Grammar::LoopbackOrigin, "http://localhost:65536"),
            (Grammar::LoopbackOrigin, "http://localhost:+1"),
            (Grammar::LoopbackOrigin, "http://user@localhost"),
        ];
        for (grammar, text) in cases {
            assert!(!grammar.matches(text), "{grammar:?} {text}");
        }
        assert!(Grammar::Identifier.matches(&"a".repeat(256)));
        assert!(!Grammar::Identifier.matches(&"a".repeat(257)));
        assert!(Grammar::DecisionId.matches(&"a".repeat(128)));
        assert!(!Grammar::DecisionId.matches(&"a".repeat(129)));
    }

    #[test]
    fn blank_is_what_python_strips() {
        let spaces = "\t\n\u{b}\u{c}\r\u{1c}\u{1d}\u{1e}\u{1f} \u{85}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\
            \u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";
        assert!(is_blank(spaces));
        assert_eq!(spaces.chars().count(), 29);
        let counted = ('\0'..=char::MAX)
            .filter(|character| is_python_space(*character))
            .count();
        assert_eq!(counted, 29);
        assert!(!is_blank("\u{200b}"));
        assert!(!is_blank("\u{feff}"));
    }
}
