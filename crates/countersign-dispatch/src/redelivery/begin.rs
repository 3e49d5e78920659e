//! Another attempt begins under a fence of its own.

use countersign_contract::Scope;
use countersign_policy::Approved;

use super::{Redelivery, Repeated};
use crate::dispatch::{Dispatch, Execute, Hold};
use crate::operation::Lease;

/// Another attempt is to be written down.
#[derive(Debug)]
pub struct BeginAgain<'a> {
    repeated: Repeated<'a>,
    approved: Approved<'a>,
}

impl<'a> BeginAgain<'a> {
    pub(super) fn new(repeated: Repeated<'a>, approved: Approved<'a>) -> Self {
        Self { repeated, approved }
    }

    /// Of which operation.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.repeated.scope
    }

    /// Goes on with the ledger's answer: without a lease nothing is sent.
    #[must_use]
    pub fn answer(self, lease: Option<Lease>) -> Redelivery<'a> {
        let Self { repeated, approved } = self;
        let Some(lease) = lease else {
            return Redelivery::Dispatch(Box::new(Dispatch::Done(repeated.still_unknown())));
        };
        let hold = Hold {
            scope: repeated.scope,
            lease,
            status_ref: repeated.terms.status_ref,
            is_repetition: true,
        };
        let execute = Execute::write(repeated.context, approved, hold);
        Redelivery::Dispatch(Box::new(Dispatch::Execute(execute)))
    }
}
