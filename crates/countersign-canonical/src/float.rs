use crate::sink::Sink;

/// Writes a finite double with the fewest digits that read back as itself, in
/// exponent form below 1e-4 and from 1e16 on.
pub(crate) fn write_float<S: Sink>(value: f64, sink: &mut S) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e16).contains(&magnitude) {
        sink.write(text.as_bytes());
    } else {
        write_exponent_form(text.as_bytes(), sink);
    }
}

/// Writes an exponent with its sign and at least two digits, whatever it was given with.
fn write_exponent_form<S: Sink>(text: &[u8], sink: &mut S) {
    match text {
        [mantissa @ .., b'e', b'-', digit] => {
            sink.write(mantissa);
            sink.write(&[b'e', b'-', b'0', *digit]);
        }
        [.., b'e', b'-' | b'+', _, _] | [.., b'e', b'-' | b'+', _, _, _] => sink.write(text),
        [mantissa @ .., b'e', tens, ones] => {
            sink.write(mantissa);
            sink.write(&[b'e', b'+', *tens, *ones]);
        }
        [mantissa @ .., b'e', hundreds, tens, ones] => {
            sink.write(mantissa);
            sink.write(&[b'e', b'+', *hundreds, *tens, *ones]);
        }
        [b'-', magnitude @ ..] => {
            sink.push(b'-');
            write_small_fixed(magnitude, sink);
        }
        magnitude => write_small_fixed(magnitude, sink),
    }
}

/// Writes a number given as `0.0000ddd` in exponent form.
fn write_small_fixed<S: Sink>(text: &[u8], sink: &mut S) {
    let fraction = text.strip_prefix(b"0.").unwrap_or(text);
    let zeros = fraction.iter().take_while(|byte| **byte == b'0').count();
    let (_, significant) = fraction.split_at(zeros);
    if let Some((first, rest)) = significant.split_first() {
        sink.push(*first);
        if !rest.is_empty() {
            sink.push(b'.');
            sink.write(rest);
        }
    }
    let exponent = zeros + 1;
    sink.write(if exponent < 10 { b"e-0" } else { b"e-" });
    sink.write(itoa::Buffer::new().format(exponent).as_bytes());
}
