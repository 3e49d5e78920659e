use crate::{Number, ParseErrorKind, parse_error::Fault, scan::plain_prefix};

/// A position in the text of a document, and the tokens that start there.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    bytes: &'a [u8],
    offset: usize,
    // The text of a string with escapes, before its length is known.
    unescaped: String,
}

/// A number token, or the fact that no double holds it.
pub(crate) enum NumberToken {
    Finite(Number),
    Overflow,
}

type Outcome<T> = Result<T, Fault>;

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self::at(text, 0)
    }

    pub(crate) fn at(text: &'a str, offset: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            offset,
            unescaped: String::new(),
        }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.offset).copied()
    }

    #[inline]
    pub(crate) fn advance(&mut self) {
        self.offset += 1;
    }

    /// Skips white space and looks at what follows.
    #[inline]
    pub(crate) fn peek_token(&mut self) -> Option<u8> {
        loop {
            let byte = self.peek()?;
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.offset += 1;
        }
    }

    /// An error at this position, or at the end of the text if that is reached.
    #[cold]
    pub(crate) fn fault(&self, kind: ParseErrorKind) -> Fault {
        if self.offset >= self.bytes.len() {
            Fault {
                kind: ParseErrorKind::UnexpectedEnd,
                offset: self.bytes.len(),
            }
        } else {
            Fault {
                kind,
                offset: self.offset,
            }
        }
    }

    /// Reads a literal whose first letter has been seen.
    pub(crate) fn literal(&mut self, literal: &str) -> Outcome<()> {
        for expected in literal.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.fault(ParseErrorKind::ExpectedValue));
            }
            self.advance();
        }
        Ok(())
    }

    /// Says what is wrong with something that starts no value.
    #[cold]
    pub(crate) fn no_value(&self) -> Fault {
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let constant = [&b"NaN"[..], b"Infinity", b"-Infinity"]
            .iter()
            .any(|constant| rest.starts_with(constant));
        self.fault(if constant {
            ParseErrorKind::NonFiniteConstant
        } else {
            ParseErrorKind::ExpectedValue
        })
    }

    /// Reads a number whose first character, a digit or a minus sign, has been seen.
    pub(crate) fn number(&mut self) -> Outcome<NumberToken> {
        let start = self.offset;
        let negative = self.peek() == Some(b'-');
        if negative {
            self.advance();
        }
        let first_digit = self.offset;
        let small = match self.peek() {
            Some(b'0') => {
                self.advance();
                if matches!(self.peek(), Some(b'0'..=b'9')) {
                    return Err(self.fault(ParseErrorKind::InvalidNumber));
                }
                0
            }
            Some(b'1'..=b'9') => self.digits_behind(0),
            Some(b'I') if negative => {
                self.offset = start;
                return Err(self.no_value());
            }
            Some(_) | None => return Err(self.fault(ParseErrorKind::InvalidNumber)),
        };
        let digits = self.offset - first_digit;
        if matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return self.float(start, small, digits);
        }
        if digits <= 18 {
            let value = if negative { -small } else { small };
            return Ok(NumberToken::Finite(value.into()));
        }
        if digits > ParseErrorKind::MAX_INTEGER_DIGITS {
            return Err(Fault {
                kind: ParseErrorKind::IntegerTooLong,
                offset: start,
            });
        }
        Ok(NumberToken::Finite(Number::from_decimal(self.since(start))))
    }

    /// Reads digits that continue an integer. Its value means something up to
    /// 18 of them.
    #[inline]
    fn digits_behind(&mut self, before: i64) -> i64 {
        let mut value = before;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            value = value.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.offset += 1;
        }
        value
    }

    /// Reads the rest of a number that started at `start`, is no integer, and
    /// has `whole` in `whole_digits` before its point.
    fn float(&mut self, start: usize, whole: i64, whole_digits: usize) -> Outcome<NumberToken> {
        let mut significand = whole;
        let mut fraction_digits = 0;
        if self.peek() == Some(b'.') {
            self.advance();
            let first = self.offset;
            significand = self.digits_behind(whole);
            fraction_digits = self.some_digits_since(first)?;
        }
        let mut exponent = 0;
        let mut exponent_digits = 0;
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.advance();
            let sign = self.peek();
            if matches!(sign, Some(b'+' | b'-')) {
                self.advance();
            }
            let first = self.offset;
            exponent = self.digits_behind(0);
            exponent_digits = self.some_digits_since(first)?;
            if sign == Some(b'-') {
                exponent = exponent.wrapping_neg();
            }
        }
        let text = self.since(start);
        let short = whole_digits + fraction_digits <= 15 && exponent_digits <= 4;
        let scale = exponent.wrapping_sub(i64::try_from(fraction_digits).unwrap_or(i64::MAX));
        let exact = if short {
            exact_double(significand, scale)
        } else {
            None
        };
        let value = match exact {
            Some(magnitude) if text.starts_with('-') => -magnitude,
            Some(magnitude) => magnitude,
            None => text
                .parse()
                .map_err(|_| self.fault(ParseErrorKind::InvalidNumber))?,
        };
        Ok(Number::from_f64(value).map_or(NumberToken::Overflow, NumberToken::Finite))
    }

    fn some_digits_since(&self, first: usize) -> Outcome<usize> {
        if self.offset == first {
            return Err(self.fault(ParseErrorKind::InvalidNumber));
        }
        Ok(self.offset - first)
    }

    /// Reads a string whose opening quote has been seen.
    #[inline]
    pub(crate) fn string(&mut self) -> Outcome<String> {
        self.advance();
        let start = self.offset;
        self.skip_plain();
        if self.peek() == Some(b'"') {
            let plain = self.since(start).to_owned();
            self.advance();
            return Ok(plain);
        }
        self.string_with_escapes(start)
    }

    fn string_with_escapes(&mut self, start: usize) -> Outcome<String> {
        self.unescaped.clear();
        self.unescaped.push_str(self.since(start));
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.advance();
                    return Ok(self.unescaped.as_str().to_owned());
                }
                Some(b'\\') => {
                    let character = self.escape()?;
                    self.unescaped.push(character);
                }
                Some(_) | None => return Err(self.fault(ParseErrorKind::ControlCharacter)),
            }
            let run = self.offset;
            self.skip_plain();
            self.unescaped.push_str(self.since(run));
        }
    }

    /// Reads an escape whose backslash has been seen.
    fn escape(&mut self) -> Outcome<char> {
        let start = self.offset;
        self.advance();
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode_escape(start),
            Some(_) => {
                return Err(Fault {
                    kind: ParseErrorKind::InvalidEscape,
                    offset: start,
                });
            }
            None => return Err(self.fault(ParseErrorKind::UnexpectedEnd)),
        };
        self.advance();
        Ok(character)
    }

    fn unicode_escape(&mut self, start: usize) -> Outcome<char> {
        let lone = Fault {
            kind: ParseErrorKind::LoneSurrogate,
            offset: start,
        };
        let unit = self.four_digits(start)?;
        if let Some(character) = char::from_u32(unit) {
            return Ok(character);
        }
        if unit >= 0xdc00 || self.peek() != Some(b'\\') {
            return Err(lone);
        }
        let low_start = self.offset;
        self.advance();
        if self.peek() != Some(b'u') {
            return Err(lone);
        }
        let low = self.four_digits(low_start)?;
        if !(0xdc00..0xe000).contains(&low) {
            return Err(lone);
        }
        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).ok_or(lone)
    }

    /// Reads the hexadecimal digits of an escape that started at `start`.
    fn four_digits(&mut self, start: usize) -> Outcome<u32> {
        self.advance();
        let mut unit = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else {
                return Err(self.fault(ParseErrorKind::UnexpectedEnd));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(Fault {
                    kind: ParseErrorKind::InvalidEscape,
                    offset: start,
                });
            };
            unit = unit * 16 + digit;
            self.advance();
        }
        Ok(unit)
    }

    #[inline]
    fn skip_plain(&mut self) {
        self.offset += plain_prefix::<false>(self.bytes.get(self.offset..).unwrap_or_default());
    }

    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.offset).unwrap_or_default()
    }
}

/// The double nearest to `significand * 10^scale`, where one rounding of exact
/// doubles gives it: a significand below 10^15 and a power of ten below 10^23.
#[inline]
fn exact_double(significand: i64, scale: i64) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let power = POWERS.get(usize::try_from(scale.unsigned_abs()).ok()?)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "integers below 10^15 are exact doubles"
    )]
    let significand = significand as f64;
    Some(if scale < 0 {
        significand / power
    } else {
        significand * power
    })
}
