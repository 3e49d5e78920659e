//! The states of an operation.

use std::time::Duration;

use countersign_contract::{ApproverId, ErrorCode};
use countersign_dispatch::{NotStarted, UnknownCause};
use countersign_policy::ApprovalEvidence;

use crate::moment::Moment;
use crate::names::{InstanceId, Note};
use crate::steady::{Steady, SteadySpan};

/// What is known of an operation.
///
/// ```text
/// awaiting_approval -> denied | expired | reserved | executing
/// reserved  -> executing | blocked
/// executing -> succeeded | failed | unknown
/// unknown   -> executing (sent again under the same key) | succeeded | resolved_committed | resolved_not_executed
/// ```
/// Denied, expired, blocked, failed and resolved as not executed prove that there was no effect: the key is free again.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Nobody has decided yet.
    AwaitingApproval {
        /// The first moment at which nobody can any more.
        until: Moment,
    },
    /// Somebody said no.
    Denied {
        /// Who.
        by: ApproverId,
        /// Why, as the model may be told.
        reason: Option<Note>,
        /// The first moment at which the same may be asked for again.
        until: Moment,
    },
    /// Nobody decided in time.
    Expired {
        /// The first moment at which the same may be asked for again.
        until: Moment,
    },
    /// It is approved, and waits for somebody to perform it.
    Reserved {
        /// What approves it.
        approval: ApprovalEvidence,
        /// The first moment at which it must not begin any more.
        until: Moment,
    },
    /// It may be acting.
    Executing(Attempt),
    /// Something had changed before it began: it never will.
    Blocked {
        /// What the pipeline said.
        cause: ErrorCode,
    },
    /// It is proven not to have begun.
    Failed {
        /// Why it did not.
        cause: NotStarted,
    },
    /// It may have acted.
    Unknown {
        /// The attempt whose outcome nobody knows.
        attempt: Attempt,
        /// Why.
        cause: UnknownCause,
    },
    /// It acted; the answer is stored.
    Succeeded {
        /// What proves it.
        proof: Proof,
        /// Whether the caller has shown to know the answer, so that the same call again means another effect.
        is_acknowledged: bool,
    },
    /// A person found that it acted.
    ResolvedCommitted {
        /// Who said so.
        ruling: Ruling,
        /// Whether an answer is stored. Without one a model hears no more than that the outcome is unknown.
        has_answer: bool,
    },
    /// A person found that it did not act.
    ResolvedNotExecuted {
        /// Who said so.
        ruling: Ruling,
    },
}

/// One attempt to perform an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// What approves it.
    pub approval: ApprovalEvidence,
    /// Who performs it.
    pub holder: InstanceId,
    /// When the first attempt may have sent its first byte: how long the downstream knows our key counts from here.
    pub first_sent: Moment,
    /// From when on nothing of it can be under way any more.
    pub over_at: Moment,
    /// The same by a clock that nobody sets; nothing where the host had none.
    pub steady: Option<SteadySpan>,
}

impl Attempt {
    /// Tells whether nothing of it can be under way any more, by every clock there is.
    pub(crate) fn is_over(&self, now: Moment, steady: Option<&Steady>) -> bool {
        let by_steady = match (&self.steady, steady) {
            (Some(span), Some(now)) => span.is_over(now),
            (None, _) | (_, None) => true,
        };
        self.over_at <= now && by_steady
    }
}

/// What proves a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The handler's answer.
    Answer,
    /// A receipt of the downstream.
    Receipt,
}

/// What a person found out about an unknown outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Who.
    pub by: ApproverId,
    /// On which evidence.
    pub note: Note,
    /// When.
    pub at: Moment,
}

/// A state without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// [`State::AwaitingApproval`]
    AwaitingApproval,
    /// [`State::Denied`]
    Denied,
    /// [`State::Expired`]
    Expired,
    /// [`State::Reserved`]
    Reserved,
    /// [`State::Executing`]
    Executing,
    /// [`State::Blocked`]
    Blocked,
    /// [`State::Failed`]
    Failed,
    /// [`State::Unknown`]
    Unknown,
    /// [`State::Succeeded`]
    Succeeded,
    /// [`State::ResolvedCommitted`]
    ResolvedCommitted,
    /// [`State::ResolvedNotExecuted`]
    ResolvedNotExecuted,
}

impl StateKind {
    /// All of them, in the order of an operation's life.
    pub const ALL: [Self; 11] = [
        Self::AwaitingApproval,
        Self::Denied,
        Self::Expired,
        Self::Reserved,
        Self::Executing,
        Self::Blocked,
        Self::Failed,
        Self::Unknown,
        Self::Succeeded,
        Self::ResolvedCommitted,
        Self::ResolvedNotExecuted,
    ];

    /// Its name in documents, tables and commands.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AwaitingApproval => "awaiting_approval",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Reserved => "reserved",
            Self::Executing => "executing",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Succeeded => "succeeded",
            Self::ResolvedCommitted => "resolved_committed",
            Self::ResolvedNotExecuted => "resolved_not_executed",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Tells whether somebody still has to do something about it.
    #[must_use]
    pub fn is_open(self) -> bool {
        match self {
            Self::AwaitingApproval | Self::Reserved | Self::Executing | Self::Unknown => true,
            Self::Denied
            | Self::Expired
            | Self::Blocked
            | Self::Failed
            | Self::Succeeded
            | Self::ResolvedCommitted
            | Self::ResolvedNotExecuted => false,
        }
    }

    /// Tells whether it is proven that nothing acted, so that the key is free.
    #[must_use]
    pub fn is_without_effect(self) -> bool {
        match self {
            Self::Denied
            | Self::Expired
            | Self::Blocked
            | Self::Failed
            | Self::ResolvedNotExecuted => true,
            Self::AwaitingApproval
            | Self::Reserved
            | Self::Executing
            | Self::Unknown
            | Self::Succeeded
            | Self::ResolvedCommitted => false,
        }
    }
}

impl State {
    /// Which state it is.
    #[must_use]
    pub fn kind(&self) -> StateKind {
        match self {
            Self::AwaitingApproval { .. } => StateKind::AwaitingApproval,
            Self::Denied { .. } => StateKind::Denied,
            Self::Expired { .. } => StateKind::Expired,
            Self::Reserved { .. } => StateKind::Reserved,
            Self::Executing(_) => StateKind::Executing,
            Self::Blocked { .. } => StateKind::Blocked,
            Self::Failed { .. } => StateKind::Failed,
            Self::Unknown { .. } => StateKind::Unknown,
            Self::Succeeded { .. } => StateKind::Succeeded,
            Self::ResolvedCommitted { .. } => StateKind::ResolvedCommitted,
            Self::ResolvedNotExecuted { .. } => StateKind::ResolvedNotExecuted,
        }
    }

    /// When it ends if nothing happens before.
    #[must_use]
    pub fn expires_at(&self) -> Option<Moment> {
        match self {
            Self::AwaitingApproval { until } | Self::Reserved { until, .. } => Some(*until),
            Self::Denied { .. }
            | Self::Expired { .. }
            | Self::Executing(_)
            | Self::Blocked { .. }
            | Self::Failed { .. }
            | Self::Unknown { .. }
            | Self::Succeeded { .. }
            | Self::ResolvedCommitted { .. }
            | Self::ResolvedNotExecuted { .. } => None,
        }
    }

    /// Who performs it, where somebody may.
    #[must_use]
    pub fn holder(&self) -> Option<&InstanceId> {
        match self {
            Self::Executing(attempt) => Some(&attempt.holder),
            Self::AwaitingApproval { .. }
            | Self::Denied { .. }
            | Self::Expired { .. }
            | Self::Reserved { .. }
            | Self::Blocked { .. }
            | Self::Failed { .. }
            | Self::Unknown { .. }
            | Self::Succeeded { .. }
            | Self::ResolvedCommitted { .. }
            | Self::ResolvedNotExecuted { .. } => None,
        }
    }
}

/// How long things last in a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// How long a write waits for a decision.
    pub approval_wait: Duration,
    /// How long the same is refused after it was denied or expired.
    pub cool_down: Duration,
    /// How long an instance counts as alive after its last heartbeat.
    pub lease: Duration,
    /// How long nobody else is given work that somebody has claimed.
    pub claim: Duration,
    /// How long a recorded answer serves identical calls of a host-made key that nobody acknowledges.
    pub repeat_window: Duration,
    /// What is added to a tool's timeout before its attempt counts as over.
    pub run_margin: Duration,
    /// How many writes of one subject may wait at a time.
    pub max_waiting: usize,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            approval_wait: Duration::from_hours(1),
            cool_down: Duration::from_secs(30),
            lease: Duration::from_secs(15),
            claim: Duration::from_secs(15),
            repeat_window: Duration::from_mins(15),
            run_margin: Duration::from_secs(10),
            max_waiting: 64,
        }
    }
}
