//! What a back-end does: transactions, and waking those who wait for one.

use std::time::Duration;

use countersign_dispatch::ledger::Error;

use crate::tables::{Rows, Tables};

/// Keeps tables.
///
/// - **Durability**: what [`write`](Self::write) has answered lasts, whatever happens to the process or the machine.
/// - **Ordering**: transactions happen one after the other; a later one sees all of an earlier one. A read sees all that was
///   answered before it began.
/// - **Errors**: after an error nothing of the transaction lasts, save for [`Error::Unconfirmed`], after which nobody knows.
pub trait Backend: Send + Sync {
    /// Runs a transaction. Where the body fails, nothing of it lasts and its error comes out.
    ///
    /// The name is for whoever looks into what the back-end does. The body may run more than once; only its last run lasts.
    fn write<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static;

    /// Reads.
    fn read<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        F: FnOnce(&mut dyn Rows) -> Result<T, Error>;

    /// What has been written so far, as a number that grows.
    fn version(&self) -> Version;

    /// Waits until anybody, in whichever process, has written after `since`, or for so long. It may return early.
    ///
    /// Another process's write wakes within 100 ms.
    fn wait(&self, since: Version, at_most: Duration) -> Version;
}

/// A point in the order of writes, as one process sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);
