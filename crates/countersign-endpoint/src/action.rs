//! A recorded action: one type per state, so that only the steps that exist can be written.

use crate::effect::Effect;
use crate::epoch::EpochSeconds;
use crate::identifier::{ActionId, InstanceId, Owner};
use crate::request::ExecutionRequest;
use crate::result::ResultDocument;
use crate::state::StateName;

/// A recorded action in whichever state it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// See [`StateName::Prepared`].
    Prepared(Prepared),
    /// See [`StateName::Executing`].
    Executing(Executing),
    /// A state that nothing leaves.
    Settled(Settled),
}

/// What a record is about; the same in every state.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    pub(crate) request: ExecutionRequest,
    pub(crate) owner: Owner,
}

impl Subject {
    /// The request.
    pub fn request(&self) -> &ExecutionRequest {
        &self.request
    }

    /// The owner on whose behalf it was put.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }
}

/// An action that is stored and has not begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    pub(crate) subject: Subject,
    pub(crate) since: EpochSeconds,
}

/// An action whose effect may have begun.
///
/// There is no way back to [`Prepared`], and none to a handler: the permission to
/// run one was given, once, to whoever made this step.
#[derive(Debug, Clone, PartialEq)]
pub struct Executing {
    pub(crate) subject: Subject,
    pub(crate) since: EpochSeconds,
    pub(crate) executor: InstanceId,
}

/// An action that is completed, failed or ambiguous, for ever, with the result that it replays.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    pub(crate) subject: Subject,
    pub(crate) since: EpochSeconds,
    pub(crate) ending: Ending,
    pub(crate) result: ResultDocument,
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// See [`StateName::Completed`].
    Completed,
    /// See [`StateName::Failed`].
    Failed,
    /// See [`StateName::Ambiguous`].
    Ambiguous,
}

impl Ending {
    /// The state's name.
    pub fn state(self) -> StateName {
        match self {
            Self::Completed => StateName::Completed,
            Self::Failed => StateName::Failed,
            Self::Ambiguous => StateName::Ambiguous,
        }
    }
}

impl Action {
    /// What the record is about.
    pub fn subject(&self) -> &Subject {
        match self {
            Self::Prepared(Prepared { subject, .. })
            | Self::Executing(Executing { subject, .. })
            | Self::Settled(Settled { subject, .. }) => subject,
        }
    }

    /// The action's id.
    pub fn id(&self) -> &ActionId {
        self.subject().request.action_id()
    }

    /// The state's name.
    pub fn state(&self) -> StateName {
        match self {
            Self::Prepared(_) => StateName::Prepared,
            Self::Executing(_) => StateName::Executing,
            Self::Settled(settled) => settled.ending.state(),
        }
    }

    /// When the action came into its state.
    pub fn since(&self) -> EpochSeconds {
        match self {
            Self::Prepared(Prepared { since, .. })
            | Self::Executing(Executing { since, .. })
            | Self::Settled(Settled { since, .. }) => *since,
        }
    }

    /// The result, which depends on the record alone: asked twice, the bytes are the same.
    pub fn result(&self) -> ResultDocument {
        match self {
            Self::Prepared(_) | Self::Executing(_) => {
                ResultDocument::without_effect(&self.subject().request, self.state(), self.since())
            }
            Self::Settled(settled) => settled.result.clone(),
        }
    }
}

impl Prepared {
    /// What the record is about.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// `prepared -> failed`: nothing was performed, and nothing will be.
    pub(crate) fn fail(self, now: EpochSeconds) -> Settled {
        self.subject.settle_without_effect(Ending::Failed, now)
    }

    /// `prepared -> executing`.
    pub(crate) fn execute(self, executor: InstanceId, now: EpochSeconds) -> Executing {
        Executing {
            subject: self.subject,
            since: now,
            executor,
        }
    }
}

impl Executing {
    /// What the record is about.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The process that was given the permission to perform the effect.
    pub fn executor(&self) -> &InstanceId {
        &self.executor
    }

    /// `executing -> ambiguous`.
    pub(crate) fn lose(self, now: EpochSeconds) -> Settled {
        self.subject.settle_without_effect(Ending::Ambiguous, now)
    }

    /// `executing -> completed`.
    pub(crate) fn complete(self, effect: &Effect, now: EpochSeconds) -> Settled {
        let result = ResultDocument::completed(&self.subject.request, effect, now);
        Settled {
            subject: self.subject,
            since: now,
            ending: Ending::Completed,
            result,
        }
    }
}

impl Settled {
    /// What the record is about.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// How the action ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The result that every later question gets.
    pub fn result(&self) -> &ResultDocument {
        &self.result
    }
}

impl Subject {
    fn settle_without_effect(self, ending: Ending, now: EpochSeconds) -> Settled {
        let result = ResultDocument::without_effect(&self.request, ending.state(), now);
        Settled {
            subject: self,
            since: now,
            ending,
            result,
        }
    }
}
