//! What performing an operation needs of this program: the tools, whom it knows, and the ledger.

use countersign_contract::Principal;
use countersign_dispatch::{BusinessState, StateVerdict};
use countersign_policy::Authorized;
use countersign_runtime::{PrincipalDirectory, WorkPorts};

use crate::host_ledger::HostLedger;
use crate::tools_file::ToolsFile;

/// Performs the operations of some principals with the tools of a file.
#[derive(Clone, Copy)]
pub(crate) struct Performer<'p> {
    pub(crate) tools: &'p ToolsFile,
    pub(crate) principals: &'p [Principal],
    pub(crate) ledger: &'p dyn HostLedger,
}

impl Performer<'_> {
    pub(crate) fn ports(&self) -> WorkPorts<'_> {
        WorkPorts {
            ledger: self.ledger,
            registry: self.tools.registry(),
            principals: self,
            authorizer: self.tools.rules(),
            approvers: self.tools.rules(),
            state: &NoBusinessState,
            executor: self.tools.handlers(),
            source: self.tools.status(),
        }
    }
}

/// The principals that it was given are the only ones whose claims it knows.
impl PrincipalDirectory for Performer<'_> {
    fn current(&self, stored: &Principal) -> Option<Principal> {
        let is_same = |known: &&Principal| {
            known.tenant_id == stored.tenant_id && known.subject_id == stored.subject_id
        };
        self.principals.iter().find(is_same).cloned()
    }

    fn serves(&self, stored: &Principal) -> bool {
        self.current(stored).is_some()
    }
}

/// Commands have no business state of their own to look at: a tool that must not act now says so itself.
pub(crate) struct NoBusinessState;

impl BusinessState for NoBusinessState {
    fn verdict(&self, _: &Authorized<'_>) -> StateVerdict {
        StateVerdict::Allows
    }
}
