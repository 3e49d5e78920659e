//! `countersign operations` and `countersign approvals`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use countersign_contract::{ApproverId, TenantId, ToolName};
use countersign_ledger::{MAX_PAGE, Note, StateKind};

use crate::handle::HandlePrefix;
use crate::host_ledger::LedgerLocation;

/// Where the ledger is.
#[derive(Debug, Args)]
pub(crate) struct LedgerArgument {
    /// The ledger. Without it, the user's own.
    #[arg(long, value_name = "sqlite:PATH")]
    pub(crate) ledger: Option<LedgerLocation>,
}

const OPERATIONS_EXAMPLES: &str = "\
Examples:
  What is open, and what somebody has to look at:
    countersign operations list --state executing --state unknown
    countersign operations list --dead-letters

  Everything that is known of one:
    countersign operations show status_0af08a74

  Its outcome is unknown: ask the tool, or say what you found out:
    countersign operations query status_0af08a74 --tools tools.toml
    countersign operations resolve status_0af08a74 --as operator --note \"not in the bank's list\" --not-executed";

/// Shows the writes that a ledger holds, and settles those whose outcome is unknown.
///
/// An operation is one write under one key. Its handle is the status_… that results and lists name; the first eight of its
/// hex digits are enough where no other begins with them.
#[derive(Debug, Args)]
#[command(after_help = OPERATIONS_EXAMPLES)]
pub(crate) struct OperationsArguments {
    #[command(subcommand)]
    pub(crate) command: OperationsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperationsCommand {
    List(ListArguments),
    Show(ShowArguments),
    Query(QueryArguments),
    Resolve(ResolveArguments),
}

const LIST_EXAMPLES: &str = "\
Examples:
  countersign operations list --state unknown --older-than 1h
  countersign operations list --tool write_file --newer-than 3d --limit 20 --json";

/// Lists operations, newest first.
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// Only in this state; may be repeated.
    #[arg(long = "state", value_name = "STATE", value_parser = state_parser())]
    pub(crate) states: Vec<String>,
    /// Only those that workers have given up on, so that a person has to look.
    #[arg(long)]
    pub(crate) dead_letters: bool,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

fn state_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(StateKind::ALL.map(StateKind::as_str))
}

/// Which operations are listed.
#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// Only of this tool.
    #[arg(long, value_name = "NAME", value_parser = parse_tool)]
    pub(crate) tool: Option<ToolName>,
    /// Only of this tenant.
    #[arg(long, value_name = "NAME", value_parser = parse_tenant)]
    pub(crate) tenant: Option<TenantId>,
    /// Only with this text in tool, subject, key or handle.
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Only what was asked for longer ago than this: 90s, 10m, 2h, 3d.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) older_than: Option<Duration>,
    /// Only what was asked for within this time: 90s, 10m, 2h, 3d.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) newer_than: Option<Duration>,
}

/// How much is listed, and how.
#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// The most that are listed at once.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=MAX_LISTED))]
    pub(crate) limit: u16,
    /// Go on where an earlier list ended.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<u64>,
    /// Print for a program to read.
    #[arg(long)]
    pub(crate) json: bool,
}

#[expect(clippy::cast_possible_wrap, reason = "a thousand")]
const MAX_LISTED: i64 = MAX_PAGE as i64;

/// Shows everything that is known of one operation: who asked for what, who decided, what became of it.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The operation's handle, or its beginning.
    #[arg(value_name = "REF")]
    pub(crate) handle: HandlePrefix,
    /// Print for a program to read.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// Asks the tool's "status" command what became of an operation. Nothing is executed.
///
/// A receipt turns an unknown outcome into a success. Without one it stays as it is.
///
/// Exit codes: 0 it is known to have succeeded, 1 it is not, 2 something could not be used.
#[derive(Debug, Args)]
pub(crate) struct QueryArguments {
    /// The operation's handle, or its beginning.
    #[arg(value_name = "REF")]
    pub(crate) handle: HandlePrefix,
    /// The tools, with their "status" commands.
    #[arg(long, value_name = "TOOLS.toml")]
    pub(crate) tools: PathBuf,
    /// On whose behalf, as a JSON document. Without it, the tools file's own principal.
    #[arg(long, value_name = "FILE")]
    pub(crate) principal: Option<PathBuf>,
    /// Print for a program to read.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

const RESOLVE_USAGE: &str = "\
countersign operations resolve [OPTIONS] --as <NAME> --note <TEXT> --committed [--answer <FILE>] <REF>
       countersign operations resolve [OPTIONS] --as <NAME> --note <TEXT> --not-executed <REF>";

const RESOLVE_EXAMPLES: &str = "\
Examples:
  It happened, and this is what the tool would have answered:
    countersign operations resolve status_0af08a74 --as operator --note \"seen in the list\" --committed --answer data.json

  It did not happen; the same may be asked for again, and needs a new approval:
    countersign operations resolve status_0af08a74 --as operator --note \"not in the list\" --not-executed";

/// Says what became of an operation whose outcome is unknown, as a person who looked.
///
/// Asks on the controlling terminal, and takes nothing but a typed yes. What was said stays in the audit trail, with the name
/// and the note. "Not executed" is refused while the attempt may still be under way.
///
/// Exit codes: 0 it counts, 1 it does not, 2 something could not be used.
#[derive(Debug, Args)]
#[command(after_help = RESOLVE_EXAMPLES, override_usage = RESOLVE_USAGE)]
pub(crate) struct ResolveArguments {
    /// The operation's handle, or its beginning.
    #[arg(value_name = "REF")]
    pub(crate) handle: HandlePrefix,
    /// Who says so. Not the subject that asked for the write.
    #[arg(long = "as", value_name = "NAME", value_parser = parse_approver)]
    pub(crate) person: ApproverId,
    /// On which evidence, in 1 to 1000 characters.
    #[arg(long, value_name = "TEXT", value_parser = parse_note)]
    pub(crate) note: Note,
    #[command(flatten)]
    pub(crate) finding: FindingArguments,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// What a person found out.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct FindingArguments {
    /// It acted. Without --answer a model hears no more than that the outcome is unknown.
    #[arg(long)]
    pub(crate) committed: bool,
    /// What it answered: the data as a JSON document, which has to fit the tool's contract.
    #[arg(long, value_name = "FILE", requires = "committed")]
    pub(crate) answer: Option<PathBuf>,
    /// It did not act, and will not.
    #[arg(long, conflicts_with_all = ["committed", "answer"])]
    pub(crate) not_executed: bool,
}

const APPROVALS_EXAMPLES: &str = "\
Examples:
  What waits for a decision, and one of them in full:
    countersign approvals list
    countersign approvals show status_0af08a74

  Decide, on this terminal:
    countersign approvals approve status_0af08a74 --as operator
    countersign approvals deny status_0af08a74 --as operator --reason \"not on a Friday\"";

const APPROVALS_HONESTY: &str = "\
An answer is taken from the controlling terminal only: never from standard input, an argument or the environment. That a person \
gives it is only as certain as the terminal. A program that runs as you can open a terminal of its own and type \"yes\" there: \
keep agents under another user.";

/// Shows the writes that wait for a decision, and decides about them.
#[derive(Debug, Args)]
#[command(after_help = APPROVALS_EXAMPLES, after_long_help = approvals_help())]
pub(crate) struct ApprovalsArguments {
    #[command(subcommand)]
    pub(crate) command: ApprovalsCommand,
}

fn approvals_help() -> String {
    format!("{APPROVALS_EXAMPLES}\n\n{APPROVALS_HONESTY}")
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    List(WaitingArguments),
    Show(ShowArguments),
    Approve(ApproveArguments),
    Deny(DenyArguments),
    Watch(WatchArguments),
}

/// Lists the writes that wait for a decision, newest first.
#[derive(Debug, Args)]
pub(crate) struct WaitingArguments {
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// Approves exactly this call, once, for a time.
///
/// Shows the whole call on the controlling terminal and takes a typed yes as approval; everything else decides nothing.
/// Whoever waits for the decision performs the call at once; where nobody does, "countersign work" does, or the same turn again.
/// Everything is checked again right before it begins: an approver whom the tools file does not list approves nothing then.
///
/// Exit codes: 0 it is approved, 1 it is not, 2 something could not be used, a missing terminal among it.
#[derive(Debug, Args)]
#[command(after_long_help = APPROVALS_HONESTY)]
pub(crate) struct ApproveArguments {
    #[command(flatten)]
    pub(crate) decision: DecisionArguments,
    /// How long the approval lives, from the answer on.
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
}

/// Denies the call. The same is not asked for again for half a minute.
///
/// Asks on the controlling terminal, and takes nothing but a typed yes.
///
/// Exit codes: 0 it is denied, 1 it is not, 2 something could not be used, a missing terminal among it.
#[derive(Debug, Args)]
#[command(after_long_help = APPROVALS_HONESTY)]
pub(crate) struct DenyArguments {
    #[command(flatten)]
    pub(crate) decision: DecisionArguments,
    /// Why, in 1 to 1000 characters.
    #[arg(long, value_name = "TEXT", value_parser = parse_note)]
    pub(crate) reason: Option<Note>,
}

/// Shows what waits on the whole terminal, as it comes, and decides about it.
///
/// Nothing is decided about a call before its end was on the screen, and only about the call that is shown: one that was asked for
/// anew meanwhile is shown again instead. The passphrase is asked for, and the key kept open for a while.
///
/// Exit codes: 0 it was ended, 2 something could not be used, a missing terminal among it.
#[derive(Debug, Args)]
#[command(after_long_help = APPROVALS_HONESTY)]
pub(crate) struct WatchArguments {
    /// Who decides. Not a subject that asks.
    #[arg(long = "as", value_name = "NAME", value_parser = parse_approver)]
    pub(crate) approver: ApproverId,
    /// How long an approval lives, from the key press on.
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// How long the key stays open after its passphrase was typed; 0s asks each time.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = humantime::parse_duration)]
    pub(crate) unlock_for: Duration,
    /// Ring no bell for what is new.
    #[arg(long)]
    pub(crate) no_bell: bool,
    /// Run this program for what is new, without a shell, with its handle as the only argument.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) exec: Option<String>,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// Who decides about what.
#[derive(Debug, Args)]
pub(crate) struct DecisionArguments {
    /// The operation's handle, or its beginning.
    #[arg(value_name = "REF")]
    pub(crate) handle: HandlePrefix,
    /// Who decides: an approver of the tools file. Not the subject that asks.
    #[arg(long = "as", value_name = "NAME", value_parser = parse_approver)]
    pub(crate) approver: ApproverId,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

pub(super) fn parse_approver(text: &str) -> Result<ApproverId, String> {
    ApproverId::new(text).map_err(|error| error.to_string())
}

fn parse_tenant(text: &str) -> Result<TenantId, String> {
    TenantId::new(text).map_err(|error| error.to_string())
}

fn parse_tool(text: &str) -> Result<ToolName, String> {
    ToolName::new(text).map_err(|error| error.to_string())
}

fn parse_note(text: &str) -> Result<Note, String> {
    Note::new(text).ok_or_else(|| "it needs 1 to 1000 characters that say something".to_owned())
}
