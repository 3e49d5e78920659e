//! Approvals made earlier let a call act once, in whichever run comes first.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use countersign_contract::{CallFingerprint, CheckedAnswer, Scope, StatusRef};
use countersign_dispatch::ledger::{self, Ledger};
use countersign_dispatch::{
    CallBound, CallIdentity, Fence, MemoryLedger, Operation, OperationState, Proposal, Proposed,
    Reservation, Reserved, Settled, Settlement,
};
use countersign_policy::{Approval, ApprovalEvidence};

use crate::output::complain;

/// The run's ledger for one call that approvals of a file are offered with.
///
/// What is used up is noted beside the file before anything acts, since the ledger itself ends with the run. Of two runs
/// one makes the note; to the other the outcome is unknown. A proven not-started takes the note back.
pub(super) struct UsedOnce<'r> {
    memory: &'r MemoryLedger,
    offered: &'r [Approval],
    file: &'r Path,
    noted: RefCell<Option<PathBuf>>,
}

impl<'r> UsedOnce<'r> {
    /// A ledger for a call that is offered these approvals of this file.
    pub(super) fn new(memory: &'r MemoryLedger, offered: &'r [Approval], file: &'r Path) -> Self {
        Self {
            memory,
            offered,
            file,
            noted: RefCell::new(None),
        }
    }

    /// Where the use of an approval is noted; nowhere for one that is not the file's, such as the policy's own.
    fn note_of(&self, evidence: &ApprovalEvidence) -> Option<PathBuf> {
        let digest = evidence.digest.to_string();
        let is_of_the_file = self.offered.iter().any(|approval| {
            approval.approval_id == evidence.approval_id.as_str()
                && approval.approval_digest == digest
        });
        // Approved anew, the same call has another expiry: that is another approval.
        is_of_the_file
            .then(|| note_beside(self.file, &digest, evidence.expires_at.as_unix_seconds()))
    }
}

impl Ledger for UsedOnce<'_> {
    fn bind_call(
        &self,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<CallBound, ledger::Error> {
        self.memory.bind_call(identity, fingerprint)
    }

    fn find_operation(
        &self,
        scope: &Scope,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<Option<Operation>, ledger::Error> {
        self.memory.find_operation(scope, identity, fingerprint)
    }

    fn find_queryable(&self, status_ref: &StatusRef) -> Result<Option<Operation>, ledger::Error> {
        self.memory.find_queryable(status_ref)
    }

    fn propose(&self, proposal: &Proposal<'_>) -> Result<Proposed, ledger::Error> {
        self.memory.propose(proposal)
    }

    fn reserve(&self, reservation: &Reservation<'_>) -> Result<Reserved, ledger::Error> {
        let Some(note) = self.note_of(&reservation.approval) else {
            return self.memory.reserve(reservation);
        };
        match make_note(&note) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                complain("an earlier run used this approval; find out what came of it first");
                return Ok(Reserved::Occupied(Box::new(begun_earlier(reservation))));
            }
            Err(error) => {
                complain(&format!(
                    "cannot note beside the approvals that one is used: {}",
                    error.kind()
                ));
                return Err(ledger::Error::Unavailable(ledger::Cause::Io));
            }
        }
        let reserved = self.memory.reserve(reservation);
        if matches!(reserved, Ok(Reserved::Taken(_))) {
            self.noted.replace(Some(note));
        } else {
            take_back(&note);
        }
        reserved
    }

    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, ledger::Error> {
        let settled = self.memory.settle(scope, fence, settlement)?;
        if settled == Settled::Written
            && matches!(settlement, Settlement::Released(_))
            && let Some(note) = self.noted.take()
        {
            take_back(&note);
        }
        Ok(settled)
    }

    fn reconcile(&self, scope: &Scope, answer: &CheckedAnswer) -> Result<Settled, ledger::Error> {
        self.memory.reconcile(scope, answer)
    }
}

/// The operation as another run left it: it may have acted.
fn begun_earlier(reservation: &Reservation<'_>) -> Operation {
    Operation {
        scope: reservation.proposal.scope.clone(),
        terms: reservation.proposal.terms.clone(),
        state: OperationState::Unknown,
        was_unknown: true,
    }
}

fn note_beside(file: &Path, digest: &str, expires_at: u64) -> PathBuf {
    let mut name = file.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!(".{digest}-{expires_at}.used"));
    file.with_file_name(name)
}

/// Makes a note that lasts. Of several who make the same one, all but the first are told that it exists.
fn make_note(note: &Path) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(note)?
        .sync_all()?;
    let directory = note.parent().filter(|parent| *parent != Path::new(""));
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

/// Frees an approval again. Where that fails it stays used, which is the safe side.
fn take_back(note: &Path) {
    if let Err(error) = std::fs::remove_file(note) {
        complain(&format!(
            "nothing was executed, but the approval stays used: {}",
            error.kind()
        ));
    }
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};
    use countersign_contract::{
        Call, ErrorCode, FaultCollector, Principal, RequestDigest, ToolName, UtcSecond, read_call,
    };
    use countersign_dispatch::DispatchRequest;
    use countersign_policy::AccessRequest;
    use countersign_runtime::{DispatchPorts, dispatch};
    use countersign_shop::{Disturbance, Shop, ShopExecutor, approver, registry};

    use super::*;

    const PRINCIPAL: &str = r#"{"tenant_id": "tenant-a", "subject_id": "user-1", "roles": []}"#;
    const CALL: &str = r#"{
        "name": "create_refund_draft", "arguments": {"order_ref": "ORDER-7", "reason": "damaged"},
        "provider": "openai", "api_family": "responses", "adapter_revision": "openai-responses-v1",
        "response_id": "r", "call_id": "c", "operation_id": "o", "idempotency_key": "k"
    }"#;

    /// Dispatches the call as a run of its own would, and gives the code.
    fn run(shop: &Shop, file: &Path, lifetime: u64, disturbance: Disturbance) -> &'static str {
        let value = |text: &str| parse(text.as_bytes(), &Limits::tool_result()).unwrap();
        let principal = Principal::from_value(&value(PRINCIPAL)).unwrap();
        let mut faults = FaultCollector::new();
        let call: Call = read_call(
            &countersign_contract::Path::root(),
            &value(CALL),
            &mut faults,
        )
        .unwrap();
        let registry = registry();
        let contract = registry.get(&ToolName::new("create_refund_draft").unwrap());
        let now = UtcSecond::new(1_784_419_200).unwrap();
        let access = AccessRequest {
            principal: &principal,
            call: &call,
            contract: contract.unwrap(),
        };
        let request = RequestDigest::of(&principal, &call, contract);
        let expiry = now.checked_add(lifetime).unwrap();
        let approval = Approval::of(&access, &request, "a".to_owned(), &approver(), expiry);
        let memory = MemoryLedger::default();
        let approvals = [approval];
        let ledger = UsedOnce::new(&memory, &approvals, file);
        let executor = ShopExecutor { shop, disturbance };
        let ports = DispatchPorts {
            ledger: &ledger,
            authorizer: shop,
            approvers: shop,
            state: shop,
            executor: &executor,
        };
        let request = DispatchRequest {
            principal: &principal,
            call: &call,
            contract,
            approvals: &approvals,
            intent: None,
            downstream_memory: None,
            now,
        };
        match dispatch(&ports, &request) {
            Ok(package) => package
                .model_result()
                .error_code()
                .map_or("OK", ErrorCode::as_str),
            Err(_) => "NO LEDGER",
        }
    }

    #[test]
    fn an_approval_of_a_file_acts_once_in_all_runs() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("approvals.json");
        let shop = Shop::default();
        let runs = [
            // What did not begin uses nothing up.
            (60, Disturbance::RateLimit, "RATE_LIMIT", 0),
            (60, Disturbance::Unreachable, "TOOL_ERROR", 0),
            (60, Disturbance::None, "OK", 1),
            (60, Disturbance::None, "OUTCOME_UNKNOWN", 1),
            // Approved anew.
            (61, Disturbance::AnswerLost, "OUTCOME_UNKNOWN", 2),
            (61, Disturbance::None, "OUTCOME_UNKNOWN", 2),
            (60, Disturbance::None, "OUTCOME_UNKNOWN", 2),
        ];
        for (index, (lifetime, disturbance, code, effects)) in runs.into_iter().enumerate() {
            assert_eq!(run(&shop, &file, lifetime, disturbance), code, "{index}");
            assert_eq!(shop.effect_count(), effects, "{index}");
        }
    }

    #[test]
    fn of_racing_runs_one_acts() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("approvals.json");
        let shop = Shop::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| run(&shop, &file, 60, Disturbance::None));
            }
        });
        assert_eq!(shop.effect_count(), 1);
    }

    #[test]
    fn what_cannot_be_noted_does_not_run() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("nowhere/approvals.json");
        let shop = Shop::default();
        assert_eq!(run(&shop, &file, 60, Disturbance::None), "NO LEDGER");
        assert_eq!(shop.effect_count(), 0);
    }

    #[test]
    fn notes_stand_beside_the_file() {
        for (file, note) in [
            ("place/approvals.json", "place/approvals.json.ab-1.used"),
            ("approvals.json", "approvals.json.ab-1.used"),
        ] {
            assert_eq!(note_beside(Path::new(file), "ab", 1), Path::new(note));
        }
    }
}
