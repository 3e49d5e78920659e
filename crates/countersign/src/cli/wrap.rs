//! `wrap` and `tools`: a server of the Model Context Protocol, governed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use countersign_mcp::{Patterns, ServerName};

use super::operations::LedgerArgument;

const WRAP_EXAMPLES: &str = "\
Examples:
  Put a server behind approvals; this line goes where the agent's configuration named the server:
    countersign wrap -- uvx mcp-server-git --repository /home/me/project

  Say which tools only read, where the server does not say so itself:
    countersign wrap --read 'git_status,git_diff*,git_log,git_show' -- uvx mcp-server-git

  Look first what would have waited, and block nothing:
    countersign wrap --observe -- uvx mcp-server-git

Exit codes: the server's own; 2 the server could not be wrapped.";

/// Stands in front of a server of the Model Context Protocol: reads pass, everything else waits for a person and runs once.
///
/// The agent speaks to this program as to the server: on standard input and output, with the same tools. Environment, directory,
/// standard error, signals and exit code are the server's. A write is recorded, waits for somebody to approve it with
/// "countersign approvals", is sent once, and its answer is kept. An answer that does not come is an unknown outcome, which is
/// never sent again.
///
/// A write that is approved while nobody waits for it is performed as long as this program runs; after that, when it is asked for
/// again before the approval expires.
#[derive(Debug, Args)]
#[command(after_help = WRAP_EXAMPLES)]
pub(crate) struct WrapArguments {
    /// What the server is called here. Without it, the name of its program.
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub(crate) server: Option<ServerName>,
    /// Tools that only read, by name or up to a final "*", with commas between them. It counts when a tool is first seen.
    #[arg(long, value_name = "PATTERNS", value_parser = patterns, default_value = "", hide_default_value = true)]
    pub(crate) read: Patterns,
    /// Block nothing: let every call through, say so at each start, and record what would have waited.
    #[arg(long)]
    pub(crate) observe: bool,
    /// How long a call waits for approval before it is answered that it waits.
    #[arg(long, value_name = "SECONDS", default_value_t = 45)]
    pub(crate) approval_wait: u64,
    /// How long the server may take for an approved call before its outcome counts as unknown.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) call_timeout: u64,
    /// On whose behalf the agent acts, as approvers and the ledger see it.
    #[arg(long, value_name = "NAME", default_value = "agent")]
    pub(crate) subject: String,
    #[command(flatten)]
    pub(crate) ledger: LedgerArgument,
    #[command(flatten)]
    pub(crate) pins: PinsArgument,
    #[command(flatten)]
    pub(crate) remote: RemoteArguments,
    #[command(flatten)]
    pub(crate) listen: ListenArguments,
    /// The server's program and its arguments.
    #[arg(
        last = true,
        required_unless_present = "url",
        conflicts_with = "url",
        value_name = "COMMAND"
    )]
    pub(crate) command: Vec<String>,
}

/// A server that runs elsewhere.
#[derive(Debug, Args)]
pub(crate) struct RemoteArguments {
    /// Stand in front of the server at this address, over Streamable HTTP, instead of starting one.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Send a header with every request; its value is taken from a variable of the environment, so that it is in no list of processes.
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url", value_parser = header)]
    pub(crate) header_env: Vec<HeaderArgument>,
    /// Allow plain http to other machines: whoever is on the way reads the credentials, and can answer in the server's place.
    #[arg(long, requires = "url")]
    pub(crate) allow_http: bool,
}

/// A header, and the variable that holds its value.
#[derive(Clone, Debug)]
pub(crate) struct HeaderArgument {
    pub(crate) name: String,
    pub(crate) variable: String,
}

/// Clients over HTTP.
#[derive(Debug, Args)]
pub(crate) struct ListenArguments {
    /// Serve clients over Streamable HTTP on this address of this machine, at the path /mcp, instead of standard input and output.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// A name under which clients may reach it, besides the address itself (their Host header).
    #[arg(long, value_name = "HOST[:PORT]", requires = "listen")]
    pub(crate) allow_host: Vec<String>,
    /// A web page's origin that may call it. Pages of this machine may.
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub(crate) allow_origin: Vec<String>,
    /// Listen on an address that other machines can reach. There is no password: whoever reaches it can use the server's tools.
    #[arg(long, requires = "listen")]
    pub(crate) allow_remote: bool,
}

/// Where pins are kept.
#[derive(Debug, Args)]
pub(crate) struct PinsArgument {
    /// The directory of the pins. Without it, the user's own.
    #[arg(long, value_name = "DIR")]
    pub(crate) pins: Option<PathBuf>,
}

const TOOLS_EXAMPLES: &str = "\
Examples:
  countersign tools list mcp-server-git
  countersign tools classify mcp-server-git git_status read
  countersign tools accept mcp-server-git git_commit";

/// Shows and changes what is frozen of a server's tools.
///
/// A pin says how each tool was described when it was first seen, and whether it reads or writes. A tool that is described
/// differently later is out of service until somebody accepts it here, on the controlling terminal.
#[derive(Debug, Args)]
#[command(after_help = TOOLS_EXAMPLES)]
pub(crate) struct ToolsArguments {
    #[command(subcommand)]
    pub(crate) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Lists a server's tools: what they are, and what has changed since they were accepted.
    List {
        /// The server.
        #[arg(value_name = "SERVER", value_parser = server_name)]
        server: ServerName,
        #[command(flatten)]
        pins: PinsArgument,
    },
    Classify(ClassifyArguments),
    Accept(AcceptArguments),
}

/// Says whether a tool reads or writes.
#[derive(Debug, Args)]
pub(crate) struct ClassifyArguments {
    /// The server.
    #[arg(value_name = "SERVER", value_parser = server_name)]
    pub(crate) server: ServerName,
    /// The tool.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// What it does.
    #[arg(value_enum, value_name = "CLASS")]
    pub(crate) class: ClassArgument,
    #[command(flatten)]
    pub(crate) pins: PinsArgument,
}

/// Accepts tools as the server describes them now.
#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// The server.
    #[arg(value_name = "SERVER", value_parser = server_name)]
    pub(crate) server: ServerName,
    /// The tools; without them, all that have changed.
    #[arg(value_name = "TOOL")]
    pub(crate) tools: Vec<String>,
    /// Forget with which command the server was first seen, and all of its tools: it is seen anew at its next start.
    #[arg(long, conflicts_with = "tools")]
    pub(crate) command: bool,
    #[command(flatten)]
    pub(crate) pins: PinsArgument,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassArgument {
    /// It only looks: its calls pass at once.
    Read,
    /// It acts, or may: its calls wait for approval.
    Write,
}

fn header(text: &str) -> Result<HeaderArgument, &'static str> {
    match text.split_once('=') {
        Some((name, variable)) if !name.is_empty() && !variable.is_empty() => Ok(HeaderArgument {
            name: name.to_owned(),
            variable: variable.to_owned(),
        }),
        Some(_) | None => {
            Err("a header is given as NAME=VARIABLE, where the variable holds its value")
        }
    }
}

fn server_name(text: &str) -> Result<ServerName, &'static str> {
    ServerName::new(text).ok_or(
        "a server's name has at most 64 ASCII letters, digits, \".\", \"_\" and \"-\", and begins with a letter, a digit or \"_\"",
    )
}

fn patterns(text: &str) -> Result<Patterns, &'static str> {
    Patterns::parse(text)
        .ok_or("these are at most 256 names, with commas between them, and \"*\" at their end only")
}
