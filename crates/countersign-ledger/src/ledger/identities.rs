//! Call identities that no operation has yet: those of reads, and of writes that were refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use countersign_contract::CallFingerprint;
use countersign_dispatch::{CallBound, CallIdentity};

/// The most identities that are remembered; beyond it the oldest are forgotten.
const CAPACITY: usize = 100_000;

/// Remembers, within this process and for a while, what identities were first used for. Nothing acts on its word: what acts
/// is bound in the ledger itself.
#[derive(Debug, Default)]
pub(super) struct Identities(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    uses: HashMap<CallIdentity, CallFingerprint>,
    order: VecDeque<CallIdentity>,
}

impl Identities {
    pub(super) fn bind(&self, identity: &CallIdentity, fingerprint: &CallFingerprint) -> CallBound {
        // INVARIANT: nothing panics between the two changes, so that a poisoned lock guards a whole memory.
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match remembered.uses.get(identity) {
            Some(bound) if bound == fingerprint => return CallBound::Bound,
            Some(_) => return CallBound::Conflict,
            None => {}
        }
        if remembered.order.len() >= CAPACITY
            && let Some(oldest) = remembered.order.pop_front()
        {
            remembered.uses.remove(&oldest);
        }
        remembered.order.push_back(identity.clone());
        remembered.uses.insert(identity.clone(), *fingerprint);
        CallBound::Bound
    }
}
