//! Member names that no tool output may carry: secrets and the host's own control fields.

use countersign_canonical::{InDomain, Value};

use crate::fault::Path;

/// Names compared after Unicode lower-casing, with `-` read as `_`.
const SENSITIVE_OR_CONTROL_KEYS: [&str; 14] = [
    "access_token",
    "api_key",
    "authorization",
    "call_binding_sha256",
    "call_id",
    "cookie",
    "operation_id",
    "password",
    "refresh_token",
    "request_digest",
    "request_sha256",
    "result_sha256",
    "secret",
    "set_cookie",
];

/// The longest of the names, in bytes; a longer name cannot be one, since no letter lower-cases to fewer than a
/// third of its bytes.
const MAX_KEY_BYTES: usize = 19 * 3;

/// Tells whether a member name stands for a secret or a control field.
#[must_use]
pub fn is_sensitive_key(name: &str) -> bool {
    if name.len() > MAX_KEY_BYTES {
        return false;
    }
    if name.is_ascii() {
        return SENSITIVE_OR_CONTROL_KEYS.iter().any(|known| {
            known.len() == name.len()
                && known.bytes().zip(name.bytes()).all(|(known, byte)| {
                    let folded = if byte == b'-' {
                        b'_'
                    } else {
                        byte.to_ascii_lowercase()
                    };
                    known == folded
                })
        });
    }
    let folded = name.to_lowercase().replace('-', "_");
    SENSITIVE_OR_CONTROL_KEYS.contains(&folded.as_str())
}

/// Finds the first such name anywhere inside the value, which stands at `path`.
///
/// The search descends with the value, whose depth the domain bounds.
#[must_use]
pub fn find_sensitive_key(value: InDomain<'_>, path: &Path) -> Option<Path> {
    find_within(value.value(), path)
}

fn find_within(value: &Value, path: &Path) -> Option<Path> {
    match value {
        Value::Object(object) => object.iter().find_map(|(name, member)| {
            if is_sensitive_key(name) {
                return Some(path.member(name));
            }
            if is_container(member) {
                return find_within(member, &path.member(name));
            }
            None
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            if is_container(item) {
                find_within(item, &path.index(index))
            } else {
                None
            }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Array(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_folded() {
        for name in [
            "authorization",
            "Authorization",
            "AUTHORIZATION",
            "api-key",
            "API_Key",
            "Set-Cookie",
            "access_to\u{212a}en",
            "Refresh-To\u{212a}en",
            "coo\u{212a}ie",
            "call-id",
            "request_sha256",
        ] {
            assert!(is_sensitive_key(name), "{name}");
        }
        for name in [
            "authorisation",
            "apikey",
            "token",
            "status",
            "secrets",
            "pass word",
            "",
            "ſecret",
        ] {
            assert!(!is_sensitive_key(name), "{name}");
        }
    }

    #[test]
    fn longest_name_bounds_the_search() {
        let longest = SENSITIVE_OR_CONTROL_KEYS
            .iter()
            .map(|name| name.len())
            .max()
            .unwrap();
        assert_eq!(longest * 3, MAX_KEY_BYTES);
        assert!(SENSITIVE_OR_CONTROL_KEYS.is_sorted());
    }
}
