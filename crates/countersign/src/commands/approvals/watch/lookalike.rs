//! Words that may be read as others.

use std::collections::BTreeSet;

/// The most words that are told.
const MAX_WORDS: usize = 8;
/// Letters of Greek, Cyrillic and Armenian that look like ASCII ones.
const ALIKE: &str = "αΑΒΕΖΗΙΚΜΝοΟΡρΤΥυΧχνаАВсСеЕгНіІјЈкКМоОрРѕЅТтуУхХһԁԛԝЬӀոսցօհզ";

/// The words of a text that mix letters of ASCII with others, or consist of letters that look like ASCII: each with its other
/// letters by number. A program of another language than English is not suspicious for being that.
pub(super) fn look_alikes(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let suspicious: BTreeSet<String> = words
        .filter(|word| is_suspicious(word))
        .map(numbered)
        .take(MAX_WORDS)
        .collect();
    suspicious.into_iter().collect()
}

fn is_suspicious(word: &str) -> bool {
    let is_foreign = |letter: &char| !letter.is_ascii() && !is_latin(*letter);
    let has_foreign = word.chars().any(|letter| is_foreign(&letter));
    let has_ascii = word.chars().any(|letter| letter.is_ascii_alphabetic());
    let all_alike = word
        .chars()
        .filter(is_foreign)
        .all(|letter| ALIKE.contains(letter));
    has_foreign && (has_ascii || all_alike)
}

/// Letters of the Latin script, which differ from those of ASCII by a mark.
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
        assert_eq!(
            look_alikes("p\u{430}ypal \u{440}\u{430}\u{443}"),
            ["\\u{440}\\u{430}\\u{443}", "p\\u{430}ypal",]
        );
        assert_eq!(look_alikes("\u{ff50}ath x"), ["\\u{ff50}ath"]);
        for plain in ["naïve Übung", "привет, мир", "漢字", "/tmp/a-b_c 1"] {
            assert_eq!(look_alikes(plain), [""; 0], "{plain}");
        }
    }
}
