//! What the program can be asked to do.

mod approver;
mod contract;
mod grants;
mod install;
mod ledger;
mod operations;
mod wrap;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};

use crate::host_ledger::LedgerLocation;

pub(crate) use self::approver::{ApproverArguments, ApproverCommand};
pub(crate) use self::contract::{
    BuildCommand, CatalogArgument, CatalogCommand, CheckCommand, ContractArguments,
    ContractCommand, NowArgument, SchemaArguments,
};
pub(crate) use self::grants::{
    ConditionArguments, CreateGrantArguments, GrantsArguments, GrantsCommand, ListGrantsArguments,
    RevokeGrantArguments,
};
pub(crate) use self::install::{
    DoctorArguments, InstallArguments, PlaceArguments, UninstallArguments,
};
pub(crate) use self::ledger::{LedgerArguments, LedgerCommand, WorkArguments};
pub(crate) use self::operations::{
    ApprovalsArguments, ApprovalsCommand, ApproveArguments, DecisionArguments, DenyArguments,
    FilterArguments, FindingArguments, LedgerArgument, ListArguments, OperationsArguments,
    OperationsCommand, PageArguments, QueryArguments, ResolveArguments, ShowArguments,
    WaitingArguments, WatchArguments,
};
pub(crate) use self::wrap::{
    AcceptArguments, ClassArgument, ClassifyArguments, HeaderArgument, ListenArguments,
    PinsArgument, RemoteArguments, ToolsArguments, ToolsCommand, WrapArguments,
};

/// The trusted boundary between a model's tool calls and the world.
///
/// An agent proposes. Countersign binds the call to its principal, checks exact contracts, authorizes, gets a person's
/// approval of that very call, acts once, and proves it.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Turn(TurnArguments),
    Wrap(WrapArguments),
    Tools(ToolsArguments),
    Approvals(ApprovalsArguments),
    Grants(GrantsArguments),
    Approver(ApproverArguments),
    Operations(OperationsArguments),
    Work(WorkArguments),
    Ledger(LedgerArguments),
    Install(InstallArguments),
    Uninstall(UninstallArguments),
    Doctor(DoctorArguments),
    Scenario(ScenarioArguments),
    Canonical(CanonicalArguments),
    Verify(VerifyArguments),
    Contract(ContractArguments),
    Vectors(VectorsArguments),
    Demo(DemoArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

const TURN_EXAMPLES: &str = "\
Examples:
  Answer the tool calls of a response, asking on the terminal before anything is changed:
    countersign turn --tools tools.toml response.json

  In a script, where nobody can be asked: reads run, writes come back as APPROVAL_REQUIRED:
    countersign turn --tools tools.toml --approve none response.json

  Approve now, act later: the approvals fit exactly these calls, once each, until they expire:
    countersign turn --tools tools.toml --record-approvals approvals.json response.json
    countersign turn --tools tools.toml --approvals approvals.json response.json";

/// Answers the tool calls of a provider's raw response.
///
/// Reads the response, takes each call through the whole pipeline, runs the commands that the tools file declares, and
/// prints what to append to the conversation, in the provider's own shape and order. Every call is answered.
///
/// What is done is recorded in a ledger before and after: the same response again, also after a crash, does nothing twice.
#[derive(Debug, Args)]
#[command(after_help = TURN_EXAMPLES)]
pub(crate) struct TurnArguments {
    /// The tools that may be called, with their contracts, commands and rules.
    #[arg(long, value_name = "TOOLS.toml")]
    pub(crate) tools: PathBuf,
    /// On whose behalf, as a JSON document. Without it, the tools file's own principal.
    #[arg(long, value_name = "FILE")]
    pub(crate) principal: Option<PathBuf>,
    /// The ledger that records what waits and what was done. Without it, the user's own.
    #[arg(long, value_name = "sqlite:PATH")]
    pub(crate) ledger: Option<LedgerLocation>,
    /// Who approves writes: a person on the controlling terminal, one elsewhere, or nobody.
    #[arg(long, value_enum, default_value_t = ApproveMode::Ask, value_name = "HOW")]
    pub(crate) approve: ApproveMode,
    /// How long to wait with "--approve wait" for each write.
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    pub(crate) wait_seconds: u64,
    /// Approvals made earlier with --record-approvals, for one use each.
    #[arg(long, value_name = "FILE")]
    pub(crate) approvals: Option<PathBuf>,
    /// Ask for approvals and write them to a new file, without running anything.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["approvals", "packages"])]
    pub(crate) record_approvals: Option<PathBuf>,
    /// The response's format, where it cannot be told from the response itself.
    #[arg(long, value_name = "FAMILY", value_parser = PossibleValuesParser::new(FAMILIES))]
    pub(crate) provider: Option<String>,
    /// Keep each call's result package in this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) packages: Option<PathBuf>,
    /// The provider's raw response; standard input where it is "-".
    #[arg(value_name = "RESPONSE.json")]
    pub(crate) response: PathBuf,
}

const FAMILIES: [&str; 5] = [
    "openai-responses",
    "openai-chat-completions",
    "anthropic-messages",
    "gemini-interactions",
    "gemini-generate-content",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApproveMode {
    /// Ask on the controlling terminal; never on standard input.
    Ask,
    /// Wait for somebody to decide elsewhere, with "countersign approvals".
    Wait,
    /// Do not wait: a write that nobody has approved comes back unapproved, and can be approved later.
    None,
}

const SCENARIO_EXAMPLES: &str = "\
Examples:
  Run the scenarios that ship with the program:
    countersign scenario

  Run your own, for a program to read:
    countersign scenario --format json cases.json

Exit codes: 0 every step came out as expected, 1 some step did not, 2 the fixture could not be used.";

/// Runs a scenario fixture (tool-cases-v2) through the real pipeline, against a demonstration shop.
#[derive(Debug, Args)]
#[command(after_help = SCENARIO_EXAMPLES)]
pub(crate) struct ScenarioArguments {
    /// The fixture; without it, the scenarios that ship with the program.
    #[arg(value_name = "FILE", conflicts_with = "fixture")]
    pub(crate) file: Option<PathBuf>,
    /// The fixture, named.
    #[arg(long, value_name = "FILE")]
    pub(crate) fixture: Option<PathBuf>,
    /// Keep what is stored in SQLite files: PATH is a directory that is made, with one ledger for each case, which begins with
    /// nothing (case-1.db, …). Without it, in memory. The results are the same.
    #[arg(long, value_name = "sqlite:PATH")]
    pub(crate) ledger: Option<LedgerLocation>,
    /// How to print; a table on a terminal, JSON elsewhere.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Add every step's package and provider payload. Packages hold the audit projection: keep them.
    #[arg(long)]
    pub(crate) packages: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

const CANONICAL_EXAMPLES: &str = "\
Examples:
  echo '{\"b\": 1.0, \"a\": \"é\"}' | countersign canonical
  countersign canonical --form ascii --digest document.json";

/// Prints a JSON document in a canonical form, or its digest.
#[derive(Debug, Args)]
#[command(after_help = CANONICAL_EXAMPLES)]
pub(crate) struct CanonicalArguments {
    /// Which canonical form.
    #[arg(long, value_enum, default_value_t = CanonicalForm::ToolResult, value_name = "FORM")]
    pub(crate) form: CanonicalForm,
    /// Print the SHA-256 of the canonical form instead.
    #[arg(long)]
    pub(crate) digest: bool,
    /// The document; standard input where there is none.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CanonicalForm {
    /// Tool Result v2: UTF-8, over a bounded value domain.
    ToolResult,
    /// Governed actions, arguments and intents: everything but ASCII escaped.
    Ascii,
    /// Governed actions, executions and evidence: UTF-8.
    Utf8,
}

const VERIFY_EXAMPLES: &str = "\
Example:
  countersign verify package.json --call call.json

The call file holds {\"principal\": …, \"call\": …, \"contract\": …}; the contract is null for a tool that is not registered.

Exit codes: 0 the package belongs to the call, 1 it does not, 2 a file could not be used.";

/// Tells whether a result package belongs to a call, and if not, why.
///
/// Recomputes every digest. That exposes mix-ups and corruption; whoever can recompute digests too can forge.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArguments {
    /// The package.
    #[arg(value_name = "PACKAGE")]
    pub(crate) package: PathBuf,
    /// The call: principal, call and contract.
    #[arg(long, value_name = "CALL")]
    pub(crate) call: PathBuf,
}

const VECTORS_EXAMPLES: &str = "\
Examples:
  countersign vectors answer governed < governed.jsonl > answers.jsonl
  countersign vectors make --seed 7 --count 1000 --kind gate > fresh.jsonl";

/// Answers test vectors and makes new ones, for comparing implementations.
#[derive(Debug, Args)]
#[command(after_help = VECTORS_EXAMPLES)]
pub(crate) struct VectorsArguments {
    #[command(subcommand)]
    pub(crate) command: VectorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VectorsCommand {
    /// Reads vectors from standard input, one JSON document a line, and prints an answer line for each.
    Answer {
        /// Which kind of vectors.
        #[arg(value_enum)]
        kind: VectorKind,
    },
    /// Prints new vectors of governed actions, with the answers that this program gives.
    ///
    /// The same seed gives the same vectors. Most are near the contract's bounds, on either side.
    Make {
        /// Where the choice starts.
        #[arg(long, value_name = "N")]
        seed: u64,
        /// How many vectors.
        #[arg(long, value_name = "N")]
        count: u64,
        /// Only this kind; without it, all kinds in turn.
        #[arg(long, value_enum, value_name = "KIND")]
        kind: Option<GovernedKind>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VectorKind {
    /// Strict parsing and the canonical forms.
    Canonical,
    /// Governed actions: arguments, intents, gates, requests and results.
    Governed,
    /// Scenario fixtures.
    Scenarios,
}

/// What a vector of governed actions asks; named as in the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum GovernedKind {
    /// Whether arguments are those of a tool, on each side.
    ToolArgs,
    /// Whether a document is an intent, and what an owner is shown.
    Intent,
    /// What the intent of a call is.
    IntentBuild,
    /// Whether an endpoint takes a request.
    ExecutionRequest,
    /// Whether receipts authorize an action.
    Gate,
    /// Whether a result proves an effect.
    ExecutionResult,
}

/// Shows a refund from proposal to proof: approval, one effect, a lost answer, its reconciliation, a tampered package.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Keep what is stored in a new SQLite file, to be looked at afterwards. Without it, in memory. The steps are the same.
    #[arg(long, value_name = "sqlite:PATH")]
    pub(crate) ledger: Option<LedgerLocation>,
    /// Print the steps and their packages for a program to read.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints completions for a shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Prints the manual page, or writes one for each command.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write all pages into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
