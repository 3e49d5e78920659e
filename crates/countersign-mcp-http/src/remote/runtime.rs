//! What every connection to a server runs on.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle};

/// How many threads move bytes, for all servers together. What takes long happens elsewhere.
const WORKERS: usize = 2;

/// The threads on which all servers are called. Clones are the same.
///
/// Where the last clone goes, everything that is still under way ends without a word: keep one as long as there are connections.
#[derive(Clone)]
pub struct Runtime(Arc<Threads>);

struct Threads {
    runtime: Option<tokio::runtime::Runtime>,
    handle: Handle,
}

impl Runtime {
    /// Starts the threads.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("countersign-http")
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self(Arc::new(Threads {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })))
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.0.handle
    }
}

impl Drop for Threads {
    /// Waits for nothing: it may happen on one of the threads themselves.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runtime").finish_non_exhaustive()
    }
}
