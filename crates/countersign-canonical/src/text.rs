use crate::{form::sealed::Rules, scan::plain_prefix, sink::Sink};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes a string or an object key with its quotes.
#[inline]
pub(crate) fn write_text<F: Rules, S: Sink>(text: &str, sink: &mut S) {
    sink.write(b"\"");
    if F::ASCII_ONLY {
        write_ascii(text, sink);
    } else {
        write_utf8(text, sink);
    }
    sink.write(b"\"");
}

#[inline]
fn write_utf8<S: Sink>(text: &str, sink: &mut S) {
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(plain_prefix::<false>(rest));
        sink.write(plain);
        let Some((byte, after)) = special.split_first() else {
            return;
        };
        write_escape(*byte, sink);
        rest = after;
    }
}

#[inline]
fn write_ascii<S: Sink>(text: &str, sink: &mut S) {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_prefix::<true>(rest.as_bytes()));
        sink.write(plain.as_bytes());
        let mut characters = special.chars();
        let Some(character) = characters.next() else {
            return;
        };
        match u8::try_from(character) {
            Ok(byte) if byte < 0x7f => write_escape(byte, sink),
            Ok(_) | Err(_) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write_unit(*unit, sink);
                }
            }
        }
        rest = characters.as_str();
    }
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

fn write_unit<S: Sink>(unit: u16, sink: &mut S) {
    let [high, low] = unit.to_be_bytes();
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
    sink.write(&[
        b'\\',
        b'u',
        digit(high >> 4),
        digit(high & 15),
        digit(low >> 4),
        digit(low & 15),
    ]);
}
