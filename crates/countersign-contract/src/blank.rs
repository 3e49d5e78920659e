//! White space as the protocol means it: Python's `str.strip`.

/// Tells whether `str.strip` would remove the character.
///
/// That is Unicode white space plus the four information separators U+001C to U+001F.
#[must_use]
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// Tells whether nothing would be left of the text after `str.strip`.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// Returns the text without leading and trailing space.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_separators_are_space_and_zero_width_is_not() {
        for blank in [
            "",
            " ",
            "\t\r\n",
            "\u{1c}\u{1d}\u{1e}\u{1f}",
            "\u{85}",
            "\u{a0}",
            "\u{2003}",
            "\u{3000}",
        ] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in ["\u{200b}", "\u{feff}", "\u{0}", "\u{1b}", " a "] {
            assert!(!is_blank(text), "{text:?}");
        }
        assert_eq!(strip("\u{1f} a b\u{a0}"), "a b");
    }
}
