//! A fixture, as far as it is well-formed.

use countersign_canonical::Value;
use countersign_contract::{Call, Delivery, Outcome, Principal, Recovery, Status, UtcSecond};
use countersign_shop::Disturbance;

/// Cases, each run on its own.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The cases, with ids that differ.
    pub cases: Vec<Case>,
}

/// Steps of one principal, against one shop and one ledger.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its id.
    pub id: String,
    /// Who calls.
    pub principal: Principal,
    /// The steps, with ids that differ.
    pub steps: Vec<Step>,
}

/// One call, and what has to come of it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its id within the case.
    pub id: String,
    /// What is done.
    pub action: StepAction,
    /// The call.
    pub call: Call,
    /// When.
    pub now: UtcSecond,
    /// What has to come of it.
    pub expected: Expected,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum StepAction {
    /// Dispatches the call.
    Dispatch {
        /// Which approval is offered with it.
        approval: ApprovalMode,
        /// What goes wrong on the way to the shop.
        disturbance: Disturbance,
    },
    /// Asks what became of an earlier step.
    QueryStatus {
        /// That step's place in the case.
        of_step: usize,
    },
}

/// Which approval is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMode {
    /// None.
    None,
    /// One for this very call, which lives for a minute.
    Valid,
    /// One that died a second ago.
    Expired,
    /// One with a digest that is nothing's.
    Mismatched,
}

/// What has to come of a step.
#[derive(Clone, Debug)]
pub struct Expected {
    /// `OK` or an error code.
    pub code: String,
    /// How it ends.
    pub status: Status,
    /// What is known of the effect.
    pub outcome: Outcome,
    /// What the caller can do.
    pub recovery: Recovery,
    /// How the result comes.
    pub delivery: Delivery,
    /// The business data: an object, or null.
    pub data: Value,
    /// How many effects the case has had by then.
    pub side_effect_count: u64,
}
