//! The scenarios that ship with the program.

/// A fixture that reaches every code a fixture can reach, and every delivery.
#[must_use]
pub fn builtin() -> &'static [u8] {
    include_bytes!("../scenarios/builtin.json")
}
