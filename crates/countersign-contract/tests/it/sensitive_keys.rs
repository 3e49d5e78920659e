//! The search for sensitive names against the plain way of comparing.

use countersign_contract::is_sensitive_key;
use proptest::prelude::*;

const NAMES: [&str; 14] = [
    "authorization",
    "api_key",
    "access_token",
    "refresh_token",
    "password",
    "secret",
    "cookie",
    "set_cookie",
    "call_id",
    "operation_id",
    "request_digest",
    "request_sha256",
    "result_sha256",
    "call_binding_sha256",
];

fn naive(name: &str) -> bool {
    NAMES.contains(&name.to_lowercase().replace('-', "_").as_str())
}

/// A name of the list with some of its characters replaced by what may fold to them.
fn almost_sensitive() -> impl Strategy<Value = String> {
    (
        prop::sample::select(&NAMES[..]),
        any::<u64>(),
        any::<char>(),
    )
        .prop_map(|(name, bits, other)| {
            let characters = name.chars().enumerate().map(|(index, character)| {
                match (bits >> (2 * (index % 32)) & 3, character) {
                    (1, _) => character.to_ascii_uppercase(),
                    (2, 'k') => '\u{212a}',
                    (2, 's') => '\u{17f}',
                    (2, 'i') => '\u{130}',
                    (2, '_') => '-',
                    (3, _) if bits % 5 == 0 => other,
                    _ => character,
                }
            });
            characters.collect()
        })
}

proptest! {
    #[test]
    fn almost_sensitive_names_are_judged_as_by_comparing_folded(name in almost_sensitive()) {
        prop_assert_eq!(is_sensitive_key(&name), naive(&name), "{}", name);
    }

    #[test]
    fn any_name_is_judged_as_by_comparing_folded(name in any::<String>()) {
        prop_assert_eq!(is_sensitive_key(&name), naive(&name));
    }
}

/// Names longer than three times the longest are not even folded; no character may make that wrong.
#[test]
fn no_character_folds_to_less_than_a_third_of_its_bytes() {
    for character in '\0'..=char::MAX {
        let folded: usize = character.to_lowercase().map(char::len_utf8).sum();
        assert!(folded * 3 >= character.len_utf8(), "{character:?}");
    }
    let longest = "CALL-BINDING-SHA256";
    assert!(is_sensitive_key(longest));
    assert!(!is_sensitive_key(&longest.repeat(1_000)));
}
