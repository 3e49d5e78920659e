//! `countersign grants`.

use std::time::Duration;

use clap::{Args, Subcommand};
use countersign_contract::ApproverId;
use countersign_ledger::GrantId;

use super::operations::{LedgerArgument, parse_approver};
use crate::handle::HandlePrefix;

const GRANTS_EXAMPLES: &str = "\
Examples:
  Let the agent that asked for this write files beneath /tmp/build, twenty times within the hour:
    countersign grants create status_0af08a74 --as operator --for 1h --uses 20 --argument 'path=/tmp/build/*' --any text

  What is granted, and take it back:
    countersign grants list
    countersign grants revoke grant_5f0c2b9d71aa --as operator";

/// Approves calls beforehand: one tool, for one subject, under conditions, for a time and a number of uses.
///
/// A call that a grant covers does not wait: it is approved in the transaction that takes one use, and that is in the audit trail.
/// A call that is repeated takes no second use. A grant ends with its time, its uses or its revocation, and covers nothing as
/// soon as any part of the tool's contract has changed.
#[derive(Debug, Args)]
#[command(after_help = GRANTS_EXAMPLES)]
pub(crate) struct GrantsArguments {
    #[command(subcommand)]
    pub(crate) command: GrantsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    Create(CreateGrantArguments),
    List(ListGrantsArguments),
    Revoke(RevokeGrantArguments),
}

/// Grants calls like one that is in the ledger, whether it waits or not. Where it waits, it is the first to be approved.
///
/// Say of each argument of that call what it may be. An argument that is not named is not covered, also one that the tool learns
/// to take later. Asks on the controlling terminal, and takes nothing but a typed yes.
///
/// A beginning says nothing about links on the way: "/tmp/build/*" covers whatever "/tmp/build/x" leads to. It covers no text
/// with "..", with percent signs that stand for dots or separators, or with control characters.
///
/// Exit codes: 0 it is granted, 1 it is not, 2 something could not be used, a missing terminal among it.
#[derive(Debug, Args)]
pub(crate) struct CreateGrantArguments {
    /// The handle of such a call, or its beginning.
    #[arg(value_name = "REF")]
    pub(crate) handle: HandlePrefix,
    /// Who grants it. Not the subject that asks.
    #[arg(long = "as", value_name = "NAME", value_parser = parse_approver)]
    pub(crate) approver: ApproverId,
    /// For how long, at most 30 days: 10m, 1h, 3d.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_lifetime)]
    pub(crate) lifetime: Duration,
    /// How many calls.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) uses: u64,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// What the arguments may be.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConditionArguments {
    /// This argument is a text that begins like this ("path=/tmp/*"), or is exactly this value ("mode=create", "count=3").
    #[arg(long = "argument", value_name = "NAME=VALUE", value_parser = parse_pair)]
    pub(crate) values: Vec<(String, String)>,
    /// This argument is exactly what it is in this call.
    #[arg(long, value_name = "NAME")]
    pub(crate) same: Vec<String>,
    /// This argument may be anything, or absent.
    #[arg(long, value_name = "NAME")]
    pub(crate) any: Vec<String>,
}

/// Lists what is granted.
#[derive(Debug, Args)]
pub(crate) struct ListGrantsArguments {
    /// Those that are over, used up or taken back too.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print for a program to read.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// Takes a grant back at once. What was approved under it and has not begun never begins.
///
/// Needs no terminal: taking back lets nothing happen.
///
/// Exit codes: 0 it is taken back, 1 there is none of this name, 2 something could not be used.
#[derive(Debug, Args)]
pub(crate) struct RevokeGrantArguments {
    /// The grant, as "grants list" names it.
    #[arg(value_name = "GRANT", value_parser = parse_grant)]
    pub(crate) grant: GrantId,
    /// Who takes it back.
    #[arg(long = "as", value_name = "NAME", value_parser = parse_approver)]
    pub(crate) by: ApproverId,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
}

/// The longest that a grant lives.
const MAX_LIFETIME: Duration = Duration::from_hours(30 * 24);

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if (Duration::from_secs(1)..=MAX_LIFETIME).contains(&lifetime) {
        Ok(lifetime)
    } else {
        Err("it needs one second to 30 days".to_owned())
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("it needs the form NAME=VALUE".to_owned()),
    }
}

fn parse_grant(text: &str) -> Result<GrantId, String> {
    GrantId::new(text).ok_or_else(|| "it is no name of a grant".to_owned())
}
