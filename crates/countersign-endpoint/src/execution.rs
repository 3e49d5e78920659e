//! From an admitted request to a settled action: the one path on which a handler runs.
//!
//! Each value of this path can be made from the one before it only, cannot be
//! cloned, and is used up by its step:
//! [`Admitted`] (by a decision on a PUT), [`Starting`] (by checking the approval
//! once more), [`Execution`] (by confirming that `executing` is durable).

use crate::action::{Action, Executing, Prepared, Settled};
use crate::approval::Liveness;
use crate::effect::Effect;
use crate::epoch::EpochSeconds;
use crate::identifier::{ActionId, InstanceId, ToolName};
use crate::result::ResultDocument;
use crate::row::{Condition, Write};
use crate::state::StateName;
use crate::value::Members;

/// A prepared action that a PUT may begin.
#[derive(Debug)]
pub struct Admitted {
    prepared: Prepared,
}

/// The outcome of checking an approval just before executing.
#[derive(Debug)]
pub enum Begin {
    /// The approval is alive.
    Start(Starting),
    /// The approval died: make the write, answer 200 with the result.
    Fail {
        /// Records the failure.
        write: Write,
        /// The answer.
        result: ResultDocument,
    },
}

impl Admitted {
    pub(crate) fn new(prepared: Prepared) -> Self {
        Self { prepared }
    }

    /// The prepared action.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Checks the approval once more and takes the step `prepared -> executing`, or `prepared -> failed`.
    pub fn begin(self, executor: InstanceId, now: EpochSeconds) -> Begin {
        let condition = Condition::InState(StateName::Prepared);
        match self.prepared.subject().request().approval().liveness(now) {
            Liveness::Live => {
                let executing = Box::new(self.prepared.execute(executor, now));
                let row = Action::Executing((*executing).clone()).to_row();
                Begin::Start(Starting {
                    write: Write { condition, row },
                    executing,
                })
            }
            Liveness::Expired | Liveness::DecidedAhead => {
                let failed = self.prepared.fail(now);
                let result = failed.result().clone();
                let row = Action::Settled(failed).to_row();
                Begin::Fail {
                    write: Write { condition, row },
                    result,
                }
            }
        }
    }
}

/// An action about to be marked as executing.
#[derive(Debug)]
#[must_use = "nothing runs before the write is durable and confirmed"]
pub struct Starting {
    write: Write,
    executing: Box<Executing>,
}

impl Starting {
    /// The write that must be durable before anything is performed.
    pub fn write(&self) -> &Write {
        &self.write
    }

    /// Hands out the permission to perform the effect.
    ///
    /// Call it after the ledger confirmed [`Starting::write`] as durable, and only
    /// then. If the write was refused, or its outcome is unknown, drop this value:
    /// whatever the ledger then holds is observed or recovered, never executed.
    pub fn committed(self) -> Execution {
        Execution {
            executing: *self.executing,
        }
    }
}

/// The permission to perform one action's effect, once.
///
/// It cannot be cloned, stored or read back from a ledger:
///
/// ```compile_fail,E0599
/// fn twice(execution: countersign_endpoint::Execution) {
///     let again = execution.clone();
/// }
/// ```
///
/// Dropping it performs nothing and leaves the action to recovery, which makes it ambiguous.
#[derive(Debug)]
#[must_use = "a permission that is dropped leaves its action to recovery"]
pub struct Execution {
    executing: Executing,
}

/// What a handler knows when it is done.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerOutcome {
    /// The effect was performed, and verified by reading it back.
    Performed {
        /// The id of what was made or changed.
        effect_id: String,
        /// What became of it.
        outcome: String,
        /// What reading it back showed.
        verification: Members,
    },
    /// Anything else: an error, a panic, a cancellation, a shutdown.
    Unknown,
}

impl Execution {
    /// The action's id; a good idempotency key for whatever performs the effect.
    pub fn action_id(&self) -> &ActionId {
        self.executing.subject().request().action_id()
    }

    /// The tool to run.
    pub fn tool_name(&self) -> &ToolName {
        self.executing.subject().request().tool_name()
    }

    /// The tool's arguments.
    pub fn arguments(&self) -> &Members {
        self.executing.subject().request().arguments()
    }

    /// Settles the action.
    ///
    /// An effect out of bounds is not believed: the action is ambiguous then, as
    /// after any failure. If the write is refused or its outcome unknown, what the
    /// ledger holds counts, not this.
    pub fn finish(self, outcome: HandlerOutcome, now: EpochSeconds) -> Finished {
        let effect = match outcome {
            HandlerOutcome::Performed {
                effect_id,
                outcome,
                verification,
            } => Effect::new(&effect_id, &outcome, verification).ok(),
            HandlerOutcome::Unknown => None,
        };
        Finished::new(match effect {
            Some(effect) => self.executing.complete(&effect, now),
            None => self.executing.lose(now),
        })
    }
}

/// A settled action, to be written.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the action is settled by the write"]
pub struct Finished {
    write: Write,
    settled: Settled,
}

impl Finished {
    pub(crate) fn new(settled: Settled) -> Self {
        let row = Action::Settled(settled.clone()).to_row();
        Self {
            write: Write {
                condition: Condition::InState(StateName::Executing),
                row,
            },
            settled,
        }
    }

    /// Records the ending.
    pub fn write(&self) -> &Write {
        &self.write
    }

    /// The settled action.
    pub fn settled(&self) -> &Settled {
        &self.settled
    }
}
