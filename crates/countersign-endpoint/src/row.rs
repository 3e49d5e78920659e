//! What a ledger stores of an action, and the conditional writes that change it.

use crate::action::{Action, Ending, Executing, Prepared, Settled, Subject};
use crate::epoch::EpochSeconds;
use crate::identifier::{ActionId, InstanceId, Owner};
use crate::request::ExecutionRequest;
use crate::result::ResultDocument;
use crate::state::StateName;

/// One action as a ledger stores it: plain texts and a number.
///
/// `action_id` and `execution_digest` are each unique in a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRow {
    /// The action's id.
    pub action_id: String,
    /// The request's execution digest, 64 hexadecimal digits.
    pub execution_digest: String,
    /// The owner.
    pub owner: String,
    /// The request's content: its ASCII canonical form.
    pub content: String,
    /// The state's name.
    pub state: String,
    /// When the action came into its state, in seconds since the Unix epoch.
    pub since: f64,
    /// The executing process; present in `executing` only.
    pub executor: Option<String>,
    /// The result's exact text; present in the settled states only.
    pub result: Option<String>,
}

/// A write that a ledger must make as a whole, durably, or not at all.
///
/// Where the condition does not hold, somebody else was faster: nothing is
/// written, and the caller reads the row again and decides anew. A write whose
/// outcome is unknown is treated as made.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    pub(crate) condition: Condition,
    pub(crate) row: ActionRow,
}

/// What must hold when a [`Write`] is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// No row has this action id, and none has this execution digest.
    Absent,
    /// The action's row is in this state.
    InState(StateName),
}

impl Write {
    /// What must hold.
    pub fn condition(&self) -> Condition {
        self.condition
    }

    /// What the row becomes.
    pub fn row(&self) -> &ActionRow {
        &self.row
    }
}

/// A stored row that no transition of ours can have written. Nothing may be done on its strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored {column} does not belong to a recorded action")]
pub struct CorruptRow {
    column: &'static str,
}

impl Action {
    /// The row that records this action.
    pub fn to_row(&self) -> ActionRow {
        let Subject { request, owner } = self.subject();
        let (executor, result) = match self {
            Self::Prepared(_) => (None, None),
            Self::Executing(executing) => (Some(executing.executor.to_string()), None),
            Self::Settled(settled) => (None, Some(settled.result.as_str().to_owned())),
        };
        ActionRow {
            action_id: request.action_id().to_string(),
            execution_digest: request.execution_digest().to_string(),
            owner: owner.to_string(),
            content: request.content().as_str().to_owned(),
            state: self.state().as_str().to_owned(),
            since: self.since().as_f64(),
            executor,
            result,
        }
    }

    /// Reads a row back and checks that everything in it belongs together.
    pub fn from_row(row: &ActionRow) -> Result<Self, CorruptRow> {
        let corrupt = |column| CorruptRow { column };
        let request = ExecutionRequest::restore(&row.content).map_err(|_| corrupt("content"))?;
        if request.content().as_str() != row.content {
            return Err(corrupt("content"));
        }
        if ActionId::parse(&row.action_id).as_ref() != Some(request.action_id()) {
            return Err(corrupt("action_id"));
        }
        if row.execution_digest != request.execution_digest().to_string() {
            return Err(corrupt("execution_digest"));
        }
        let owner = Owner::parse(&row.owner).ok_or(corrupt("owner"))?;
        let state = StateName::parse(&row.state).ok_or(corrupt("state"))?;
        let since = EpochSeconds::from_f64(row.since).ok_or(corrupt("since"))?;
        let subject = Subject { request, owner };
        let settled = |ending: Ending, subject: Subject| {
            let stored = row.result.as_deref().ok_or(corrupt("result"))?;
            let result = ResultDocument::restore(stored, &subject.request, ending.state());
            let result = result.ok_or(corrupt("result"))?;
            Ok(Self::Settled(Settled {
                subject,
                since,
                ending,
                result,
            }))
        };
        if row.executor.is_some() != (state == StateName::Executing) {
            return Err(corrupt("executor"));
        }
        if row.result.is_some() == matches!(state, StateName::Prepared | StateName::Executing) {
            return Err(corrupt("result"));
        }
        match state {
            StateName::Prepared => Ok(Self::Prepared(Prepared { subject, since })),
            StateName::Executing => {
                let executor = row.executor.as_deref().and_then(InstanceId::parse);
                let executor = executor.ok_or(corrupt("executor"))?;
                Ok(Self::Executing(Executing {
                    subject,
                    since,
                    executor,
                }))
            }
            StateName::Completed => settled(Ending::Completed, subject),
            StateName::Failed => settled(Ending::Failed, subject),
            StateName::Ambiguous => settled(Ending::Ambiguous, subject),
        }
    }
}
