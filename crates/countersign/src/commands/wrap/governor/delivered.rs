//! Answers that went out, and those of them that the client has shown to know.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_contract::Scope;
use countersign_mcp::RequestId;

/// The most writes whose answers have not gone out yet.
const MAX_ANSWERED: usize = 1024;

/// Follows the answers to writes until their client has shown to know them: each is answered, then written, then known.
#[derive(Default)]
pub(super) struct Delivered(Mutex<Stages>);

#[derive(Default)]
struct Stages {
    answered: BTreeMap<RequestId, Scope>,
    written: BTreeMap<RequestId, Scope>,
    known: Vec<Scope>,
}

impl Delivered {
    pub(super) fn is_answered(&self, id: RequestId, scope: Scope) {
        let mut stages = self.stages();
        if stages.answered.len() < MAX_ANSWERED {
            stages.answered.insert(id, scope);
        }
    }

    pub(super) fn is_written(&self, id: &RequestId) {
        let mut stages = self.stages();
        if let Some(scope) = stages.answered.remove(id) {
            stages.written.insert(id.clone(), scope);
        }
    }

    /// The client does not know this answer, whatever it sends later.
    pub(super) fn is_given_up(&self, id: &RequestId) {
        let mut stages = self.stages();
        stages.answered.remove(id);
        stages.written.remove(id);
    }

    /// The client knows every answer that was written.
    pub(super) fn is_going_on(&self) {
        let mut stages = self.stages();
        let written = std::mem::take(&mut stages.written);
        stages.known.extend(written.into_values());
    }

    /// Records what is known. What cannot be recorded stays for the next time.
    pub(super) fn acknowledge(
        &self,
        record: impl Fn(&Scope) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        // Held throughout, so that nobody asks in between.
        let mut stages = self.stages();
        while let Some(scope) = stages.known.last() {
            record(scope)?;
            stages.known.pop();
        }
        Ok(())
    }

    fn stages(&self) -> MutexGuard<'_, Stages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
