//! Waiting for somebody to write.

use std::time::Duration;

use crate::backend::Version;

/// Tells when something was written, by whichever process.
///
/// A wait that begins with the version from before a look misses nothing that was written after it.
pub trait Changes {
    /// What has been written so far.
    fn version(&self) -> Version;

    /// Waits until something is written after `since`, or for so long.
    fn wait(&self, since: Version, at_most: Duration) -> Version;
}
