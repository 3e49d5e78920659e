//! `countersign turn`.

mod approvals_file;
mod decisions;
mod host;
mod package_directory;

use std::cell::OnceCell;
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use countersign_ledger::Work as _;
use countersign_providers::{Duty, Family, RESPONSE_LIMITS, Turn, read, read_as};
use countersign_runtime::while_alive;

use self::approvals_file::{check_new, read_approvals, write_approvals};
use self::host::{Asking, Host};
use self::package_directory::PackageDirectory;
use crate::cli::{ApproveMode, TurnArguments};
use crate::host_ledger::{HostLedger, LedgerLocation, open_ledger};
use crate::input;
use crate::ledger_advice::failed;
use crate::output::{Verdict, complain, print_json};
use crate::tools_file::ToolsFile;

/// The most operations that a run tidies up after others before it begins.
const MAX_TIDIED: usize = 100;

pub(crate) fn run(arguments: &TurnArguments) -> anyhow::Result<Verdict> {
    let tools = ToolsFile::load(&arguments.tools)?;
    let principal = tools.principal_or(arguments.principal.as_deref())?;
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
    let ledger = open_ledger(&LedgerLocation::or_default(arguments.ledger.as_ref())?)?;
    let host = Host {
        tools: &tools,
        principal: &principal,
        ledger: &ledger,
        earlier,
        asking: match arguments.approve {
            ApproveMode::Ask => Asking::Here,
            ApproveMode::Wait => Asking::Elsewhere(Duration::from_secs(arguments.wait_seconds)),
            ApproveMode::None => Asking::Nobody,
        },
        terminal: OnceCell::new(),
        key: OnceCell::new(),
        packages,
    };
    tidy_up(&ledger)?;
    if let Some(file) = &arguments.record_approvals {
        return record_approvals(&host, &turn, file);
    }
    let lease = ledger.lifetimes().lease;
    let verdict = while_alive(&ledger, lease, || carry_out(&host, &turn));
    // Whatever is not said now, the lease says when it runs out.
    let _ = ledger.leave();
    Ok(verdict)
}

fn record_approvals(host: &Host<'_>, turn: &Turn, file: &Path) -> anyhow::Result<Verdict> {
    check_new(file)?;
    if !host.can_ask() {
        bail!("nobody can be asked, so nothing can be approved");
    }
    let approvals = host.ask_for_all(turn)?;
    write_approvals(file, &approvals)?;
    complain(&recorded(approvals.len(), host.tools.approval_seconds()));
    Ok(Verdict::Good)
}

/// Ends what is over, and marks as unknown what was begun by runs that are gone.
fn tidy_up(ledger: &dyn HostLedger) -> anyhow::Result<()> {
    ledger.expire(MAX_TIDIED).map_err(failed)?;
    ledger.recover(MAX_TIDIED).map_err(failed)?;
    Ok(())
}

/// Answers the calls and prints the outputs. Whatever fails from here on is not the input's fault, and calls may have acted:
/// it never passes for a run that nothing came of.
fn carry_out(host: &Host<'_>, turn: &Turn) -> Verdict {
    let printed = host.answer(turn).and_then(|outputs| {
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
                "the calls were carried out, but their outputs are lost: {error:#}; run this again: what was done is not \
                 done again"
            ));
            Verdict::Bad
        }
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
