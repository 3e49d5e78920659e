use std::{fmt, hash::Hash};

/// A canonical encoding, as a type.
///
/// All forms are compact JSON with keys sorted by code point, exact integers,
/// and floats written with the fewest digits that read back as the same double
/// (`1.0`, `1e-05`, `1e+16`).
pub trait Form: Copy + Ord + Hash + fmt::Debug + sealed::Rules {}

/// A form that any value has. [`ToolResult`] is the one that only values of its domain have.
pub trait OpenForm: Form {}

/// The form of Tool Result v2: UTF-8, over a value domain of its own
/// ([`InDomain`](crate::InDomain)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolResult {}

/// The form whose text is ASCII: everything else is escaped, U+007F included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ascii {}

/// The form whose text is UTF-8: only what JSON requires is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Utf8 {}

impl Form for ToolResult {}
impl Form for Ascii {}
impl Form for Utf8 {}
impl OpenForm for Ascii {}
impl OpenForm for Utf8 {}

pub(crate) mod sealed {
    use super::{Ascii, ToolResult, Utf8};

    pub trait Rules {
        /// Whether everything outside printable ASCII is escaped.
        const ASCII_ONLY: bool;
        /// Whether values must be in the Tool Result v2 domain.
        const CHECKED: bool;
    }

    impl Rules for ToolResult {
        const ASCII_ONLY: bool = false;
        const CHECKED: bool = true;
    }

    impl Rules for Ascii {
        const ASCII_ONLY: bool = true;
        const CHECKED: bool = false;
    }

    impl Rules for Utf8 {
        const ASCII_ONLY: bool = false;
        const CHECKED: bool = false;
    }
}
