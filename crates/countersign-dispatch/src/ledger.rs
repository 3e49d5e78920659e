//! The port to what is stored.

use countersign_contract::{CallFingerprint, CheckedAnswer, Scope, StatusRef};

use crate::operation::{CallIdentity, Fence, Lease, Operation, Proposal, Reservation, Settlement};

/// Stores call identities and operations.
///
/// Every method is atomic: of two callers, one is wholly before the other. What a method has answered is as durable as
/// the ledger is. An error says that nothing was written, save for [`Error::Unconfirmed`].
pub trait Ledger {
    /// Binds a call identity to what it is first used for. Repeatable.
    ///
    /// The identity of a write lasts as long as its operation; that of a read may be forgotten after a while.
    fn bind_call(
        &self,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<CallBound, Error>;

    /// Finds the operation that holds a scope, and binds the call to it for as long as the operation lasts. Repeatable.
    ///
    /// An operation that is proven to have had no effect holds no scope; nor does one that nobody has decided about.
    fn find_operation(
        &self,
        scope: &Scope,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<Option<Operation>, Error>;

    /// Finds an operation by its handle, where its status can be asked for.
    fn find_queryable(&self, status_ref: &StatusRef) -> Result<Option<Operation>, Error>;

    /// Records that a write waits for a person's decision. Repeatable.
    fn propose(&self, proposal: &Proposal<'_>) -> Result<Proposed, Error>;

    /// Takes a free scope and consumes the approval, both or neither. The operation is executing from then on.
    fn reserve(&self, reservation: &Reservation<'_>) -> Result<Reserved, Error>;

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

/// What became of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposed {
    /// It waits for a decision.
    Waiting,
    /// It was denied or nobody decided in time, not long ago.
    Refused,
    /// Too many writes of this subject wait already.
    TooManyWaiting,
    /// Meanwhile the call's identity was used for something else.
    CallConflict,
    /// The scope is taken.
    Occupied(Box<Operation>),
}

/// What became of a reservation.
#[derive(Clone, Debug, PartialEq)]
pub enum Reserved {
    /// The scope was free and is taken.
    Taken(Lease),
    /// Somebody else was first.
    Occupied(Box<Operation>),
    /// The approval has been used for something else, or is too old by the ledger's clock.
    ApprovalUnusable,
    /// Meanwhile the call's identity was used for something else.
    CallConflict,
}

/// What became of settling an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is written.
    Written,
    /// The operation has moved on; nothing was written.
    Stale,
}

/// Why a ledger could not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A named limit is reached. Nothing was written.
    #[error("the ledger is full: it holds at most {limit} {what}")]
    Full {
        /// What it is full of.
        what: &'static str,
        /// How many it holds at most.
        limit: usize,
    },
    /// Others were writing for as long as was waited. Nothing was written; the same may be asked again.
    #[error("the ledger is busy: others are writing to it; try again")]
    Busy,
    /// It cannot be reached or written. Nothing was written.
    #[error("the ledger is not available: {0}")]
    Unavailable(Cause),
    /// What is stored is not what was written.
    #[error("the ledger is damaged: {0}")]
    Damaged(&'static str),
    /// It was to be written, and whether it is could not be confirmed.
    #[error("the ledger did not confirm the write; it may or may not be there")]
    Unconfirmed,
}

/// Why a ledger cannot be reached or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// No space is left.
    #[error("the disk is full")]
    DiskFull,
    /// It may not be written.
    #[error("it is read-only")]
    ReadOnly,
    /// The medium does not do what it is told.
    #[error("the disk reports an error")]
    Io,
    /// It was closed, or whoever keeps it failed.
    #[error("it is closed")]
    Closed,
    /// A file that it needs cannot be opened or made.
    #[error("its files cannot be opened or created")]
    Files,
    /// Another file, or none, stands in its place.
    #[error("its file was moved, deleted or replaced while it was in use")]
    Moved,
    /// The machine gives it no memory or no thread.
    #[error("there is no memory or no thread left for it")]
    Resources,
    /// A transaction did what is forbidden, or panicked.
    #[error("a fault in the program stopped the transaction")]
    Fault,
    /// The clock shows a time that cannot be recorded.
    #[error("the clock shows a time before 1970 or after 9999")]
    Clock,
}
