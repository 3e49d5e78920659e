//! Which operations somebody asks for, and where a page ends.

use countersign_contract::{TenantId, ToolName};

use crate::moment::Moment;
use crate::state::StateKind;
use crate::tables::OperationRow;

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

impl OperationFilter {
    /// Tells whether a row fits every member that is there.
    #[must_use]
    pub fn lets_through(&self, row: &OperationRow) -> bool {
        let scope = &row.scope;
        let has = |wanted: &str| {
            let wanted = wanted.to_ascii_lowercase();
            let texts = [
                scope.tool.as_str(),
                scope.subject_id.as_str(),
                scope.key.as_str(),
                &row.status_ref.to_string(),
            ];
            texts
                .iter()
                .any(|text| text.to_ascii_lowercase().contains(&wanted))
        };
        (self.states.is_empty() || self.states.contains(&row.state))
            && self
                .tenant
                .as_ref()
                .is_none_or(|tenant| scope.tenant_id == *tenant)
            && self.tool.as_ref().is_none_or(|tool| scope.tool == *tool)
            && self
                .opened_before
                .is_none_or(|before| row.opened_at < before)
            && self.opened_from.is_none_or(|from| row.opened_at >= from)
            && (!self.dead_letters_only || row.is_dead_letter)
            && self.text.as_deref().is_none_or(has)
    }
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
