//! Ending a listener from outside.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells a listener to end, from any thread, once and for all.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// One that has not been asked for yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Asks for the end.
    pub fn request(&self) {
        self.0.send_replace(true);
    }

    /// Whether the end has been asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the end is asked for.
    pub(crate) async fn requested(&self) {
        // The sender lives as long as this does.
        let _ = self
            .0
            .subscribe()
            .wait_for(|is_requested| *is_requested)
            .await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
