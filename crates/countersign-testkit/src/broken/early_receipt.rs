//! Broken: a success is told before it is written. Where the process dies in between, it never is.

use std::cell::RefCell;
use std::rc::Rc;

use countersign_contract::Scope;
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{Fence, Settled, Settlement};

use super::pipeline;
use crate::ledger::HostLedger;

/// Writes successes with the next call.
pub(crate) struct EarlyReceipt {
    inner: Rc<dyn HostLedger>,
    unwritten: RefCell<Vec<(Scope, Fence, Settlement)>>,
}

impl EarlyReceipt {
    pub(crate) fn over(inner: Rc<dyn HostLedger>) -> Self {
        Self {
            inner,
            unwritten: RefCell::default(),
        }
    }

    fn written(&self) -> &dyn HostLedger {
        for (scope, fence, settlement) in self.unwritten.take() {
            // Whoever was told hears nothing of it.
            let _ = self.inner.settle(&scope, fence, &settlement);
        }
        &*self.inner
    }
}

pipeline! { EarlyReceipt(written) {
    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, Error> {
        if matches!(settlement, Settlement::Succeeded(_)) {
            let unwritten = (scope.clone(), fence, settlement.clone());
            self.unwritten.borrow_mut().push(unwritten);
            return Ok(Settled::Written);
        }
        self.inner.settle(scope, fence, settlement)
    }
} }
