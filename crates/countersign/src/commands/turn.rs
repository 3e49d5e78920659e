//! `countersign turn`.

mod approvals_file;
mod identity;
mod package_directory;
mod prompt;
mod tools_file;
mod used_once;

use std::cell::OnceCell;
use std::path::Path;

use anyhow::{Context as _, bail};
use countersign_canonical::{Limits, Value};
use countersign_contract::{
    Arguments, Call, ErrorCode, Inert, Package, Principal, RequestDigest, Risk, ToolContract,
    UtcSecond,
};
use countersign_dispatch::{
    BusinessState, DispatchRequest, Ledger, MemoryLedger, StateVerdict, ledger,
};
use countersign_policy::{AccessRequest, Approval, Authorized};
use countersign_providers::{
    Answers, Duty, Family, ProposedCall, RESPONSE_LIMITS, Refusal, Turn, read, read_as,
};
use countersign_runtime::{Clock as _, DispatchPorts, SystemClock, dispatch};

use self::approvals_file::{check_new, read_approvals, write_approvals};
use self::identity::{approval_id, bind};
use self::package_directory::PackageDirectory;
use self::prompt::{Answer, Terminal};
use self::tools_file::ToolsFile;
use self::used_once::UsedOnce;
use crate::cli::{ApproveMode, TurnArguments};
use crate::input::{self, read_json};
use crate::output::{Verdict, complain, print_json};

pub(crate) fn run(arguments: &TurnArguments) -> anyhow::Result<Verdict> {
    let tools = ToolsFile::load(&arguments.tools)?;
    let principal = principal(arguments, &tools)?;
    let response = input::read("response", Some(&arguments.response), RESPONSE_LIMITS.bytes)?;
    let turn = match &arguments.provider {
        Some(family) => read_as(family.parse::<Family>()?, &response)?,
        None => read(&response)?,
    };
    let earlier = match &arguments.approvals {
        Some(file) => read_approvals(file)?,
        None => Vec::new(),
    };
    let packages = arguments
        .packages
        .as_deref()
        .map(PackageDirectory::open)
        .transpose()?;
    report_skipped(&turn);
    let host = Host {
        tools: &tools,
        principal: &principal,
        ledger: MemoryLedger::default(),
        earlier,
        approvals_file: arguments.approvals.as_deref(),
        approve: arguments.approve,
        terminal: OnceCell::new(),
        packages,
    };
    match &arguments.record_approvals {
        Some(file) => {
            check_new(file)?;
            if host.terminal().is_none() {
                bail!("nobody can be asked, so nothing can be approved");
            }
            let approvals = host.ask_for_all(&turn)?;
            write_approvals(file, &approvals)?;
            complain(&recorded(approvals.len(), tools.approval_seconds()));
            Ok(Verdict::Good)
        }
        None => Ok(host.carry_out(&turn)),
    }
}

fn recorded(count: usize, seconds: u64) -> String {
    let count = match count {
        0 => return "nothing was approved; the file says so".to_owned(),
        1 => "one approval".to_owned(),
        _ => format!("{count} approvals"),
    };
    format!("recorded {count}; each lives for {seconds} seconds")
}

fn principal(arguments: &TurnArguments, tools: &ToolsFile) -> anyhow::Result<Principal> {
    match (&arguments.principal, tools.principal()) {
        (Some(file), _) => {
            let value = read_json("principal", file, &Limits::tool_result())?;
            Principal::from_value(&value).context("the principal is not in order")
        }
        (None, Some(principal)) => Ok(principal.clone()),
        (None, None) => {
            bail!("on whose behalf? name a --principal, or put one into the tools file")
        }
    }
}

/// Items that look like calls and are not ours to answer; a person should know of those that wait for somebody.
fn report_skipped(turn: &Turn) {
    for skipped in turn.skipped() {
        match skipped.duty() {
            Duty::Provider | Duty::Answered => {}
            Duty::Caller => complain(&format!(
                "an item of type {} waits for an answer that only you can give",
                skipped.kind()
            )),
            Duty::Unknown => complain(&format!(
                "an item of the new type {} is not served",
                skipped.kind()
            )),
        }
    }
}

/// The most faults of one call's arguments that are told of.
const MAX_EXPLAINED_FAULTS: usize = 16;

/// One run: the tools, for whom, and who can be asked.
struct Host<'r> {
    tools: &'r ToolsFile,
    principal: &'r Principal,
    ledger: MemoryLedger,
    earlier: Vec<Approval>,
    approvals_file: Option<&'r Path>,
    approve: ApproveMode,
    terminal: OnceCell<Option<Terminal>>,
    packages: Option<PackageDirectory>,
}

impl Host<'_> {
    /// Answers the calls and prints the outputs. Whatever fails from here on is not the input's fault, and calls may have
    /// acted: it never passes for a run that nothing came of.
    fn carry_out(&self, turn: &Turn) -> Verdict {
        let printed = self.answer(turn).and_then(|outputs| {
            if let Some(outputs) = outputs {
                return print_json(&outputs);
            }
            complain("the response makes no tool calls; there is nothing to append");
            Ok(())
        });
        match printed {
            Ok(()) => Verdict::Good,
            Err(error) => {
                complain(&format!(
                    "the calls were carried out, but their outputs are lost: {error:#}; find out what they did before \
                     you run this again"
                ));
                Verdict::Bad
            }
        }
    }

    /// Answers every call, in order. What one call comes to never depends on another's decision.
    fn answer(&self, turn: &Turn) -> anyhow::Result<Option<Value>> {
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
        let contract = self.tools.registry().get(proposed.name());
        let call = bind(turn, proposed, arguments, self.principal, contract);
        let package = match self.package(&call, contract) {
            Ok(package) => package,
            Err(error) => {
                complain(&error.to_string());
                return Ok(answers.refuse(proposed.call_id(), Refusal::HostUnavailable)?);
            }
        };
        let code = package
            .model_result()
            .error_code()
            .map_or("OK", ErrorCode::as_str);
        note(call.name.as_str(), code);
        explain(&call, contract, code);
        if let Some(directory) = &self.packages
            && let Err(error) = directory.keep(self.principal, &call, contract, &package)
        {
            // It has happened; the other calls and the outputs must not be lost over it.
            complain(&format!("{error:#}"));
        }
        let verified = package.verify(self.principal, &call, contract)?;
        Ok(answers.give(&verified)?)
    }

    /// Takes the call through the pipeline; asks where only an approval is lacking, and comes again with the answer.
    fn package(
        &self,
        call: &Call,
        contract: Option<&ToolContract>,
    ) -> Result<Package, CannotDispatch> {
        let package = self.dispatch_with_earlier(call, contract)?;
        let code = package.model_result().error_code();
        let (Some(contract), Some(ErrorCode::ApprovalRequired | ErrorCode::ApprovalInvalid)) =
            (contract, code)
        else {
            return Ok(package);
        };
        let Some(terminal) = self.terminal() else {
            return Ok(package);
        };
        match self.ask(terminal, call, contract) {
            Answer::Approved(approval) => {
                self.dispatch(&self.ledger, call, Some(contract), &[*approval])
            }
            Answer::Denied => {
                let request = RequestDigest::of(self.principal, call, Some(contract));
                let code = ErrorCode::ApprovalInvalid;
                Ok(Package::error(
                    self.principal,
                    call,
                    Some(contract),
                    request,
                    code,
                    now()?,
                    None,
                ))
            }
            Answer::Unanswered => Ok(package),
        }
    }

    /// With approvals made earlier, each of which counts once for all runs.
    fn dispatch_with_earlier(
        &self,
        call: &Call,
        contract: Option<&ToolContract>,
    ) -> Result<Package, CannotDispatch> {
        let Some(file) = self.approvals_file else {
            return self.dispatch(&self.ledger, call, contract, &[]);
        };
        let earlier = self.earlier_for(call);
        let ledger = UsedOnce::new(&self.ledger, &earlier, file);
        self.dispatch(&ledger, call, contract, &earlier)
    }

    fn dispatch(
        &self,
        ledger: &dyn Ledger,
        call: &Call,
        contract: Option<&ToolContract>,
        approvals: &[Approval],
    ) -> Result<Package, CannotDispatch> {
        let ports = DispatchPorts {
            ledger,
            authorizer: self.tools.rules(),
            approvers: self.tools.rules(),
            state: &NoBusinessState,
            executor: self.tools.handlers(),
        };
        let request = DispatchRequest {
            principal: self.principal,
            call,
            contract,
            approvals,
            intent: None,
            downstream_memory: None,
            now: now()?,
        };
        Ok(dispatch(&ports, &request)?)
    }

    /// The approvals made earlier that speak of this call at all; whether they hold, the pipeline says.
    fn earlier_for(&self, call: &Call) -> Vec<Approval> {
        let speaks_of_it = |approval: &&Approval| {
            approval.call_id == call.call_id.as_str()
                && approval.operation_id == call.operation_id.as_str()
        };
        self.earlier.iter().filter(speaks_of_it).cloned().collect()
    }

    /// The terminal, opened when somebody is first to be asked.
    fn terminal(&self) -> Option<&Terminal> {
        match self.approve {
            ApproveMode::Ask => self.terminal.get_or_init(Terminal::open).as_ref(),
            ApproveMode::None => None,
        }
    }

    fn ask(&self, terminal: &Terminal, call: &Call, contract: &ToolContract) -> Answer {
        let access = AccessRequest {
            principal: self.principal,
            call,
            contract,
        };
        let Some(approver) = self.tools.approver(self.principal) else {
            complain(
                "the tools file lists no approver other than the subject that calls, so nothing can be approved",
            );
            return Answer::Unanswered;
        };
        if !terminal.asks_for(&access, self.tools.description(&call.name), approver) {
            return Answer::Denied;
        }
        // The time a person takes does not count: the approval's begins now.
        let expires_at = now()
            .ok()
            .and_then(|now| now.checked_add(self.tools.approval_seconds()));
        let Some(expires_at) = expires_at else {
            return Answer::Unanswered;
        };
        let request = RequestDigest::of(self.principal, call, Some(contract));
        let approval = Approval::of(&access, &request, approval_id(call), approver, expires_at);
        Answer::Approved(Box::new(approval))
    }

    /// Asks for every call that lacks nothing but an approval, and runs nothing.
    fn ask_for_all(&self, turn: &Turn) -> anyhow::Result<Vec<Approval>> {
        let mut approvals = Vec::new();
        for proposed in turn
            .proposals()
            .iter()
            .filter_map(|proposal| proposal.proposed())
        {
            let contract = self.tools.registry().get(proposed.name());
            let (Ok(arguments), Some(contract), Some(terminal)) = (
                Arguments::new(proposed.arguments().clone()),
                contract,
                self.terminal(),
            ) else {
                continue;
            };
            let call = bind(turn, proposed, arguments, self.principal, Some(contract));
            if contract.risk == Risk::Read {
                continue;
            }
            let package = self.dispatch(&self.ledger, &call, Some(contract), &[])?;
            if package.model_result().error_code() != Some(ErrorCode::ApprovalRequired) {
                continue;
            }
            if let Answer::Approved(approval) = self.ask(terminal, &call, contract) {
                approvals.push(*approval);
            }
        }
        Ok(approvals)
    }
}

/// Why a call could not even be refused by the pipeline. Nothing was executed.
#[derive(Debug, thiserror::Error)]
enum CannotDispatch {
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error("the clock shows a time before 1970 or after 9999")]
    Clock,
}

fn now() -> Result<UtcSecond, CannotDispatch> {
    SystemClock.now().ok_or(CannotDispatch::Clock)
}

/// Says on standard error what became of a call.
fn note(tool: &str, what: &str) {
    complain(&format!("{}: {what}", Inert::beginning(tool, 64)));
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

/// Commands have no business state of their own to look at: a tool that must not act now says so itself.
struct NoBusinessState;

impl BusinessState for NoBusinessState {
    fn verdict(&self, _: &Authorized<'_>) -> StateVerdict {
        StateVerdict::Allows
    }
}
