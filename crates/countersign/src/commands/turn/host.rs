//! Answers the calls of one response, each through the whole pipeline.

use std::cell::OnceCell;
use std::time::Duration;

use countersign_canonical::Value;
use countersign_contract::{
    Arguments, Call, ErrorCode, Inert, IntentDigest, Package, Principal, Risk, Scope, ToolContract,
    UtcSecond,
};
use countersign_dispatch::{CallIdentity, DispatchRequest, Intent, ledger};
use countersign_ledger::StateKind;
use countersign_policy::Approval;
use countersign_providers::{Answers, ProposedCall, Refusal, Turn};
use countersign_runtime::{Clock as _, DispatchPorts, Performed, SystemClock, dispatch, perform};

use super::package_directory::PackageDirectory;
use crate::approver_key::UnlockedKey;
use crate::host_ledger::HostLedger;
use crate::identity::bind;
use crate::ledger_advice::failed;
use crate::output::complain;
use crate::performer::{NoBusinessState, Performer};
use crate::prompt::Terminal;
use crate::tools_file::ToolsFile;

/// The most faults of one call's arguments that are told of.
const MAX_EXPLAINED_FAULTS: usize = 16;
/// The most decisions that are waited for on behalf of one call: each one may be overtaken by another.
const MAX_DECISIONS: usize = 4;

/// One run: the tools, for whom, and who can be asked.
pub(super) struct Host<'r> {
    pub(super) tools: &'r ToolsFile,
    pub(super) principal: &'r Principal,
    pub(super) ledger: &'r dyn HostLedger,
    pub(super) earlier: Vec<Approval>,
    pub(super) asking: Asking,
    pub(super) terminal: OnceCell<Option<Terminal>>,
    /// The key of whoever approves here, once it is open.
    pub(super) key: OnceCell<UnlockedKey>,
    pub(super) packages: Option<PackageDirectory>,
}

/// Who decides about a write that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    /// A person on the terminal of this run, or elsewhere before that one answers.
    Here,
    /// A person elsewhere, within a time.
    Elsewhere(Duration),
    /// Nobody during this run.
    Nobody,
}

impl Host<'_> {
    /// Answers every call, in order. What one call comes to never depends on another's decision.
    pub(super) fn answer(&self, turn: &Turn) -> anyhow::Result<Option<Value>> {
        let mut answers = turn.answers();
        for proposal in turn.proposals() {
            if let Some(proposed) = proposal.proposed() {
                self.answer_call(turn, proposed, &mut answers)?;
            } else if let Some(reason) = proposal.refusal() {
                note(
                    proposal.given_name().unwrap_or("a call without a name"),
                    reason.code(),
                );
            }
        }
        Ok(answers.finish()?)
    }

    fn answer_call(
        &self,
        turn: &Turn,
        proposed: &ProposedCall,
        answers: &mut Answers<'_>,
    ) -> anyhow::Result<()> {
        let Ok(arguments) = Arguments::new(proposed.arguments().clone()) else {
            note(proposed.name().as_str(), Refusal::OutsideDomain.code());
            return Ok(answers.refuse(proposed.call_id(), Refusal::OutsideDomain)?);
        };
        let answered = self
            .pending(turn, proposed, arguments)
            .and_then(|pending| Ok((self.package(&pending)?, pending)));
        let (package, pending) = match answered {
            Ok(answered) => answered,
            Err(error) => {
                complain(&error.to_string());
                return Ok(answers.refuse(proposed.call_id(), Refusal::HostUnavailable)?);
            }
        };
        let Pending { call, contract, .. } = pending;
        let code = package
            .model_result()
            .error_code()
            .map_or("OK", ErrorCode::as_str);
        note(call.name.as_str(), code);
        explain(&call, contract, code);
        if code == ErrorCode::OutcomeUnknown.as_str() {
            tell_handle(&call, &package);
        }
        if let Some(directory) = &self.packages
            && let Err(error) = directory.keep(self.principal, &call, contract, &package)
        {
            // It has happened; the other calls and the outputs must not be lost over it.
            complain(&format!("{error:#}"));
        }
        let verified = package.verify(self.principal, &call, contract)?;
        Ok(answers.give(&verified)?)
    }

    /// The call with its contract; a write under the key that the ledger has for what it means.
    pub(super) fn pending(
        &self,
        turn: &Turn,
        proposed: &ProposedCall,
        arguments: Arguments,
    ) -> Result<Pending<'_>, CannotDispatch> {
        let contract = self.tools.registry().get(proposed.name());
        let mut call = bind(turn, proposed, arguments, self.principal);
        let mut intent = None;
        if contract.is_some_and(|contract| contract.risk == Risk::Write) {
            let identity = CallIdentity::of(self.principal, &call);
            let digest = IntentDigest::of(self.principal, &call);
            let found = self.ledger.intent(&identity, &digest)?;
            call.idempotency_key = Some(found.digest.key(found.generation));
            intent = Some(found);
        }
        Ok(Pending {
            scope: Scope::of(self.principal, &call),
            call,
            contract,
            intent,
        })
    }

    /// Takes the call through the pipeline. What was approved for it meanwhile is performed first; where only a decision is
    /// lacking, it is waited for.
    fn package(&self, pending: &Pending<'_>) -> Result<Package, CannotDispatch> {
        if let Some(package) = self.perform_due(pending)? {
            return Ok(package);
        }
        let package = self.dispatch(pending, &self.earlier_for(&pending.call))?;
        let package = match package.model_result().error_code() {
            // What was approved earlier does not hold any more; somebody may approve it anew.
            Some(ErrorCode::ApprovalInvalid) if self.can_ask() => self.dispatch(pending, &[])?,
            Some(ErrorCode::OutcomeUnknown) if self.looks_again(pending)? => {
                self.dispatch(pending, &[])?
            }
            _ => package,
        };
        self.decided(pending, package)
    }

    /// Waits for decisions as long as nothing else is lacking.
    fn decided(
        &self,
        pending: &Pending<'_>,
        mut package: Package,
    ) -> Result<Package, CannotDispatch> {
        for _ in 0..MAX_DECISIONS {
            let code = package.model_result().error_code();
            if code != Some(ErrorCode::ApprovalRequired) || !self.is_decided(pending)? {
                break;
            }
            if let Some(performed) = self.perform_due(pending)? {
                return Ok(performed);
            }
            package = self.dispatch(pending, &[])?;
        }
        Ok(package)
    }

    /// Performs what was approved under the call's key. Gives the result where it is this very call's.
    fn perform_due(&self, pending: &Pending<'_>) -> Result<Option<Package>, CannotDispatch> {
        let Some(scope) = &pending.scope else {
            return Ok(None);
        };
        let task = self.ledger.task(scope)?;
        let Some(task) = task.filter(|task| task.record.kind() == StateKind::Reserved) else {
            return Ok(None);
        };
        let performed = perform(&self.performer().ports(), &task)?;
        Ok(match performed {
            Performed::Done(package) if task.proposal.call == pending.call => Some(*package),
            Performed::Done(_)
            | Performed::Blocked(_)
            | Performed::StillUnknown
            | Performed::Nothing => None,
        })
    }

    /// Asks the downstream once more what became of an unknown outcome. Tells whether that is known now.
    fn looks_again(&self, pending: &Pending<'_>) -> Result<bool, CannotDispatch> {
        let Some(scope) = &pending.scope else {
            return Ok(false);
        };
        match self.ledger.task(scope)? {
            Some(task) if task.record.kind() == StateKind::Unknown => Ok(matches!(
                perform(&self.performer().ports(), &task)?,
                Performed::Done(_)
            )),
            Some(_) | None => Ok(false),
        }
    }

    pub(super) fn dispatch(
        &self,
        pending: &Pending<'_>,
        approvals: &[Approval],
    ) -> Result<Package, CannotDispatch> {
        let ports = DispatchPorts {
            ledger: self.ledger,
            authorizer: self.tools.rules(),
            approvers: self.tools.rules(),
            state: &NoBusinessState,
            executor: self.tools.handlers(),
        };
        let request = DispatchRequest {
            principal: self.principal,
            call: &pending.call,
            contract: pending.contract,
            approvals,
            intent: pending.intent,
            downstream_memory: self.tools.downstream_memory(&pending.call.name),
            now: now()?,
        };
        Ok(dispatch(&ports, &request)?)
    }

    fn performer(&self) -> Performer<'_> {
        Performer {
            tools: self.tools,
            principals: std::slice::from_ref(self.principal),
            ledger: self.ledger,
        }
    }

    /// The approvals made earlier that speak of this call at all; whether they hold, the pipeline says.
    fn earlier_for(&self, call: &Call) -> Vec<Approval> {
        let speaks_of_it = |approval: &&Approval| {
            approval.call_id == call.call_id.as_str()
                && approval.operation_id == call.operation_id.as_str()
        };
        self.earlier.iter().filter(speaks_of_it).cloned().collect()
    }
}

/// A call on its way.
pub(super) struct Pending<'r> {
    pub(super) call: Call,
    pub(super) contract: Option<&'r ToolContract>,
    pub(super) scope: Option<Scope>,
    intent: Option<Intent>,
}

/// Why a call could not even be refused by the pipeline. Nothing was executed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CannotDispatch {
    #[error("{}", failed(*.0))]
    Ledger(#[source] ledger::Error),
    #[error("the clock shows a time before 1970 or after 9999")]
    Clock,
    #[error("{0:#}")]
    Key(anyhow::Error),
}

impl From<ledger::Error> for CannotDispatch {
    fn from(error: ledger::Error) -> Self {
        Self::Ledger(error)
    }
}

fn now() -> Result<UtcSecond, CannotDispatch> {
    SystemClock.now().ok_or(CannotDispatch::Clock)
}

/// Says on standard error what became of a call.
pub(super) fn note(tool: &str, what: &str) {
    complain(&format!("{}: {what}", Inert::beginning(tool, 64)));
}

/// Says on standard error where everything about a write of unknown outcome is to be seen.
fn tell_handle(call: &Call, package: &Package) {
    if let Some(status_ref) = package.protected_audit().downstream.status_ref {
        let how = format!("what is known of it: countersign operations show {status_ref}");
        note(call.name.as_str(), &how);
    }
}

/// Says on standard error what is wrong with arguments, for whoever made the contract; it repeats names and no values.
fn explain(call: &Call, contract: Option<&ToolContract>, code: &str) {
    if code != ErrorCode::InvalidArguments.as_str() {
        return;
    }
    let faults = contract.and_then(|contract| contract.check_arguments(&call.arguments).err());
    for fault in faults.iter().flatten().take(MAX_EXPLAINED_FAULTS) {
        note(call.name.as_str(), &fault.to_string());
    }
}
