//! Whether a question about an operation still stands while nobody has answered it.

use std::time::Duration;

use countersign_contract::StatusRef;
use countersign_ledger::{StateKind, Version};

use crate::host_ledger::HostLedger;

/// How long one look waits for somebody to write.
const LOOK: Duration = Duration::from_millis(50);

/// A question that stands as long as an operation is in a state.
pub(crate) struct StandingQuestion<'l> {
    ledger: &'l dyn HostLedger,
    status_ref: StatusRef,
    state: StateKind,
    seen: Version,
}

impl<'l> StandingQuestion<'l> {
    /// A question about an operation, to be made before its state is looked at.
    pub(crate) fn new(ledger: &'l dyn HostLedger, status_ref: StatusRef, state: StateKind) -> Self {
        Self {
            seen: ledger.version(),
            ledger,
            status_ref,
            state,
        }
    }

    /// Looks whether somebody has settled it meanwhile, in whichever process. Where the ledger cannot say, it stands.
    pub(crate) fn is_overtaken(&mut self) -> bool {
        // Other processes' writes are noticed only while somebody waits for them.
        let version = self.ledger.wait(self.seen, LOOK);
        if version == self.seen {
            return false;
        }
        self.seen = version;
        match self.ledger.operation(&self.status_ref) {
            Ok(Some(found)) => found.record.kind() != self.state,
            Ok(None) => true,
            Err(_) => false,
        }
    }
}
