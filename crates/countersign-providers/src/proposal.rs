use countersign_canonical::Value;
use countersign_contract::{CallId, ToolName};

use crate::Refusal;

/// One tool call of a response. Either way it must be answered, once.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposal {
    /// A whole call, ready for the pipeline. Whether it may run is not decided here.
    Proposed(ProposedCall),
    /// A call that must not run. Its answer is the refusal's text.
    Refused(RefusedCall),
}

/// A call whose id, name and arguments were read completely.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedCall {
    pub(crate) call_id: CallId,
    pub(crate) name: ToolName,
    // INVARIANT: an object.
    pub(crate) arguments: Value,
    pub(crate) address: Address,
}

/// A call that was found but not let in.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedCall {
    pub(crate) call_id: CallId,
    pub(crate) reason: Refusal,
    pub(crate) address: Address,
}

/// Where the answer to a call goes, in the provider's own terms.
///
/// It repeats the id and the name exactly as they were given, even those that
/// identify nothing here: the provider pairs calls and answers by them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) given_id: Option<String>,
    pub(crate) given_name: Option<String>,
    pub(crate) form: AnswerForm,
}

/// The kinds of answers a family has besides that to a function call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Function,
    /// OpenAI Responses: `custom_tool_call_output`.
    CustomTool,
    /// OpenAI Chat Completions before tools: a message in the role `function`.
    LegacyFunction,
    /// Anthropic Messages: a member of a client toolset, named again in the answer.
    Toolset(String),
}

impl Proposal {
    /// The call's id, unique within its turn.
    ///
    /// It is the provider's where that is usable and unique; otherwise one is
    /// made from the call's position (`call-0`, `call-1`, …).
    pub fn call_id(&self) -> &CallId {
        match self {
            Self::Proposed(call) => &call.call_id,
            Self::Refused(call) => &call.call_id,
        }
    }

    /// The tool's name exactly as it was given, if one was given.
    pub fn given_name(&self) -> Option<&str> {
        self.address().given_name.as_deref()
    }

    /// The whole call, if it was let in.
    pub fn proposed(&self) -> Option<&ProposedCall> {
        match self {
            Self::Proposed(call) => Some(call),
            Self::Refused(_) => None,
        }
    }

    /// The reason, if it was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Proposed(_) => None,
            Self::Refused(call) => Some(call.reason),
        }
    }

    pub(crate) fn address(&self) -> &Address {
        match self {
            Self::Proposed(call) => &call.address,
            Self::Refused(call) => &call.address,
        }
    }
}

impl ProposedCall {
    /// The call's id, unique within its turn.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// The tool's name.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The arguments: always an object, exact as given.
    ///
    /// They may be outside the value domain of Tool Result v2. A tool whose
    /// contract needs that domain refuses them with [`Refusal::OutsideDomain`].
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }
}

impl RefusedCall {
    /// An id for the host's records, unique within its turn.
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// Why.
    pub fn reason(&self) -> Refusal {
        self.reason
    }
}
