//! What a person presses.

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    Enter,
    Backspace,
    Escape,
    Up,
    Down,
    PageUp,
    PageDown,
    /// Ctrl-C or Ctrl-D.
    Interrupt,
}

/// Reads the keys of what a terminal sent at once. Sequences that mean none of them mean nothing.
pub(super) fn keys(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let (mut keys, mut rest) = (Vec::new(), text.as_ref());
    while let Some(character) = rest.chars().next() {
        if let Some(sequence) = rest.strip_prefix("\u{1b}[") {
            let length = sequence.find(|end: char| ('@'..='~').contains(&end));
            let (sequence, after) = sequence.split_at(length.map_or(sequence.len(), |at| at + 1));
            rest = after;
            keys.extend(match sequence {
                "A" => Some(Key::Up),
                "B" => Some(Key::Down),
                "5~" => Some(Key::PageUp),
                "6~" => Some(Key::PageDown),
                _ => None,
            });
            continue;
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        keys.extend(match character {
            '\r' | '\n' => Some(Key::Enter),
            '\u{8}' | '\u{7f}' => Some(Key::Backspace),
            '\u{3}' | '\u{4}' => Some(Key::Interrupt),
            '\u{1b}' => Some(Key::Escape),
            other if other.is_control() => None,
            other => Some(Key::Character(other)),
        });
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_one_key_or_none() {
        let typed = keys(b"a\x1b[A\x1b[6~\x1b[200~\xc3\xa9\r\x7f\x03\x1b\x00");
        assert_eq!(
            typed,
            [
                Key::Character('a'),
                Key::Up,
                Key::PageDown,
                Key::Character('é'),
                Key::Enter,
                Key::Backspace,
                Key::Interrupt,
                Key::Escape,
            ]
        );
    }
}
