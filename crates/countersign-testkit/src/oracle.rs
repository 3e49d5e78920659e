//! What the simulation knows, whatever the ledger says: who approved what, what was asked of the ledger and how it answered,
//! and what callers were told.

use countersign_canonical::Value;
use countersign_contract::Scope;
use countersign_ledger::{AuditEntry, Moment};
use countersign_policy::{Approval, ApprovalEvidence};

/// Under what something was sent, judged when it was sent.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that has to be so, and an invariant names the one that is not"
)]
#[derive(Clone, Debug)]
pub(crate) struct Warrant {
    /// The approval that it was sent under; none where it was sent without.
    pub(crate) approval: Option<ApprovalEvidence>,
    /// The ledger's true time when that approval was to be consumed; none for a repetition.
    pub(crate) consumed_at: Option<Moment>,
    /// Whether a person gave that approval.
    pub(crate) is_given: bool,
    /// Whether its digest is that of this very call under this very contract.
    pub(crate) is_exact: bool,
    /// Whether the approver was one at any time since the attempt began.
    pub(crate) was_entitled: bool,
    /// Whether the subject might act at any time since the attempt began.
    pub(crate) was_authorized: bool,
    /// Whether the contract was registered at any time since the attempt began.
    pub(crate) was_registered: bool,
}

/// Whether something that was to be written is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It was asked for; nobody has answered yet.
    Pending,
    /// The ledger answered that it is.
    Acked,
    /// The ledger answered that it is not.
    Absent,
    /// Nobody can tell.
    Unknown,
}

/// Something that was to be written, and that shows in the audit trail by a text of its own.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// How the names of its events begin.
    pub(crate) event: &'static str,
    /// The detail that holds the text.
    pub(crate) detail: &'static str,
    /// The text.
    pub(crate) text: String,
    pub(crate) standing: Standing,
}

/// A success that a caller was told of.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) scope: Scope,
    pub(crate) data: Value,
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    /// Approvals that people gave, or tried to.
    pub(crate) given: Vec<ApprovalEvidence>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) told: Vec<Told>,
    /// Approvals that people signed apart from any ledger, as callers keep them.
    pub(crate) signed: Vec<Approval>,
    /// The audit trail as far as it was read.
    pub(crate) trail: Vec<AuditEntry>,
}

impl Oracle {
    /// Something is about to be asked of the ledger.
    pub(crate) fn pends(&mut self, event: &'static str, detail: &'static str, text: String) {
        self.facts.push(Fact {
            event,
            detail,
            text,
            standing: Standing::Pending,
        });
    }

    /// The ledger has answered about what was asked last.
    pub(crate) fn stands(&mut self, standing: Standing) {
        if let Some(fact) = self.facts.last_mut() {
            fact.standing = standing;
        }
    }
}

/// A member of an entry's details.
pub(crate) fn detail<'e>(entry: &'e AuditEntry, name: &str) -> Option<&'e Value> {
    member(&entry.value, &["details", name])
}

/// A member of an entry's operation.
pub(crate) fn of_operation<'e>(entry: &'e AuditEntry, name: &str) -> Option<&'e str> {
    member(&entry.value, &["operation", name])?.as_str()
}

pub(crate) fn member<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter()
        .try_fold(value, |value, name| value.as_object()?.get(name))
}
