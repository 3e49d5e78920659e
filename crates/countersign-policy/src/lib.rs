//! Decisions about calls, and the proofs they mint.
//!
//! An [`Authorizer`] decides whether a principal may make a call; an [`ApproverDirectory`] knows who may approve it. What
//! they say becomes a value: [`Authorized`], and for a write [`Approved`]. The next step of the pipeline takes that value
//! as an argument, so that skipping a check does not compile.
//!
//! Invariants:
//! - `proof` alone mints [`Authorized`] and [`Approved`].
//! - Absent policy denies: [`RuleBook::default`] allows nothing.
//! - An approval proves one call only: arguments, key, principal, provider context, revisions, approver and time.
//!
//! Module map: `decision` (question and answer), `proof` (what an answer mints), `approval` (what is offered),
//! `rule_book` (a policy as data).

mod approval;
mod decision;
mod proof;
mod rule_book;

pub use approval::{Approval, read_approval};
pub use decision::{AccessRequest, ApprovalNeed, Authorizer, Decision};
pub use proof::{
    ApprovalEvidence, ApprovalRefusal, Approved, ApproverDirectory, ApproverStanding, Authorized,
};
pub use rule_book::{RuleBook, read_rule_book};
