//! Times against a calendar that counts day by day.

use countersign_contract::{MAX_UNIX_SECONDS, Timestamp, UtcSecond};
use proptest::prelude::*;

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(400) || (year.is_multiple_of(4) && !year.is_multiple_of(100))
}

fn days_in_month(year: u64, month: u64) -> u64 {
    let february = if is_leap(year) { 29 } else { 28 };
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][usize::try_from(month - 1).unwrap()]
}

/// Walks from 1970 year by year and month by month.
fn naive_text(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut month) = (1970, 1);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    while days >= days_in_month(year, month) {
        days -= days_in_month(year, month);
        month += 1;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!(
        "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        days + 1
    )
}

fn naive_exists(fields: [u64; 6]) -> bool {
    let [year, month, day, hour, minute, second] = fields;
    (1..=9_999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60
}

proptest! {
    #[test]
    fn seconds_have_the_text_that_counting_gives(seconds in 0..=MAX_UNIX_SECONDS) {
        let time = UtcSecond::new(seconds).unwrap();
        let text = naive_text(seconds);
        prop_assert_eq!(time.to_string(), text.as_str());
        let written = Timestamp::from(time);
        prop_assert_eq!(written.as_str(), text.as_str());
        prop_assert_eq!(Timestamp::parse(&text), Some(written));
    }

    #[test]
    fn exactly_the_times_that_exist_are_read(
        (year, month, day) in (0_u64..10_000, 0_u64..14, 0_u64..33),
        (hour, minute, second) in (0_u64..26, 0_u64..62, 0_u64..62),
    ) {
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        let exists = naive_exists([year, month, day, hour, minute, second]);
        let read = Timestamp::parse(&text);
        prop_assert_eq!(read.as_ref().map(Timestamp::as_str), exists.then_some(text.as_str()));
    }

    #[test]
    fn other_character_anywhere_is_refused(
        seconds in 0..=MAX_UNIX_SECONDS,
        place in 0_usize..20,
        character in any::<char>().prop_filter("no digit", |character| !character.is_ascii_digit()),
    ) {
        let text = naive_text(seconds);
        let altered: String = text
            .chars()
            .enumerate()
            .map(|(index, held)| if index == place { character } else { held })
            .collect();
        prop_assert_eq!(Timestamp::parse(&altered).is_some(), altered == text);
        prop_assert!(Timestamp::parse(text.split_at(place).0).is_none());
        let longer = text.clone() + &character.to_string();
        prop_assert!(Timestamp::parse(&longer).is_none());
    }
}

#[test]
fn every_day_of_four_centuries_is_read_and_written() {
    let days = 146_097;
    for day in 0..days {
        let seconds = day * 86_400;
        let time = UtcSecond::new(seconds).unwrap();
        // Reading is checked against a calendar of its own, so text and calendar agree on every day.
        assert!(Timestamp::parse(&time.to_string()).is_some(), "{time}");
    }
    assert_eq!(
        UtcSecond::new(days * 86_400).unwrap().to_string(),
        "2370-01-01T00:00:00Z"
    );
}
