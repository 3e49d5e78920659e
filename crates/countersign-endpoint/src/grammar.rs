//! The character grammars of the contract, written by hand: lengths count code
//! points, and every match is of the whole text (a final newline never passes).

/// The longest identifier, in characters.
pub const IDENTIFIER_MAX_CHARS: usize = 256;

/// `[A-Za-z0-9][A-Za-z0-9._:/-]*`, at most `maximum` characters.
pub(crate) fn is_identifier(text: &str, maximum: usize) -> bool {
    matches_id(text, maximum, |byte| {
        matches!(byte, b'.' | b'_' | b':' | b'/' | b'-')
    })
}

/// The identifier grammar with `@` allowed after the first character, at most 256 characters.
pub(crate) fn is_safe_id(text: &str) -> bool {
    matches_id(text, IDENTIFIER_MAX_CHARS, |byte| {
        matches!(byte, b'.' | b'_' | b':' | b'@' | b'/' | b'-')
    })
}

/// Exactly `length` lower-case hexadecimal digits.
pub(crate) fn is_lower_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether nothing is left after stripping white space.
///
/// The contract strips what Unicode calls white space and, besides, the four
/// information separators U+001C to U+001F.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character))
}

/// Whether `text` has more than `maximum` code points.
pub(crate) fn exceeds_chars(text: &str, maximum: usize) -> bool {
    // A code point has at least one byte, so short texts need no counting.
    text.len() > maximum && text.chars().count() > maximum
}

/// How many bytes in front satisfy `is_plain`.
///
/// Whole blocks are judged without branching, which the compiler turns into vector instructions.
pub(crate) fn plain_run(bytes: &[u8], is_plain: impl Fn(u8) -> bool) -> usize {
    const BLOCK: usize = 16;
    let blocks = bytes.chunks_exact(BLOCK);
    let whole = blocks
        .take_while(|block| {
            block
                .iter()
                .fold(true, |plain, byte| plain & is_plain(*byte))
        })
        .count();
    let rest = bytes.get(whole * BLOCK..).unwrap_or_default();
    whole * BLOCK
        + rest
            .iter()
            .position(|byte| !is_plain(*byte))
            .unwrap_or(rest.len())
}

fn matches_id(text: &str, maximum: usize, is_mark: fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    text.len() <= maximum
        && bytes
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_match_whole_texts_only() {
        for good in ["a", "0", "a/b:c.d_e-f", &"A".repeat(256)] {
            assert!(is_identifier(good, 256), "{good}");
            assert!(is_safe_id(good), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a\n",
            "\na",
            "a b",
            "é1",
            "aé",
            "a\0",
            &"A".repeat(257),
        ] {
            assert!(!is_identifier(bad, 256), "{bad:?}");
            assert!(!is_safe_id(bad), "{bad:?}");
        }
        assert!(is_safe_id("a@b") && !is_identifier("a@b", 256) && !is_safe_id("@b"));
        assert!(is_identifier(&"d".repeat(128), 128) && !is_identifier(&"d".repeat(129), 128));
    }

    #[test]
    fn blank_follows_the_contract_not_only_unicode() {
        for blank in [
            "",
            " ",
            "\u{1c}\u{1d}\u{1e}\u{1f}",
            "\u{85}\u{a0}\u{2003}\u{3000}",
            "\t\n\u{b}\u{c}\r",
        ] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in [
            "x", "\u{200b}", "\u{1b}", "\u{feff}", "\u{7f}", "\u{180e}", " \u{1c}x",
        ] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn lengths_count_code_points() {
        assert!(!exceeds_chars(&"😀".repeat(4), 4));
        assert!(exceeds_chars(&"😀".repeat(5), 4));
        assert!(!exceeds_chars("", 0));
    }

    #[test]
    fn a_run_ends_at_the_first_other_byte() {
        for length in 0..70 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(plain_run(&bytes, |byte| byte == b'a'), length);
            for at in 0..length {
                bytes[at] = b'b';
                assert_eq!(plain_run(&bytes, |byte| byte == b'a'), at);
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn hexadecimal_is_lower_case_and_exact() {
        assert!(is_lower_hex("0af9", 4));
        for bad in ["0AF9", "0af", "0af9\n", "0ag9", "é9a"] {
            assert!(!is_lower_hex(bad, 4), "{bad:?}");
        }
    }
}
