use countersign_contract::ResponseId;

use crate::{Family, Label, Proposal};

/// One response of a model, read: what it calls, in order, and what it leaves to others.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub(crate) family: Family,
    pub(crate) response: ResponseIdentity,
    pub(crate) ending: Ending,
    pub(crate) proposals: Vec<Proposal>,
    pub(crate) skipped: Vec<Skipped>,
}

/// The response's id, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResponseIdentity {
    Given(ResponseId),
    /// Made from the raw bytes, since the provider gave none.
    HostMade(ResponseId),
}

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// As the model meant it.
    Complete,
    /// At a length limit, or at a text that the caller set to stop at. The last item may be cut.
    Truncated,
    /// Taken back by the provider: a filter, a refusal, a block.
    Withheld,
    /// In any other way, one that is not known included.
    Unfinished,
}

/// An item that looks like a tool's but is not answered here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub(crate) kind: Label,
    pub(crate) duty: Duty,
}

/// Who has to do something about a skipped item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Duty {
    /// Nobody: the provider ran the tool itself.
    Provider,
    /// Nobody: the document holds the answer already.
    Answered,
    /// The caller: the provider waits for an answer of a kind that tools do not give.
    Caller,
    /// Not known: the item's type is new.
    Unknown,
}

impl Turn {
    /// The protocol it came through.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The response's id; it scopes the ids of the calls.
    ///
    /// Where the provider gives none, it is `response-sha256-` and the digest of
    /// the raw bytes, so that the same bytes name the same response.
    pub fn response_id(&self) -> &ResponseId {
        match &self.response {
            ResponseIdentity::Given(id) | ResponseIdentity::HostMade(id) => id,
        }
    }

    /// Whether the provider gave the response's id.
    pub fn has_given_response_id(&self) -> bool {
        matches!(self.response, ResponseIdentity::Given(_))
    }

    /// How the response ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Every call, in the order of the response. Each is to be answered, once.
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// Items of tools that are not answered here, in order.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }
}

impl Skipped {
    /// The item's type, in the provider's words.
    pub fn kind(&self) -> &Label {
        &self.kind
    }

    /// Who has to do something about it.
    pub fn duty(&self) -> Duty {
        self.duty
    }
}
