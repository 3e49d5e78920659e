//! `countersign approver`.

use clap::{Args, Subcommand};

use crate::approver_key::KeyName;

const APPROVER_EXAMPLES: &str = "\
Examples:
  countersign approver create
  countersign approver show
  countersign approver change-passphrase";

/// Makes and keeps the keys that approvers decide with.
///
/// Approving and granting ask for its passphrase, and nothing begins that a person approved and did not sign. Whoever has none is
/// offered one with the first approval. What runs takes the keys that are there when it starts, or the first ones that come
/// after: for a later key, restart wrapped servers.
///
/// A passphrase is typed on the controlling terminal and comes from nowhere else: no standard input, argument, variable or file.
#[derive(Debug, Args)]
#[command(after_help = APPROVER_EXAMPLES)]
pub(crate) struct ApproverArguments {
    #[command(subcommand)]
    pub(crate) command: ApproverCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApproverCommand {
    /// Makes a key, under a passphrase of ten characters or more that is typed twice.
    Create(KeyArgument),
    /// Shows who has a key, and its public half.
    Show {
        /// Print for a program to read.
        #[arg(long)]
        json: bool,
    },
    /// Puts a key under another passphrase. What it has signed goes on counting.
    ChangePassphrase(KeyArgument),
}

/// Whose key it is.
#[derive(Debug, Args)]
pub(crate) struct KeyArgument {
    /// The approver's name, as "--as" takes it: letters, digits, "-" and "_".
    #[arg(long, value_name = "NAME", default_value = "operator", value_parser = parse_name)]
    pub(crate) name: KeyName,
}

fn parse_name(text: &str) -> Result<KeyName, String> {
    KeyName::new(text).ok_or_else(|| "it needs 1 to 64 letters, digits, `-` and `_`".to_owned())
}
