//! Digests that a document claims, against those it should have.

use countersign_canonical::{Digest, Form, Value};

use crate::fault::{FieldReason, Kind, Reason, ValueReason};
use crate::grammar::Grammar;

/// Reads a digest as a document claims it.
pub(crate) fn claimed<F: Form>(value: &Value) -> Result<Digest<F>, Reason> {
    let text = value.as_str().ok_or(FieldReason::MustBe(Kind::Text))?;
    Digest::parse_hex(text).map_err(|_| ValueReason::NotOfGrammar(Grammar::Sha256).into())
}

/// Compares two digests in a time that does not depend on where they differ.
pub(crate) fn equal_in_constant_time<F: Form>(left: &Digest<F>, right: &Digest<F>) -> bool {
    let differences = left
        .as_bytes()
        .iter()
        .zip(right.as_bytes())
        .fold(0, |found, (left, right)| found | (left ^ right));
    std::hint::black_box(differences) == 0
}

/// Writes a digest as 64 lower-case hexadecimal digits.
pub(crate) fn hex<F: Form>(digest: &Digest<F>) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    digest
        .as_bytes()
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
