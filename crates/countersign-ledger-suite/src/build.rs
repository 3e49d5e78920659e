//! What a back-end has to offer to be judged.

use std::path::{Path, PathBuf};

use countersign_ledger::Backend;

use crate::clock::SettableClock;

/// Makes one set of tables, empty at first, and connections to it. Another builder has other tables.
pub trait Build: Default + Send + Sync {
    /// What is judged.
    type Backend: Backend + 'static;

    /// Another connection to the same tables. Each may live in a thread of its own.
    fn open(&self) -> Self::Backend;

    /// The clock that all connections go by.
    fn clock(&self) -> &SettableClock;

    /// Changes what is stored, past the back-end: the so-manieth change of that part that the builder knows. Tells what was
    /// changed; nothing where there is no such change.
    fn tamper(&self, part: Part, number: usize) -> Option<String> {
        let (_, _) = (part, number);
        None
    }
}

/// Makes tables that several processes reach, and that outlast all connections.
pub trait BuildAcrossProcesses: Build {
    /// Where another process finds them.
    fn location(&self) -> PathBuf;

    /// The tables at a location, by a clock of this process.
    fn at(location: &Path, clock: SettableClock) -> Self;
}

/// What a tampering hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An operation's row: any column of it, or its document.
    Operation,
    /// What was asked for.
    Proposal,
    /// What was answered.
    Receipt,
    /// The generation of an intent.
    Intent,
    /// A standing approval.
    Grant,
    /// An entry of the audit trail.
    Audit,
}
