//! The port to what is stored.

use countersign_contract::{CallFingerprint, CheckedAnswer, Scope, StatusRef};

use crate::operation::{CallIdentity, Fence, Operation, Reservation, Settlement};

/// Stores call identities and operations.
///
/// Every method is atomic: of two callers, one is wholly before the other. What a method has answered is as durable as
/// the ledger is; an error says that nothing was written.
pub trait Ledger {
    /// Binds a call identity to what it is first used for. Repeatable.
    fn bind_call(
        &self,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<CallBound, Error>;

    /// Finds the operation of a scope.
    fn find_operation(&self, scope: &Scope) -> Result<Option<Operation>, Error>;

    /// Finds an operation by its handle, where its status can be asked for.
    fn find_queryable(&self, status_ref: &StatusRef) -> Result<Option<Operation>, Error>;

    /// Takes a free scope and consumes the approval, both or neither. The operation is executing from then on.
    fn reserve(&self, reservation: &Reservation) -> Result<Reserved, Error>;

    /// Settles an executing operation, if the fence is still its own.
    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, Error>;

    /// Turns an unknown operation into a success that a receipt proves. Repeatable.
    fn reconcile(&self, scope: &Scope, answer: &CheckedAnswer) -> Result<Settled, Error>;
}

/// What became of binding a call identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallBound {
    /// It is bound to this use, now or since earlier.
    Bound,
    /// It is bound to another use.
    Conflict,
}

/// What became of a reservation.
#[derive(Clone, Debug, PartialEq)]
pub enum Reserved {
    /// The scope was free and is taken.
    Taken(Fence),
    /// Somebody else was first.
    Occupied(Box<Operation>),
    /// The approval has been used for something else.
    ApprovalConsumed,
}

/// What became of settling an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is written.
    Written,
    /// The operation has moved on; nothing was written.
    Stale,
}

/// Why a ledger could not answer. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A named limit is reached.
    #[error("the ledger is full: it holds at most {limit} {what}")]
    Full {
        /// What it is full of.
        what: &'static str,
        /// How many it holds at most.
        limit: usize,
    },
    /// It cannot be reached or written.
    #[error("the ledger is not available")]
    Unavailable,
}
