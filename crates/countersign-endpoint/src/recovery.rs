//! Recovery at start: actions whose executor is gone become ambiguous.

use crate::action::Action;
use crate::epoch::EpochSeconds;
use crate::execution::Finished;
use crate::identifier::InstanceId;

/// A process's lease on executing, as the ledger holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceLease {
    /// The process.
    pub instance: InstanceId,
    /// When the lease ends.
    pub expires_at: EpochSeconds,
}

/// Proof that an executor cannot be running any more.
#[derive(Debug, Clone)]
pub struct ExecutorGone(Proof);

#[derive(Debug, Clone)]
enum Proof {
    ExpiredLease(InstanceId),
    ExclusiveLedger { holder: InstanceId },
}

impl ExecutorGone {
    /// Proves it of one process by its expired lease; `None` while the lease lives.
    ///
    /// `now` must be the time of the clock that the lease was written by.
    pub fn by_expired_lease(lease: &InstanceLease, now: EpochSeconds) -> Option<Self> {
        (now >= lease.expires_at).then(|| Self(Proof::ExpiredLease(lease.instance.clone())))
    }

    /// Proves it of every process but the holder of an exclusive lock on the ledger.
    ///
    /// Call it only while holding a lock that every executor holds, and that dies with its process.
    pub fn by_exclusive_ledger_lock(holder: InstanceId) -> Self {
        Self(Proof::ExclusiveLedger { holder })
    }

    fn covers(&self, executor: &InstanceId) -> bool {
        match &self.0 {
            Proof::ExpiredLease(instance) => instance == executor,
            Proof::ExclusiveLedger { holder } => holder != executor,
        }
    }
}

/// Makes an executing action ambiguous if the proof covers its executor; `None` leaves it alone.
///
/// Actions in any other state are never touched: prepared ones wait for their PUT.
pub fn recover(action: Action, gone: &ExecutorGone, now: EpochSeconds) -> Option<Finished> {
    match action {
        Action::Executing(executing) if gone.covers(executing.executor()) => {
            Some(Finished::new(executing.lose(now)))
        }
        Action::Executing(_) | Action::Prepared(_) | Action::Settled(_) => None,
    }
}
