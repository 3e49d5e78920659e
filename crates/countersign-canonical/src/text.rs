use crate::{
    form::sealed::Rules,
    scan::{plain_prefix, plain_prefix_of_word, short_word},
    sink::Sink,
};

/// Words that are copied while they are searched. Longer runs are searched
/// first and then copied, or hashed, as a whole.
const COPIED_WORDS: usize = 4;

/// Writes a string or an object key with its quotes.
#[inline]
pub(crate) fn write_text<F: Rules, S: Sink>(text: &str, sink: &mut S) {
    sink.push(b'"');
    if F::ASCII_ONLY {
        write_ascii(text, sink);
    } else {
        write_utf8(text, sink);
    }
    sink.push(b'"');
}

#[inline]
fn write_utf8<S: Sink>(text: &str, sink: &mut S) {
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = write_plain::<false, _>(rest, sink).split_first() {
        write_escape(*byte, sink);
        rest = after;
    }
}

#[inline]
fn write_ascii<S: Sink>(text: &str, sink: &mut S) {
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = write_plain::<true, _>(rest, sink).split_first() {
        rest = after;
        if byte.is_ascii() {
            write_escape(*byte, sink);
        } else {
            let start = text.len() - after.len() - 1;
            rest = write_beyond_ascii(text.get(start..).unwrap_or_default(), sink);
        }
    }
}

/// Escapes characters up to the first ASCII one, and returns the rest.
#[inline]
fn write_beyond_ascii<'t, S: Sink>(text: &'t str, sink: &mut S) -> &'t [u8] {
    let mut characters = text.chars();
    loop {
        let rest = characters.as_str();
        match characters.next() {
            Some(character) if !character.is_ascii() => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write_unit(*unit, sink);
                }
            }
            Some(_) | None => return rest.as_bytes(),
        }
    }
}

/// Copies what is written as it is, and returns the rest: nothing, or what
/// starts with a byte to escape.
#[inline]
fn write_plain<'t, const ASCII_ONLY: bool, S: Sink>(bytes: &'t [u8], sink: &mut S) -> &'t [u8] {
    let mut rest = bytes;
    for _ in 0..COPIED_WORDS {
        let Some((word, after)) = rest.split_first_chunk() else {
            break;
        };
        let Some(room) = sink.word_room() else {
            break;
        };
        *room = *word;
        let plain = plain_prefix_of_word::<ASCII_ONLY>(*word);
        sink.keep(plain);
        if plain < word.len() {
            return rest.get(plain..).unwrap_or_default();
        }
        rest = after;
    }
    if rest.len() < 8
        && let Some(room) = sink.word_room()
    {
        *room = short_word(rest);
        let plain = plain_prefix_of_word::<ASCII_ONLY>(*room);
        sink.keep(plain);
        return rest.get(plain..).unwrap_or_default();
    }
    let (plain, special) = rest.split_at(plain_prefix::<ASCII_ONLY>(rest));
    sink.write(plain);
    special
}

fn write_escape<S: Sink>(byte: u8, sink: &mut S) {
    match byte {
        b'"' => sink.write(b"\\\""),
        b'\\' => sink.write(b"\\\\"),
        b'\n' => sink.write(b"\\n"),
        b'\r' => sink.write(b"\\r"),
        b'\t' => sink.write(b"\\t"),
        0x08 => sink.write(b"\\b"),
        0x0c => sink.write(b"\\f"),
        _ => write_unit(byte.into(), sink),
    }
}

#[inline]
fn write_unit<S: Sink>(unit: u16, sink: &mut S) {
    let [first, second, third, fourth] = hex_digits(unit);
    sink.write(&[b'\\', b'u', first, second, third, fourth]);
}

/// The four lower-case digits of a number, computed side by side.
#[inline]
const fn hex_digits(unit: u16) -> [u8; 4] {
    let unit = unit as u32;
    let bytes = (unit | unit << 8) & 0x00ff_00ff;
    let nibbles = (bytes | bytes << 4) & 0x0f0f_0f0f;
    let letters = ((nibbles + 0x0606_0606) >> 4) & 0x0101_0101;
    let letters_offset = b'a' - b'0' - 10;
    (nibbles + 0x3030_3030 + letters * letters_offset as u32).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::hex_digits;

    #[test]
    fn hex_digits_are_those_of_the_number() {
        for unit in 0..=u16::MAX {
            let digits = format!("{unit:04x}");
            assert_eq!(hex_digits(unit), digits.as_bytes());
        }
    }
}
