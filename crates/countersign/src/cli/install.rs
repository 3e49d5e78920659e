//! What `countersign install`, `uninstall` and `doctor` can be asked to do.

use std::path::PathBuf;

use clap::Args;

use crate::cli::LedgerArgument;
use crate::install::client::Client;

const INSTALL_EXAMPLES: &str = "\
Examples:
  See what would become of Cursor's configuration:
    countersign install cursor --all --dry-run

  Wrap one server of Claude Code, in this project:
    countersign install claude-code --project --server files

Exit codes: 0 the servers are wrapped, 1 it was not agreed to, 2 the configuration could not be used.";

/// Puts Countersign in front of MCP servers, in a client's configuration.
///
/// Rewrites the entries of the servers that are named, so that the client starts "countersign wrap" in front of them. Shows the
/// difference without secrets, asks on the terminal, and keeps a backup beside the file. Everything else in the file stays byte for
/// byte. "countersign uninstall" puts back what was there.
#[derive(Debug, Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(crate) struct InstallArguments {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// Wrap every server that is there.
    #[arg(long, conflicts_with = "servers")]
    pub(crate) all: bool,
    /// Show the difference and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
    /// The program that the client starts, by an absolute path. Without it, this one.
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
}

const UNINSTALL_EXAMPLES: &str = "\
Example:
  countersign uninstall cursor --server files

Exit codes: 0 the servers are as before, 1 it was not agreed to, 2 the configuration could not be used.";

/// Takes Countersign away from MCP servers, in a client's configuration.
///
/// Puts back what "countersign install" found. Without --server, for every server that is wrapped. Shows the difference and asks on
/// the controlling terminal, always: this takes protection away.
#[derive(Debug, Args)]
#[command(after_help = UNINSTALL_EXAMPLES)]
pub(crate) struct UninstallArguments {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// Show the difference and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// Whose configuration.
    #[arg(value_enum, value_name = "CLIENT")]
    pub(crate) client: Client,
    /// A server, by its name in the configuration; as often as needed.
    #[arg(long = "server", value_name = "NAME")]
    pub(crate) servers: Vec<String>,
    /// The configuration of the project in this directory, not the user's.
    #[arg(long)]
    pub(crate) project: bool,
    /// Another file than the one where the client looks.
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub(crate) config: Option<PathBuf>,
}

const DOCTOR_EXAMPLES: &str = "\
Exit codes: 0 nothing is wrong, 1 something is, 2 it could not be looked at.";

/// Checks what an installation needs, and says how to mend it. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorArguments {
    /// Print the findings for a program to read.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}
