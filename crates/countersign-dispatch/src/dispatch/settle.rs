//! Step 11: what came of a write is written down before anyone hears of it.

use countersign_contract::{ErrorCode, Package, Scope};

use super::Dispatch;
use super::execute::Hold;
use crate::context::Context;
use crate::ledger::{Error, Settled};
use crate::operation::{Fence, Settlement};

/// A write's outcome is to be written down.
#[derive(Debug)]
pub struct Settle<'a> {
    context: Context<'a>,
    hold: Hold,
    settlement: Settlement,
    package: Box<Package>,
}

impl<'a> Settle<'a> {
    pub(super) fn new(
        context: Context<'a>,
        hold: Hold,
        settlement: Settlement,
        package: Package,
    ) -> Self {
        let package = Box::new(package);
        Self {
            context,
            hold,
            settlement,
            package,
        }
    }

    /// Whose outcome.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.hold.scope
    }

    /// Under which reservation.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.hold.lease.fence
    }

    /// What is to be written.
    #[must_use]
    pub fn settlement(&self) -> &Settlement {
        &self.settlement
    }

    /// Ends with the ledger's answer. What could not be written down is unknown, whatever the handler said.
    #[must_use]
    pub fn answer(self, settled: Result<Settled, Error>) -> Dispatch<'a> {
        let Self {
            context,
            hold,
            package,
            ..
        } = self;
        Dispatch::Done(match settled {
            Ok(Settled::Written) => *package,
            Ok(Settled::Stale) | Err(_) => {
                context.error(ErrorCode::OutcomeUnknown, Some(hold.status_ref))
            }
        })
    }
}
