//! How much was written.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a writer has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The transactions that were answered after a commit.
    pub transactions: u64,
    /// The commits: each made one or more transactions durable.
    pub commits: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    transactions: AtomicU64,
    commits: AtomicU64,
}

impl Counters {
    pub(super) fn count(&self, transactions: usize) {
        let transactions = u64::try_from(transactions).unwrap_or(u64::MAX);
        self.transactions.fetch_add(transactions, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Counts {
        Counts {
            transactions: self.transactions.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
        }
    }
}
