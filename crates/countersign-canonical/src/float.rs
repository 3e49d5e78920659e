use crate::sink::Sink;

/// Writes a finite double with the fewest digits that read back as itself, in
/// exponent form below 1e-4 and from 1e16 on.
pub(crate) fn write_float<S: Sink>(value: f64, sink: &mut S) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    let magnitude = value.abs();
    let fixed = magnitude == 0.0 || (1e-4..1e16).contains(&magnitude);
    if fixed || is_exponent_form(text.as_bytes()) {
        sink.write(text.as_bytes());
    } else {
        write_exponent_form(text, sink);
    }
}

/// Whether digits are already written as `d.ddde±dd`.
fn is_exponent_form(text: &[u8]) -> bool {
    let magnitude = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = magnitude.splitn(2, |byte| *byte == b'e');
    let (Some(mantissa), Some([b'+' | b'-', _, _, ..])) = (parts.next(), parts.next()) else {
        return false;
    };
    match mantissa {
        [b'1'..=b'9'] => true,
        [b'1'..=b'9', b'.', .., last] => *last != b'0',
        _ => false,
    }
}

/// Rewrites any decimal notation of a number other than zero as `d.ddde±dd`.
fn write_exponent_form<S: Sink>(text: &str, sink: &mut S) {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", text),
    };
    let (mantissa, exponent) = magnitude.split_once('e').unwrap_or((magnitude, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let written: i64 = exponent.parse().unwrap_or_default();

    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    let leading_zeros = digits.len() - significant.len();
    let point = i64::try_from(whole.len()).unwrap_or_default()
        - i64::try_from(leading_zeros).unwrap_or_default();
    let exponent = written + point - 1;

    let (first, rest) = significant.split_at(significant.len().min(1));
    let rest = rest.trim_end_matches('0');
    sink.write(sign.as_bytes());
    sink.write(first.as_bytes());
    if !rest.is_empty() {
        sink.write(b".");
        sink.write(rest.as_bytes());
    }
    sink.write(if exponent < 0 { b"e-" } else { b"e+" });
    if exponent.abs() < 10 {
        sink.write(b"0");
    }
    sink.write(itoa::Buffer::new().format(exponent.abs()).as_bytes());
}
