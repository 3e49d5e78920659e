//! The durable ledger in one SQLite file.
//!
//! [`SqliteBackend`] keeps the tables of `countersign-ledger`. Beneath it, [`Engine`] is one open file: a single writer whose commits take in all callers that wait, readers beside it, and
//! whoever waits for a change of any process.
//!
//! Invariants:
//! - Whoever was answered finds it on disk after any crash: the answer follows the commit, and the commit follows `fsync`.
//! - A transaction is wholly there or not at all, also when its neighbours in the same commit fail.
//! - An error says that nothing was written, except [`Error::Unconfirmed`](countersign_dispatch::ledger::Error::Unconfirmed), which says that nobody knows.
//! - A file that others could read or change, or that is reached through a link, is not opened.
//! - Several processes may use one file; every wait for another has a bound.
//! - No path, SQL text or stored value is in an error.
//!
//! Module map: `backend` and `tables` (what is kept; `keys`), `engine` (one open ledger), `writer` (group commit; its queue, jobs, batches and checkpoints), `readers`,
//! `watch` (waiting for changes); `file` (which files are accepted), `connection` (how they are opened), `schema`
//! (versions and migrations), `check` and `inspect` (whether it is whole), `prune`,
//! `backup`; `limits`, `clock`, `error`.

mod backend;
mod backup;
mod check;
mod clock;
mod connection;
mod engine;
mod error;
mod file;
mod inspect;
mod keys;
mod limits;
mod prune;
mod readers;
mod schema;
mod tables;
mod watch;
mod writer;

pub use backend::{LEDGER, SqliteBackend};
pub use backup::restore;
pub use clock::MachineClock;
pub use engine::Engine;
pub use error::{Classify, OpenError};
pub use file::{Part, Refusal};
pub use inspect::{Checked, Finding, MAX_FINDINGS};
pub use limits::Limits;
pub use schema::{Migration, Pending, Schema};
pub use writer::Counts;
