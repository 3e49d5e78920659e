//! Who may do what, as it stands now, and since when anybody may not.

use std::cell::RefCell;

use countersign_contract::{ApproverId, Principal, SubjectId, ToolContract, ToolName};
use countersign_dispatch::{BusinessState, StateVerdict};
use countersign_policy::{
    AccessRequest, ApprovalNeed, ApproverDirectory, ApproverStanding, Authorized, Authorizer,
    Decision,
};
use countersign_runtime::PrincipalDirectory;

use crate::action::Part;
use crate::tools::{Tool, ToolRevisions, approver_id, has_role, principal, subject_id};

/// How many subjects, and approvers, there are.
pub(crate) const PEOPLE: u8 = 2;

/// The number of an action. Two worlds that are alike but for such numbers are alike, so that it does not show.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ActionNumber(u64);

impl std::fmt::Debug for ActionNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("action")
    }
}

/// People, roles, resources and contracts. Every port that asks about them answers for this very moment.
#[derive(Debug)]
pub(crate) struct Society {
    now: RefCell<Standing>,
}

#[derive(Debug)]
struct Standing {
    /// The number of the action that is under way.
    action: ActionNumber,
    subjects: Vec<Right>,
    approvers: Vec<Right>,
    business_allows: bool,
    contracts: Vec<Registered>,
}

/// A right that somebody has, or lost.
#[derive(Clone, Copy, Debug, Default)]
struct Right {
    is_lost: bool,
    /// The last action up to which it was held, where it was ever lost.
    held_until: Option<ActionNumber>,
}

impl Right {
    fn set(&mut self, holds: bool, action: ActionNumber) {
        if self.is_lost == holds {
            self.is_lost = !holds;
            if !holds {
                self.held_until = Some(action);
            }
        }
    }

    fn was_held_since(self, action: ActionNumber) -> bool {
        !self.is_lost || self.held_until.is_some_and(|until| until >= action)
    }
}

/// A tool's contract, and the one before it.
#[derive(Debug)]
struct Registered {
    tool: Tool,
    revisions: ToolRevisions,
    contract: ToolContract,
    /// Earlier ones, with the last action at which they were registered.
    earlier: Vec<(ActionNumber, ToolContract)>,
}

impl Society {
    pub(crate) fn new() -> Self {
        let rights = || vec![Right::default(); usize::from(PEOPLE)];
        let contracts = Tool::ALL.map(|tool| Registered {
            tool,
            revisions: ToolRevisions::default(),
            contract: tool.contract(ToolRevisions::default()),
            earlier: Vec::new(),
        });
        Self {
            now: RefCell::new(Standing {
                action: ActionNumber::default(),
                subjects: rights(),
                approvers: rights(),
                business_allows: true,
                contracts: contracts.into(),
            }),
        }
    }

    /// Another action begins.
    pub(crate) fn next_action(&self) {
        self.now.borrow_mut().action.0 += 1;
    }

    pub(crate) fn action(&self) -> ActionNumber {
        self.now.borrow().action
    }

    pub(crate) fn set_role(&self, subject: u8, holds: bool) {
        let mut now = self.now.borrow_mut();
        let action = now.action;
        if let Some(right) = now.subjects.get_mut(usize::from(subject % PEOPLE)) {
            right.set(holds, action);
        }
    }

    pub(crate) fn set_approver(&self, approver: u8, is_one: bool) {
        let mut now = self.now.borrow_mut();
        let action = now.action;
        if let Some(right) = now.approvers.get_mut(usize::from(approver % PEOPLE)) {
            right.set(is_one, action);
        }
    }

    pub(crate) fn set_business(&self, allows: bool) {
        self.now.borrow_mut().business_allows = allows;
    }

    pub(crate) fn revise(&self, tool: Tool, part: Part) {
        let mut now = self.now.borrow_mut();
        let action = now.action;
        let registered = now.contracts.iter_mut().find(|one| one.tool == tool);
        if let Some(registered) = registered {
            let revisions = &mut registered.revisions;
            let revision = match part {
                Part::Policy => &mut revisions.policy,
                Part::Handler => &mut revisions.handler,
                Part::Effect => &mut revisions.effect,
            };
            *revision = revision.wrapping_add(1);
            let next = tool.contract(registered.revisions);
            let before = std::mem::replace(&mut registered.contract, next);
            registered.earlier.push((action, before));
        }
    }

    pub(crate) fn contract(&self, tool: &ToolName) -> Option<ToolContract> {
        let now = self.now.borrow();
        let registered = now.contracts.iter().find(|one| one.contract.name == *tool);
        registered.map(|registered| registered.contract.clone())
    }

    pub(crate) fn contracts(&self) -> Vec<ToolContract> {
        let now = self.now.borrow();
        now.contracts
            .iter()
            .map(|registered| registered.contract.clone())
            .collect()
    }

    /// The principal of a subject, with its role as it stands now.
    pub(crate) fn principal(&self, subject: u8) -> Principal {
        principal(subject % PEOPLE, self.subject_since(subject % PEOPLE, None))
    }

    /// Tells whether a subject had its role at any time since an action; now, where none is named.
    fn subject_since(&self, subject: u8, since: Option<ActionNumber>) -> bool {
        let now = self.now.borrow();
        let right = now.subjects.get(usize::from(subject));
        right.is_some_and(|right| held(*right, since))
    }

    fn approver_since(&self, approver: u8, since: Option<ActionNumber>) -> bool {
        let now = self.now.borrow();
        let right = now.approvers.get(usize::from(approver));
        right.is_some_and(|right| held(*right, since))
    }

    /// Tells whether the subject might act at any time since an action.
    pub(crate) fn was_authorized(&self, subject: &SubjectId, since: ActionNumber) -> bool {
        number_of(subject, subject_id).is_some_and(|number| self.subject_since(number, Some(since)))
    }

    /// Tells whether the approver was one at any time since an action.
    pub(crate) fn was_entitled(&self, approver: &ApproverId, since: ActionNumber) -> bool {
        number_of(approver, approver_id)
            .is_some_and(|number| self.approver_since(number, Some(since)))
    }

    /// Tells whether a contract was registered at any time since an action.
    pub(crate) fn was_registered(&self, contract: &ToolContract, since: ActionNumber) -> bool {
        let now = self.now.borrow();
        let of_tool = now
            .contracts
            .iter()
            .find(|one| one.contract.name == contract.name);
        of_tool.is_some_and(|registered| {
            registered.contract == *contract
                || registered
                    .earlier
                    .iter()
                    .any(|(until, earlier)| *until >= since && earlier == contract)
        })
    }
}

fn held(right: Right, since: Option<ActionNumber>) -> bool {
    match since {
        Some(action) => right.was_held_since(action),
        None => !right.is_lost,
    }
}

fn number_of<T: PartialEq>(name: &T, named: fn(u8) -> T) -> Option<u8> {
    (0..PEOPLE).find(|number| named(*number) == *name)
}

impl Authorizer for Society {
    fn decide(&self, request: &AccessRequest<'_>) -> Decision {
        let subject = number_of(&request.principal.subject_id, subject_id);
        let holds = subject.is_some_and(|subject| self.subject_since(subject, None));
        if holds && has_role(request.principal) {
            Decision::Allowed(ApprovalNeed::Person)
        } else {
            Decision::Denied
        }
    }
}

impl ApproverDirectory for Society {
    fn standing(&self, approver: &ApproverId, _: &AccessRequest<'_>) -> ApproverStanding {
        let number = number_of(approver, approver_id);
        if number.is_some_and(|number| self.approver_since(number, None)) {
            ApproverStanding::Entitled
        } else {
            ApproverStanding::NotEntitled
        }
    }
}

impl BusinessState for Society {
    fn verdict(&self, _: &Authorized<'_>) -> StateVerdict {
        if self.now.borrow().business_allows {
            StateVerdict::Allows
        } else {
            StateVerdict::Forbids
        }
    }
}

impl PrincipalDirectory for Society {
    fn current(&self, stored: &Principal) -> Option<Principal> {
        let subject = number_of(&stored.subject_id, subject_id)?;
        Some(self.principal(subject))
    }
}
