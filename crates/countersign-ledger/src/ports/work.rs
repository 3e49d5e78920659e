//! Performing what is due.

use std::time::Duration;

use countersign_contract::{ErrorCode, Scope, ToolName};
use countersign_dispatch::Lease;
use countersign_dispatch::ledger::Error;

use crate::moment::Moment;
use crate::proposal::StoredProposal;
use crate::record::Record;
use crate::tables::OpenCounts;

/// Hands out what is due, and keeps track of who is alive.
///
/// - **Durability**: what was claimed stays due; a worker that dies costs a claim's length, or a lease's.
/// - **Ordering**: longest due first. Nobody is given what somebody else has claimed not long ago.
/// - **Idempotency**: every method may be repeated. None can make an operation act twice: a claim only spares others the
///   trouble, and what begins takes a fence in the pipeline's own step.
pub trait Work {
    /// Says that this host is alive, for a lease's length. To be repeated well within it.
    fn heartbeat(&self) -> Result<(), Error>;

    /// Says that this host holds nothing any more. What it still performs is recovered by others at once.
    fn leave(&self) -> Result<(), Error>;

    /// Claims operations of these tools that are approved and have not begun, or whose outcome is unknown.
    fn claim(&self, tools: &[ToolName], limit: usize) -> Result<Vec<Task>, Error>;

    /// The operation as a task, if it is there and open.
    fn task(&self, scope: &Scope) -> Result<Option<Task>, Error>;

    /// Lets the next worker look after a while. Nothing where the operation has moved on since the task was handed out.
    fn postpone(&self, task: &Task, delay: Duration) -> Result<(), Error>;

    /// Flags it for a person. Nothing where the operation has moved on since the task was handed out.
    fn give_up(&self, task: &Task) -> Result<(), Error>;

    /// Says that an approved operation must not begin any more, since something has changed.
    fn block(&self, task: &Task, cause: ErrorCode) -> Result<(), Error>;

    /// Begins another attempt at an operation of unknown outcome, where its downstream knows our key again for long enough.
    fn send_again(&self, task: &Task) -> Result<Option<Lease>, Error>;

    /// Ends what nobody decided about, or began, in time. Tells how many.
    fn expire(&self, limit: usize) -> Result<usize, Error>;

    /// Marks as unknown what holders perform that count as alive no more, and what this host performs no more and could not
    /// say so when it ended. Tells how many.
    fn recover(&self, limit: usize) -> Result<usize, Error>;

    /// How much is open, and the ledger's time.
    fn open_counts(&self) -> Result<(OpenCounts, Moment), Error>;
}

/// An operation for a worker to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// As it stood when it was handed out.
    pub record: Record,
    /// What was asked for.
    pub proposal: StoredProposal,
    /// Until when it may be sent again; nothing where it never may.
    pub sendable_until: Option<Moment>,
    /// The ledger's time when it was handed out.
    pub at: Moment,
}
