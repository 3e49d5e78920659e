//! Broken: whoever was allowed once stays allowed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use countersign_contract::{SubjectId, ToolName};
use countersign_policy::{AccessRequest, ApprovalNeed, Authorizer, Decision};

use crate::society::Society;

/// Remembers who was allowed what.
#[derive(Debug)]
pub(crate) struct CachedAuthorizer {
    society: Rc<Society>,
    allowed: RefCell<BTreeSet<(SubjectId, ToolName)>>,
}

impl CachedAuthorizer {
    pub(crate) fn over(society: Rc<Society>) -> Self {
        Self {
            society,
            allowed: RefCell::default(),
        }
    }
}

impl Authorizer for CachedAuthorizer {
    fn decide(&self, request: &AccessRequest<'_>) -> Decision {
        let asked = (
            request.principal.subject_id.clone(),
            request.call.name.clone(),
        );
        if self.allowed.borrow().contains(&asked) {
            return Decision::Allowed(ApprovalNeed::Person);
        }
        let decision = self.society.decide(request);
        if decision != Decision::Denied {
            self.allowed.borrow_mut().insert(asked);
        }
        decision
    }
}
