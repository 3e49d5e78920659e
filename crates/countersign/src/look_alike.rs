//! Words that may be read as others, by Unicode's own tables (UTS 39).

use std::collections::BTreeSet;

use unicode_security::{
    MixedScript as _, RestrictionLevel, RestrictionLevelDetection as _, skeleton,
};

/// The most words that are told.
const MAX_WORDS: usize = 8;

/// The words of a text that mix scripts as no language does, or consist of letters that look like ASCII ones: each with its
/// other letters by number. A text of another language than English is not suspicious for being that.
pub(crate) fn look_alikes(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let suspicious: BTreeSet<String> = words
        .filter(|word| !word.is_ascii() && (is_mixed(word) || looks_like_ascii(word)))
        .map(numbered)
        .take(MAX_WORDS)
        .collect();
    suspicious.into_iter().collect()
}

/// Japanese, Chinese and Korean are written with several scripts, Latin among them.
fn is_mixed(word: &str) -> bool {
    !word.is_single_script() && !word.check_restriction_level(RestrictionLevel::HighlyRestrictive)
}

fn looks_like_ascii(word: &str) -> bool {
    let has_strangers = word
        .chars()
        .any(|letter| !letter.is_ascii() && !is_latin(letter));
    // Where one letter looks like two, as `æ` does, nobody is misled for long.
    has_strangers && skeleton(word).all(|letter| letter.is_ascii())
}

/// Letters that languages write in Latin script beside those of ASCII.
fn is_latin(letter: char) -> bool {
    matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

fn numbered(word: &str) -> String {
    let letters = word.chars().map(|letter| {
        if letter.is_ascii() {
            letter.to_string()
        } else {
            letter.escape_unicode().to_string()
        }
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_words_and_look_alikes_are_told_and_languages_are_not() {
        for (text, told) in [
            ("p\u{430}ypal", "p\\u{430}ypal"),
            ("\u{440}\u{430}\u{443}", "\\u{440}\\u{430}\\u{443}"),
            ("/tmp/\u{ff50}ath x", "\\u{ff50}ath"),
            ("\u{261}it push", "\\u{261}it"),
            ("\u{1d5c6}ain", "\\u{1d5c6}ain"),
            ("g\u{3bf}\u{3bf}gle.com", "g\\u{3bf}\\u{3bf}gle"),
            ("m\u{456}crosoft", "m\\u{456}crosoft"),
            // Cherokee and Armenian have letters like these.
            ("\u{13e2}orld", "\\u{13e2}orld"),
            ("\u{578}\u{578}", "\\u{578}\\u{578}"),
        ] {
            assert_eq!(look_alikes(text), [told], "{text}");
        }
        for plain in [
            "naïve Übung kadın læse Straße",
            "привет, мир",
            "Ελλάδα",
            "漢字 カタカナとAI",
            "한국어",
            "العربية עברית",
            "ไทย हिन्दी",
            "/tmp/a-b_c 1",
        ] {
            assert_eq!(look_alikes(plain), [""; 0], "{plain}");
        }
    }

    #[test]
    fn not_everything_is_told() {
        let words: Vec<String> = (0..20).map(|n| format!("p\u{430}y{n}")).collect();
        assert_eq!(look_alikes(&words.join(" ")).len(), MAX_WORDS);
    }
}
