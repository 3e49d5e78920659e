//! A ledger in memory: for tests, demonstrations and single runs. It forgets everything when it is dropped.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_contract::{
    ApprovalDigest, ApprovalId, CallFingerprint, CheckedAnswer, Scope, StatusRef,
};

use crate::ledger::{CallBound, Error, Ledger, Proposed, Reserved, Settled};
use crate::operation::{
    CallIdentity, Fence, Lease, Operation, OperationState, Proposal, Reservation, Settlement,
};

/// The most call identities, and the most operations, that it holds.
const DEFAULT_CAPACITY: usize = 1_000_000;

/// A [`Ledger`] in memory. Shared by reference between threads.
#[derive(Debug)]
pub struct MemoryLedger {
    capacity: usize,
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    calls: HashMap<CallIdentity, CallFingerprint>,
    // Boxed, so that a growing table moves pointers only.
    operations: HashMap<Scope, Box<Held>>,
    scopes: HashMap<StatusRef, Scope>,
    consumed: HashSet<(ApprovalId, ApprovalDigest)>,
    last_fence: u64,
}

#[derive(Debug)]
struct Held {
    operation: Operation,
    approval: (ApprovalId, ApprovalDigest),
}

impl Default for MemoryLedger {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }
}

impl MemoryLedger {
    /// An empty ledger that holds at most so many call identities, and as many operations.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            capacity,
            tables: Mutex::default(),
        }
    }

    /// INVARIANT: no method panics between two changes, so that a poisoned lock guards whole tables.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn bind_call(
        &self,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<CallBound, Error> {
        let mut tables = self.tables();
        let is_full = tables.calls.len() >= self.capacity;
        match tables.calls.entry(identity.clone()) {
            Entry::Occupied(bound) if bound.get() == fingerprint => Ok(CallBound::Bound),
            Entry::Occupied(_) => Ok(CallBound::Conflict),
            Entry::Vacant(_) if is_full => Err(Error::Full {
                what: "call identities",
                limit: self.capacity,
            }),
            Entry::Vacant(free) => {
                free.insert(*fingerprint);
                Ok(CallBound::Bound)
            }
        }
    }

    /// Identities last as long as the ledger does, so that there is nothing to bind.
    fn find_operation(
        &self,
        scope: &Scope,
        _: &CallIdentity,
        _: &CallFingerprint,
    ) -> Result<Option<Operation>, Error> {
        Ok(self
            .tables()
            .operations
            .get(scope)
            .map(|held| held.operation.clone()))
    }

    fn find_queryable(&self, status_ref: &StatusRef) -> Result<Option<Operation>, Error> {
        let tables = self.tables();
        let found = tables
            .scopes
            .get(status_ref)
            .and_then(|scope| tables.operations.get(scope));
        Ok(found
            .map(|held| &held.operation)
            .filter(|operation| operation.is_queryable())
            .cloned())
    }

    /// Keeps nothing of it: here nobody can decide later.
    fn propose(&self, proposal: &Proposal<'_>) -> Result<Proposed, Error> {
        let tables = self.tables();
        let held = tables.operations.get(&proposal.scope);
        Ok(held.map_or(Proposed::Waiting, |held| {
            Proposed::Occupied(Box::new(held.operation.clone()))
        }))
    }

    fn reserve(&self, reservation: &Reservation<'_>) -> Result<Reserved, Error> {
        let mut tables = self.tables();
        let Tables {
            operations,
            scopes,
            consumed,
            last_fence,
            ..
        } = &mut *tables;
        let Reservation { proposal, approval } = reservation;
        let Proposal { scope, terms, .. } = proposal;
        let is_full = operations.len() >= self.capacity;
        let free = match operations.entry(scope.clone()) {
            Entry::Occupied(held) => {
                return Ok(Reserved::Occupied(Box::new(held.get().operation.clone())));
            }
            Entry::Vacant(_) if is_full => {
                return Err(Error::Full {
                    what: "operations",
                    limit: self.capacity,
                });
            }
            Entry::Vacant(free) => free,
        };
        let approval = (approval.approval_id.clone(), approval.digest);
        if !consumed.insert(approval.clone()) {
            return Ok(Reserved::ApprovalUnusable);
        }
        *last_fence += 1;
        let fence = Fence::new(*last_fence);
        let operation = Operation {
            scope: scope.clone(),
            terms: terms.clone(),
            state: OperationState::Executing(fence),
            was_unknown: false,
        };
        scopes.insert(terms.status_ref, scope.clone());
        free.insert(Box::new(Held {
            operation,
            approval,
        }));
        Ok(Reserved::Taken(Lease {
            fence,
            begin_within: Duration::MAX,
        }))
    }

    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, Error> {
        let mut tables = self.tables();
        let Some(held) = tables.operations.get_mut(scope) else {
            return Ok(Settled::Stale);
        };
        if held.operation.state != OperationState::Executing(fence) {
            return Ok(Settled::Stale);
        }
        match settlement {
            Settlement::Succeeded(answer) => {
                held.operation.state = OperationState::Succeeded(answer.clone());
            }
            Settlement::Unknown(_) => {
                held.operation.state = OperationState::Unknown;
                held.operation.was_unknown = true;
            }
            Settlement::Released(_) => {
                if let Some(held) = tables.operations.remove(scope) {
                    tables.consumed.remove(&held.approval);
                    tables.scopes.remove(&held.operation.terms.status_ref);
                }
            }
        }
        Ok(Settled::Written)
    }

    fn reconcile(&self, scope: &Scope, answer: &CheckedAnswer) -> Result<Settled, Error> {
        let mut tables = self.tables();
        let Some(Held { operation, .. }) = tables.operations.get_mut(scope).map(Box::as_mut) else {
            return Ok(Settled::Stale);
        };
        match &operation.state {
            OperationState::Executing(_) | OperationState::Unknown => {
                operation.state = OperationState::Succeeded(answer.clone());
                operation.was_unknown = true;
                Ok(Settled::Written)
            }
            OperationState::Succeeded(recorded) if recorded == answer => Ok(Settled::Written),
            OperationState::Reserved | OperationState::Succeeded(_) => Ok(Settled::Stale),
        }
    }
}
