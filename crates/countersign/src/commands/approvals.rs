//! `countersign approvals`.

mod decide;
mod watch;

use countersign_ledger::{OperationFilter, StateKind};

use self::decide::{approve, deny};
use crate::cli::{ApprovalsArguments, ApprovalsCommand, WaitingArguments};
use crate::commands::operations::{list, show};
use crate::host_ledger::open_existing;
use crate::output::Verdict;

pub(crate) fn run(arguments: &ApprovalsArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        ApprovalsCommand::List(arguments) => list_waiting(arguments),
        ApprovalsCommand::Show(arguments) => show::run(arguments),
        ApprovalsCommand::Approve(arguments) => approve(arguments),
        ApprovalsCommand::Deny(arguments) => deny(arguments),
        ApprovalsCommand::Watch(arguments) => watch::run(arguments),
    }
}

fn list_waiting(arguments: &WaitingArguments) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let filter = OperationFilter {
        states: vec![StateKind::AwaitingApproval],
        ..list::filter_of(&arguments.filter, &ledger)?
    };
    list::print_list(&ledger, &filter, &arguments.page)
}
