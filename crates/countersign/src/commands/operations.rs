//! `countersign operations`.

pub(crate) mod list;
mod query;
mod resolve;
pub(crate) mod show;

use crate::cli::{OperationsArguments, OperationsCommand};
use crate::output::Verdict;

pub(crate) fn run(arguments: &OperationsArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        OperationsCommand::List(arguments) => list::run(arguments),
        OperationsCommand::Show(arguments) => show::run(arguments),
        OperationsCommand::Query(arguments) => query::run(arguments),
        OperationsCommand::Resolve(arguments) => resolve::run(arguments),
    }
}
