//! JSON numbers as the contract knows them: 63-bit integers and finite doubles.

/// The largest magnitude of an integer. `-2^63` is outside.
pub const INTEGER_MAX: i64 = i64::MAX;

/// A number that the contract admits.
///
/// `1` and `1.0` are different numbers: they are written, and so hashed,
/// differently. Equality compares what would be written.
#[derive(Debug, Clone, Copy)]
pub struct Number(NumberKind);

/// What a [`Number`] is.
#[derive(Debug, Clone, Copy)]
pub enum NumberKind {
    /// An integer between `-(2^63 - 1)` and `2^63 - 1`.
    Integer(i64),
    /// A finite double.
    Float(f64),
}

impl Number {
    /// Makes an integer; `None` for `-2^63`.
    pub fn from_integer(value: i64) -> Option<Self> {
        (value >= -INTEGER_MAX).then_some(Self(NumberKind::Integer(value)))
    }

    /// Makes a float; `None` for infinities and NaN.
    pub fn from_float(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(NumberKind::Float(value)))
    }

    /// The integer one.
    pub(crate) const ONE: Self = Self(NumberKind::Integer(1));

    /// Tells integers from floats.
    pub fn kind(self) -> NumberKind {
        self.0
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self.0 {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the nearest double is what is asked for"
            )]
            NumberKind::Integer(value) => value as f64,
            NumberKind::Float(value) => value,
        }
    }

    /// Whether the number is `1` or `1.0`.
    pub(crate) fn is_one(self) -> bool {
        match self.0 {
            NumberKind::Integer(value) => value == 1,
            #[expect(
                clippy::float_cmp,
                reason = "exactly one is what the contract asks for"
            )]
            NumberKind::Float(value) => value == 1.0,
        }
    }

    /// Whether the number is above zero, which `-0.0` is not.
    pub(crate) fn is_positive(self) -> bool {
        match self.0 {
            NumberKind::Integer(value) => value > 0,
            NumberKind::Float(value) => value > 0.0,
        }
    }

    /// Appends the canonical text, the same in both encodings.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self.0 {
            NumberKind::Integer(value) => out.extend_from_slice(value.to_string().as_bytes()),
            NumberKind::Float(value) => write_float(value, out),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (NumberKind::Integer(left), NumberKind::Integer(right)) => left == right,
            (NumberKind::Float(left), NumberKind::Float(right)) => {
                left.to_bits() == right.to_bits()
            }
            (NumberKind::Integer(_), NumberKind::Float(_))
            | (NumberKind::Float(_), NumberKind::Integer(_)) => false,
        }
    }
}

impl Eq for Number {}

/// Decimal exponents from here on are written in exponent form.
const EXPONENT_FORM_FROM: i32 = 16;
/// Decimal exponents below this one are written in exponent form.
const EXPONENT_FORM_BELOW: i32 = -4;

/// Whole doubles below this one, `2^53`, have the digits of the integer, as their neighbours are a half away at least.
const WHOLE_BELOW: f64 = 9_007_199_254_740_992.0;

/// Writes the shortest digits that round-trip, laid out as the contract lays them out:
/// `1784000000.0`, `0.0001`, `1e-05`, `1e+16`, `-0.0`.
fn write_float(value: f64, out: &mut Vec<u8>) {
    if value.fract() == 0.0 && value.abs() < WHOLE_BELOW && value != 0.0 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        let whole = value as i64;
        out.extend_from_slice(whole.to_string().as_bytes());
        out.extend_from_slice(b".0");
        return;
    }
    let scientific = shortest_scientific(value);
    let (sign, unsigned) = match scientific.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", scientific.as_str()),
    };
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));

    out.extend_from_slice(sign.as_bytes());
    if !(EXPONENT_FORM_BELOW..EXPONENT_FORM_FROM).contains(&exponent) {
        out.extend_from_slice(first.as_bytes());
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest.as_bytes());
        }
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{exponent_sign}{:02}", exponent.unsigned_abs()).as_bytes());
        return;
    }
    let places = exponent.unsigned_abs() as usize;
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', places - 1));
        out.extend_from_slice(first.as_bytes());
        out.extend_from_slice(rest.as_bytes());
        return;
    }
    out.extend_from_slice(first.as_bytes());
    if let Some((whole, fraction)) = rest.split_at_checked(places) {
        out.extend_from_slice(whole.as_bytes());
        out.push(b'.');
        out.extend_from_slice(if fraction.is_empty() {
            b"0"
        } else {
            fraction.as_bytes()
        });
    } else {
        out.extend_from_slice(rest.as_bytes());
        out.extend(std::iter::repeat_n(b'0', places - rest.len()));
        out.extend_from_slice(b".0");
    }
}

/// More digits than this are needed before two texts can be equally short and equally near.
const UNIQUE_DIGITS: usize = 15;

/// The shortest digits that round-trip, such as `-1.784e9`; of two equally near ones, those ending in an even digit.
fn shortest_scientific(value: f64) -> String {
    // The standard library's shortest form rounds such a tie up, its exact form rounds it to even.
    let shortest = format!("{value:e}");
    let mantissa = shortest.split('e').next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    if digits <= UNIQUE_DIGITS {
        return shortest;
    }
    let nearest = format!("{value:.places$e}", places = digits - 1);
    // Below a power of two the nearest digits can already belong to the next double.
    let survives = nearest
        .parse::<f64>()
        .is_ok_and(|read| read.to_bits() == value.to_bits());
    if survives { nearest } else { shortest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64) -> String {
        let mut out = Vec::new();
        Number::from_float(value).expect("finite").write(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn floats_are_laid_out_as_the_contract_says() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.7, "0.7"),
            (-2.5, "-2.5"),
            (100.0, "100.0"),
            (1_784_000_000.0, "1784000000.0"),
            (1_783_999_999.25, "1783999999.25"),
            (123_456_789_012_345.6, "123456789012345.6"),
            (0.0001, "0.0001"),
            (0.000_123, "0.000123"),
            (0.000_01, "1e-05"),
            (0.000_012_5, "1.25e-05"),
            (1e15, "1000000000000000.0"),
            (-1_784_000_000.0, "-1784000000.0"),
            (9_007_199_254_740_991.0, "9007199254740991.0"),
            (9_007_199_254_740_992.0, "9007199254740992.0"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.5e16, "1.5e+16"),
            (1e22, "1e+22"),
            (1e23, "1e+23"),
            (1e100, "1e+100"),
            (1e-100, "1e-100"),
            (5e-324, "5e-324"),
            (2.225_073_858_507_201_4e-308, "2.2250738585072014e-308"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (2_511_913_642.0 + 17.0 / 256.0, "2511913642.0664062"),
            (3_057_890_003.0 + 173.0 / 256.0, "3057890003.6757812"),
            (9_007_199_254_740_993.5, "9007199254740994.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (5.684_341_886_080_802e-14, "5.684341886080802e-14"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn both_ends_of_the_integers_are_symmetric() {
        assert!(Number::from_integer(i64::MAX).is_some());
        assert!(Number::from_integer(-i64::MAX).is_some());
        assert!(Number::from_integer(i64::MIN).is_none());
    }

    #[test]
    fn one_is_one_in_both_kinds_but_not_equal() {
        let float = Number::from_float(1.0).expect("finite");
        assert!(float.is_one() && Number::ONE.is_one());
        assert_ne!(float, Number::ONE);
        assert_ne!(Number::from_float(0.0), Number::from_float(-0.0));
    }

    #[test]
    fn what_is_not_finite_is_no_number() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Number::from_float(value).is_none());
        }
    }
}
