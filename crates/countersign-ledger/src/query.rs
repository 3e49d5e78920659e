//! Which operations somebody asks for, and where a page ends.

use countersign_contract::{TenantId, ToolName};

use crate::moment::Moment;
use crate::state::StateKind;

/// The most rows of one page.
pub const MAX_PAGE: usize = 1000;

/// Which operations are asked for: those that fit every member that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationFilter {
    /// In one of these states; empty for any.
    pub states: Vec<StateKind>,
    /// Of this tenant.
    pub tenant: Option<TenantId>,
    /// Of this tool.
    pub tool: Option<ToolName>,
    /// Opened before.
    pub opened_before: Option<Moment>,
    /// Opened at or after.
    pub opened_from: Option<Moment>,
    /// Only dead letters.
    pub dead_letters_only: bool,
    /// With this text, whatever the case of its ASCII letters, in tool, subject, key or handle.
    pub text: Option<String>,
}

/// Where a page ended: the next one begins behind it, whatever was written meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(u64);

impl Cursor {
    /// Takes a number that a back-end has given out.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// What is in it.
    pub items: Vec<T>,
    /// Where the next one begins; nothing where this is the last.
    pub next: Option<Cursor>,
}
