//! Broken: a holder settles whatever attempt is the last one.

use std::rc::Rc;

use countersign_contract::Scope;
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{Fence, Settled, Settlement};
use countersign_ledger::{MAX_PAGE, OperationFilter};

use super::pipeline;
use crate::ledger::HostLedger;

/// Takes the fence that is stored for the holder's own.
pub(crate) struct Unfenced(pub(crate) Rc<dyn HostLedger>);

impl Unfenced {
    fn sound(&self) -> &dyn HostLedger {
        &*self.0
    }

    fn stored(&self, scope: &Scope) -> Result<Option<Fence>, Error> {
        let operations = self
            .0
            .operations(&OperationFilter::default(), None, MAX_PAGE)?;
        let found = operations
            .items
            .iter()
            .find(|record| record.scope == *scope);
        Ok(found.map(|record| Fence::new(record.fence)))
    }
}

pipeline! { Unfenced(sound) {
    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, Error> {
        let stored = self.stored(scope)?;
        self.0.settle(scope, stored.unwrap_or(fence), settlement)
    }
} }
