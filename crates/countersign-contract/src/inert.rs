//! A stranger's text as a person may be shown it: it cannot act on a terminal, nor pretend to be another text.

use std::fmt::{self, Write as _};

/// Shows at most so many characters of a text; control, direction-changing and invisible ones as `\u{…}`.
#[derive(Clone, Copy, Debug)]
pub struct Inert<'t> {
    text: &'t str,
    max_chars: usize,
}

impl<'t> Inert<'t> {
    /// The whole text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            max_chars: usize::MAX,
        }
    }

    /// The beginning of the text, with `…` where more follows.
    #[must_use]
    pub fn beginning(text: &'t str, max_chars: usize) -> Self {
        Self { text, max_chars }
    }
}

impl fmt::Display for Inert<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.text.chars();
        for character in characters.by_ref().take(self.max_chars) {
            if is_inert(character) {
                formatter.write_char(character)?;
            } else {
                write!(formatter, "{}", character.escape_unicode())?;
            }
        }
        if characters.next().is_some() {
            formatter.write_char('…')?;
        }
        Ok(())
    }
}

/// Neither a control nor a direction-changing, invisible or line-breaking character, nor a space that looks like another.
fn is_inert(character: char) -> bool {
    let acts = character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        );
    !acts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_and_not_emitted() {
        for (text, shown) in [
            ("plain é 漢 🙂", "plain é 漢 🙂"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\nb\tc\u{7f}", "a\\u{a}b\\u{9}c\\u{7f}"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            (
                "a\u{200b}b\u{feff}c\u{e0041}",
                "a\\u{200b}b\\u{feff}c\\u{e0041}",
            ),
            ("a\u{a0}b\u{2028}", "a\\u{a0}b\\u{2028}"),
        ] {
            assert_eq!(Inert::new(text).to_string(), shown);
        }
        assert_eq!(Inert::beginning("abcd", 3).to_string(), "abc…");
        assert_eq!(Inert::beginning("abc", 3).to_string(), "abc");
    }
}
