//! How much the ledger takes at a time, and how long anybody waits for it.

use std::time::Duration;

/// The bounds of one open ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most transactions that wait for the writer. Beyond that, callers wait for a place.
    pub queued: usize,
    /// The most transactions in one commit.
    pub batch: usize,
    /// How long a caller waits for a place in the queue before it is told that the ledger is busy.
    pub place_wait: Duration,
    /// How long a transaction waits for the write lock that another process holds.
    pub lock_wait: Duration,
    /// How long a caller waits for its answer. Only a disk that hangs takes so long.
    pub answer_wait: Duration,
    /// The most reads at once.
    pub readers: usize,
    /// How long a read waits for its turn.
    pub reader_wait: Duration,
    /// The pages that the writing connection keeps in memory, in KiB. Rows are spread over the file by their digests.
    pub writer_cache_kib: u32,
    /// The pages that each reading connection keeps in memory, in KiB.
    pub reader_cache_kib: u32,
}

impl Limits {
    /// For a program that is one of many on somebody's machine: what it does not keep in memory, the operating system does.
    pub fn of_one_among_many() -> Self {
        Self {
            readers: 4,
            writer_cache_kib: 2 * 1024,
            reader_cache_kib: 512,
            ..Self::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queued: 1024,
            batch: 256,
            place_wait: Duration::from_secs(5),
            lock_wait: Duration::from_secs(5),
            answer_wait: Duration::from_mins(1),
            readers: 16,
            reader_wait: Duration::from_secs(5),
            writer_cache_kib: 32 * 1024,
            reader_cache_kib: 4 * 1024,
        }
    }
}
