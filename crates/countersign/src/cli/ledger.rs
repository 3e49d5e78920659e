//! `countersign ledger` and `countersign work`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::operations::LedgerArgument;

const LEDGER_EXAMPLES: &str = "\
Examples:
  countersign ledger check
  countersign ledger backup ~/backups/ledger-2026-12-01.db
  countersign ledger restore ~/backups/ledger-2026-12-01.db --ledger sqlite:restored.db
  countersign ledger prune --older-than 90d
  countersign ledger migrate --check";

/// Checks, copies and tidies up a ledger.
///
/// Exit codes: 0 all is as it should be, 1 something is not, 2 something could not be used.
#[derive(Debug, Args)]
#[command(after_help = LEDGER_EXAMPLES)]
pub(crate) struct LedgerArguments {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Reads all of it: pages, documents, digests, sequences. It changes nothing.
    Check {
        /// Print for a program to read.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        ledger: LedgerArgument,
    },
    /// Copies it to a new file, while others go on using it.
    Backup {
        /// The copy. Nothing is written over.
        #[arg(value_name = "FILE")]
        to: PathBuf,
        #[command(flatten)]
        ledger: LedgerArgument,
    },
    /// Makes a new ledger of a backup. Nothing is written over.
    ///
    /// The restored ledger does not know what happened since the backup: look before you approve what it says is waiting.
    Restore {
        /// The backup.
        #[arg(value_name = "FILE")]
        from: PathBuf,
        #[command(flatten)]
        ledger: LedgerArgument,
    },
    /// Removes writes that are proven to have had no effect: denied, expired, blocked, not begun, not executed.
    ///
    /// It never removes what is open or unknown, a success, or what keeps a key from being used again. The audit trail stays.
    Prune {
        /// Only what has not changed for so long: 90d, 12h.
        #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
        older_than: Duration,
        /// Print for a program to read.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        ledger: LedgerArgument,
    },
    /// Tells which version it has, and what this program would change in it. Opening a ledger brings it up to date.
    Migrate {
        /// Change nothing. Exit code 1 says that something is to be done.
        #[arg(long, required = true)]
        check: bool,
        /// Print for a program to read.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        ledger: LedgerArgument,
    },
}

const WORK_EXAMPLES: &str = "\
Examples:
  Perform what was approved and ask about what is unknown, until it is stopped (SIGTERM, or Ctrl-C):
    countersign work --tools tools.toml

  One round, from a timer:
    countersign work --tools tools.toml --once";

/// Performs what was approved, and finds out about what is unknown.
///
/// Works for the tools and principals that it is given, beside any number of others on the same ledger. What was approved is
/// checked again and begun; what is unknown is asked about, or sent again where the tool knows the key; what nothing can be
/// found out about is left to a person as a dead letter. SIGTERM or SIGINT ends it when it has finished what it is at; a second
/// one ends it at once.
///
/// Exit codes: 0 it was stopped or its round is done, 1 the ledger failed in its round, 2 something could not be used.
#[derive(Debug, Args)]
#[command(after_help = WORK_EXAMPLES)]
pub(crate) struct WorkArguments {
    /// The tools that it performs, with their contracts, commands and rules.
    #[arg(long, value_name = "TOOLS.toml")]
    pub(crate) tools: PathBuf,
    /// On whose behalf, as JSON documents; may be repeated. Without it, the tools file's own principal.
    #[arg(long = "principal", value_name = "FILE")]
    pub(crate) principals: Vec<PathBuf>,
    /// One round only.
    #[arg(long)]
    pub(crate) once: bool,
    /// Print what the round came to for a program to read.
    #[arg(long, requires = "once")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}
