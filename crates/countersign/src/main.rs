//! The `countersign` program: reads arguments, environment and files, and hands them to the crates that do the work.
//!
//! Exit codes: 0 all is as it should be, 1 something is not, 2 the input could not be used.

mod approver_key;
mod cautions;
mod cli;
mod commands;
mod fixture_ledger;
mod granted;
mod handle;
mod host_ledger;
mod identity;
mod input;
mod install;
mod ledger_advice;
mod look_alike;
mod operation_json;
mod operation_text;
mod output;
mod performer;
mod prompt;
mod sheet;
mod standing_question;
mod toml_document;
mod tools_file;
mod trail;
mod unlocking;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::output::Verdict;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    let cli = Cli::parse();
    output::use_color(cli.color);
    let result = match cli.command {
        Command::Turn(arguments) => commands::turn::run(&arguments),
        Command::Approvals(arguments) => commands::approvals::run(&arguments),
        Command::Grants(arguments) => commands::grants::run(&arguments),
        Command::Approver(arguments) => commands::approver::run(&arguments),
        Command::Operations(arguments) => commands::operations::run(&arguments),
        Command::Wrap(arguments) => commands::wrap::run(&arguments),
        Command::Tools(arguments) => commands::tools::run(&arguments),
        Command::Work(arguments) => commands::work::run(&arguments),
        Command::Ledger(arguments) => commands::ledger::run(&arguments),
        Command::Install(arguments) => commands::install::install(&arguments),
        Command::Uninstall(arguments) => commands::install::uninstall(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Scenario(arguments) => commands::scenario::run(&arguments),
        Command::Canonical(arguments) => commands::canonical::run(&arguments),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Contract(arguments) => commands::contract::run(&arguments),
        Command::Vectors(arguments) => commands::vectors::run(&arguments),
        Command::Demo(arguments) => commands::demo::run(&arguments),
        Command::Completions(arguments) => commands::documentation::completions(&arguments),
        Command::Man(arguments) => commands::documentation::man(&arguments),
    };
    result.unwrap_or_else(|error| output::report(&error)).into()
}

/// Names the place only: a panic's message may hold what it was working on.
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    output::complain(&format!(
        "internal error at {place}; this is a fault of countersign"
    ));
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Good => Self::SUCCESS,
            Verdict::Bad => Self::from(1),
            Verdict::Unusable => Self::from(2),
            Verdict::Passed(code) => Self::from(code),
        }
    }
}
