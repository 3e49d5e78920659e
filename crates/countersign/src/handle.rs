//! Handles of operations, as people give them: whole, or their beginning.

use std::str::FromStr;

use anyhow::{anyhow, bail};
use countersign_contract::StatusRef;
use countersign_ledger::{Cursor, Inspection, MAX_PAGE, OperationFilter};

use crate::ledger_advice::failed;

/// What every handle begins with.
const PREFIX: &str = "status_";
const DIGITS: usize = 32;
/// The fewest digits that name an operation.
const MIN_DIGITS: usize = 8;
/// The most pages of a ledger that are looked through for the beginning of a handle.
const MAX_PAGES: usize = 10_000;

/// A handle or its beginning: at least eight hex digits, with or without `status_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HandlePrefix(String);

impl FromStr for HandlePrefix {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).unwrap_or(text);
        let is_hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        if (MIN_DIGITS..=DIGITS).contains(&digits.len()) && digits.bytes().all(is_hex) {
            Ok(Self(format!("{PREFIX}{digits}")))
        } else {
            Err(
                "a handle is status_ and 32 hex digits, of which the first eight or more are enough",
            )
        }
    }
}

impl HandlePrefix {
    /// The one operation that it names.
    pub(crate) fn find(&self, ledger: &(impl Inspection + ?Sized)) -> anyhow::Result<StatusRef> {
        if let Some(whole) = StatusRef::parse(&self.0) {
            return Ok(whole);
        }
        // The text may be in a key or a subject as well; what counts is the handle.
        let filter = OperationFilter {
            text: Some(self.0.clone()),
            ..OperationFilter::default()
        };
        let (mut found, mut after): (Option<StatusRef>, Option<Cursor>) = (None, None);
        for _ in 0..MAX_PAGES {
            let page = ledger
                .operations(&filter, after, MAX_PAGE)
                .map_err(failed)?;
            for record in &page.items {
                let status_ref = record.terms.status_ref;
                if !status_ref.to_string().starts_with(&self.0) {
                    continue;
                }
                if found.replace(status_ref).is_some() {
                    bail!("several operations begin with {}: give more digits", self.0);
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        found.ok_or_else(|| self.unknown())
    }

    /// What is said where the ledger has none.
    pub(crate) fn unknown(&self) -> anyhow::Error {
        anyhow!(
            "the ledger has no operation {}: look it up with \"countersign operations list\", and name the right --ledger",
            self.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_of_lower_hex_are_the_least() {
        for good in ["0af08a74", "status_0af08a74", &"a".repeat(32)] {
            assert!(good.parse::<HandlePrefix>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "status_",
            "0af08a7",
            "status_0af08a7",
            "0AF08A74",
            "0af08a7g",
            &"a".repeat(33),
        ] {
            assert!(bad.parse::<HandlePrefix>().is_err(), "{bad}");
        }
    }
}
