//! Time on the wire: whole seconds of UTC, 1970 to 9999.

use std::fmt;

/// A portable point in time: whole seconds since 1970-01-01T00:00:00Z, up to 9999-12-31T23:59:59Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcSecond(u64);

/// The last second that has a portable form: 9999-12-31T23:59:59Z.
pub const MAX_UNIX_SECONDS: u64 = 253_402_300_799;

const SECONDS_PER_DAY: u64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01 in the proleptic Gregorian calendar.
const DAYS_TO_EPOCH: u64 = 719_468;
const DAYS_PER_ERA: u64 = 146_097;

impl UtcSecond {
    /// 9999-12-31T23:59:59Z.
    pub const MAX: Self = Self(MAX_UNIX_SECONDS);

    /// Takes seconds since the epoch, when they are portable.
    #[must_use]
    pub fn new(seconds: u64) -> Option<Self> {
        (seconds <= MAX_UNIX_SECONDS).then_some(Self(seconds))
    }

    /// Seconds since the epoch.
    #[must_use]
    pub fn as_unix_seconds(self) -> u64 {
        self.0
    }

    /// The time `seconds` later, when that is still portable.
    #[must_use]
    pub fn checked_add(self, seconds: u64) -> Option<Self> {
        self.0.checked_add(seconds).and_then(Self::new)
    }
}

impl fmt::Display for UtcSecond {
    /// Writes `YYYY-MM-DDTHH:MM:SSZ`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0 / SECONDS_PER_DAY);
        let second_of_day = self.0 % SECONDS_PER_DAY;
        let (hour, minute, second) = (
            second_of_day / 3600,
            second_of_day / 60 % 60,
            second_of_day % 60,
        );
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

/// The civil date of a day count since the epoch: years counted from March in 400-year eras.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + DAYS_TO_EPOCH;
    let era = shifted / DAYS_PER_ERA;
    let day_of_era = shifted % DAYS_PER_ERA;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// A UTC time text with second precision, `YYYY-MM-DDTHH:MM:SSZ`, of a date that exists (year 1 to 9999).
///
/// Kept as text: a tool's own clock may say a time before 1970.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp([u8; 20]);

impl Timestamp {
    /// Reads the text; ASCII digits only.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 20] = text.as_bytes().try_into().ok()?;
        let [
            y1,
            y2,
            y3,
            y4,
            b'-',
            m1,
            m2,
            b'-',
            d1,
            d2,
            b'T',
            h1,
            h2,
            b':',
            n1,
            n2,
            b':',
            s1,
            s2,
            b'Z',
        ] = bytes
        else {
            return None;
        };
        let year = number(&[y1, y2, y3, y4])?;
        let month = number(&[m1, m2])?;
        let day = number(&[d1, d2])?;
        let exists = year >= 1
            && (1..=days_in_month(year, month)?).contains(&day)
            && number(&[h1, h2])? < 24
            && number(&[n1, n2])? < 60
            && number(&[s1, s2])? < 60;
        exists.then_some(Self(bytes))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // INVARIANT: only ASCII passes `parse`.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl From<UtcSecond> for Timestamp {
    fn from(time: UtcSecond) -> Self {
        let second_of_day = time.0 % SECONDS_PER_DAY;
        let (year, month, day) = civil_from_days(time.0 / SECONDS_PER_DAY);
        let mut bytes = *b"0000-00-00T00:00:00Z";
        let fields = [
            (0, year / 100),
            (2, year % 100),
            (5, month),
            (8, day),
            (11, second_of_day / 3600),
            (14, second_of_day / 60 % 60),
            (17, second_of_day % 60),
        ];
        for (position, value) in fields {
            if let Some([tens, units]) = bytes.get_mut(position..position + 2) {
                *tens += u8::try_from(value / 10).unwrap_or_default();
                *units += u8::try_from(value % 10).unwrap_or_default();
            }
        }
        Self(bytes)
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| {
        digit
            .is_ascii_digit()
            .then(|| value * 10 + u32::from(digit - b'0'))
    })
}

fn days_in_month(year: u32, month: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if leap { 29 } else { 28 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seconds_have_their_known_texts() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_784_419_200, "2026-07-19T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (MAX_UNIX_SECONDS, "9999-12-31T23:59:59Z"),
        ] {
            let time = UtcSecond::new(seconds).unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(Timestamp::from(time).as_str(), text);
            assert_eq!(Timestamp::parse(text).unwrap(), Timestamp::from(time));
        }
        assert_eq!(UtcSecond::new(MAX_UNIX_SECONDS + 1), None);
        assert_eq!(UtcSecond::MAX.checked_add(1), None);
    }

    #[test]
    fn only_dates_that_exist_are_read() {
        for good in [
            "0001-01-01T00:00:00Z",
            "2024-02-29T23:59:59Z",
            "1969-12-31T00:00:00Z",
        ] {
            assert!(Timestamp::parse(good).is_some(), "{good}");
        }
        for bad in [
            "0000-01-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-04-31T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T00:00:00Z\n",
            "2024-01-01T00:00:00",
            "２024-01-01T00:00Z",
            "",
        ] {
            assert!(Timestamp::parse(bad).is_none(), "{bad}");
        }
    }
}
