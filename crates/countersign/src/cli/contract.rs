//! What `countersign contract` can be asked to do.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use countersign_governed::{Dialect, Epoch};

/// Checks and builds the documents of governed actions: intents, gates, requests, results, tool catalogs.
///
/// A host proposes an intent, gets its owner's approval (the gate), sends a request to an endpoint, and believes the
/// result only as far as the digests go.
#[derive(Debug, Args)]
pub(crate) struct ContractArguments {
    #[command(subcommand)]
    pub(crate) command: ContractCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContractCommand {
    #[command(subcommand)]
    Check(CheckCommand),
    #[command(subcommand)]
    Build(BuildCommand),
    Schema(SchemaArguments),
    #[command(subcommand)]
    Catalog(CatalogCommand),
}

const EXIT_CODES: &str = "\
Exit codes: 0 accepted, 1 not accepted (every reason is printed), 2 a file could not be used.";

const BUILD_EXIT_CODES: &str = "\
Exit codes: 0 built, 1 not (every reason is printed), 2 a file could not be used.";

const GATE_DOCUMENT: &str = "\
The document:
  {\"action\": {\"action_id\", \"payload_sha256\"}, \"tool\", \"now\",
   \"receipts\": [{\"receipt_key\", \"kind\", \"status\", \"external_id\",
                 \"evidence\", \"evidence_sha256\"}, …]}
Without \"now\" and --now it is judged by the clock.

Exit codes: 0 it authorizes the action now, 1 it does not, 2 a file could not be used.";

const CHECK_EXAMPLES: &str = "\
Examples:
  countersign contract check intent intent.json
  countersign contract check request request.json
  countersign contract check result result.json --request request.json
  countersign contract check gate gate.json --now 1784000000";

/// Tells whether a document keeps the contract, and if not, every reason with its place.
#[derive(Debug, Subcommand)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) enum CheckCommand {
    /// An intent, bare or in its envelope: shows what an owner would be shown.
    #[command(after_help = EXIT_CODES)]
    Intent {
        /// The intent; standard input where it is "-".
        #[arg(value_name = "INTENT.json")]
        file: PathBuf,
        #[command(flatten)]
        catalog: CatalogArgument,
    },
    /// An execution request, judged by the host's and by the endpoint's reading of the contract.
    ///
    /// The two are written independently of each other. Where only one of them accepts, it is not accepted.
    #[command(after_help = EXIT_CODES)]
    Request {
        /// The request; standard input where it is "-".
        #[arg(value_name = "REQUEST.json")]
        file: PathBuf,
        /// The action that the request is sent to; without it, the one that it names.
        #[arg(long, value_name = "UUID")]
        action_id: Option<String>,
        #[command(flatten)]
        catalog: CatalogArgument,
    },
    /// An execution result: whether it proves that what was requested was performed.
    #[command(after_help = EXIT_CODES)]
    Result {
        /// The result; standard input where it is "-".
        #[arg(value_name = "RESULT.json")]
        file: PathBuf,
        /// The request that it answers.
        #[arg(long, value_name = "REQUEST.json")]
        request: PathBuf,
        #[command(flatten)]
        now: NowArgument,
    },
    /// An owner's approval gate: whether an action's receipts authorize it now.
    #[command(after_help = GATE_DOCUMENT)]
    Gate {
        /// The document; standard input where it is "-".
        #[arg(value_name = "GATE.json")]
        file: PathBuf,
        #[command(flatten)]
        now: NowArgument,
        #[command(flatten)]
        catalog: CatalogArgument,
    },
}

const BUILD_EXAMPLES: &str = "\
Examples:
  countersign contract build intent --tool colony_research --args a.json --context c.json
  countersign contract build request --intent intent.json --gate gate.json > request.json

The gate approves the intent in its envelope. Its \"payload_sha256\" is what this prints:
  countersign contract build intent --envelope … | countersign canonical --form utf8 --digest";

/// Builds a document, with all its digests, and prints it.
#[derive(Debug, Subcommand)]
#[command(after_help = BUILD_EXAMPLES)]
pub(crate) enum BuildCommand {
    /// The intent of a call.
    #[command(after_help = BUILD_EXIT_CODES)]
    Intent {
        /// The tool that is called.
        #[arg(long, value_name = "NAME")]
        tool: String,
        /// Its arguments, a JSON object.
        #[arg(long, value_name = "FILE")]
        args: PathBuf,
        /// The circumstances of the call, a JSON object of nine texts.
        #[arg(long, value_name = "FILE")]
        context: PathBuf,
        /// Print the intent in its envelope: the payload that an owner approves.
        #[arg(long)]
        envelope: bool,
        #[command(flatten)]
        catalog: CatalogArgument,
    },
    /// The execution request of an approved intent.
    #[command(after_help = BUILD_EXIT_CODES)]
    Request {
        /// The intent, bare or in its envelope.
        #[arg(long, value_name = "FILE")]
        intent: PathBuf,
        /// The owner's approval, a document as for "contract check gate".
        #[arg(long, value_name = "FILE")]
        gate: PathBuf,
        #[command(flatten)]
        now: NowArgument,
        #[command(flatten)]
        catalog: CatalogArgument,
    },
}

const SCHEMA_EXAMPLES: &str = "\
Examples:
  countersign contract schema colony_research
  countersign contract schema --for anthropic --catalog catalog.toml";

/// Prints the JSON Schema of a tool's arguments, or tool definitions for a provider.
#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaArguments {
    /// The tool; without it, all tools of the catalog.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// Print definitions as this interface expects them.
    #[arg(long = "for", value_name = "INTERFACE", value_parser = PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)))]
    pub(crate) dialect: Option<String>,
    #[command(flatten)]
    pub(crate) catalog: CatalogArgument,
}

const CATALOG_EXAMPLES: &str = "\
Example:
  countersign contract catalog check catalog.toml";

/// Works on tool catalogs, which are JSON or TOML documents.
#[derive(Debug, Subcommand)]
#[command(after_help = CATALOG_EXAMPLES)]
pub(crate) enum CatalogCommand {
    /// Tells whether a catalog is in order, and what its tools take.
    #[command(after_help = EXIT_CODES)]
    Check {
        /// The catalog; standard input where it is "-".
        #[arg(value_name = "CATALOG")]
        file: PathBuf,
    },
}

/// Which tools there are.
#[derive(Debug, Args)]
pub(crate) struct CatalogArgument {
    /// The tool catalog, JSON or TOML; without it, the ten built-in "colony" tools.
    #[arg(id = "catalog", long = "catalog", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// When a document is judged.
#[derive(Debug, Args)]
pub(crate) struct NowArgument {
    /// Judge at this time, in seconds since 1970, instead of now.
    #[arg(long = "now", value_name = "SECONDS", value_parser = parse_epoch)]
    pub(crate) time: Option<Epoch>,
}

fn parse_epoch(text: &str) -> Result<Epoch, String> {
    let seconds: Option<f64> = text.parse().ok();
    seconds
        .and_then(Epoch::from_seconds)
        .ok_or_else(|| "it must be a positive number of seconds since 1970".to_owned())
}
