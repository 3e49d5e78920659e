//! The MCP clients whose configurations are known: where each keeps its servers, and how.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Claude Code: `~/.claude.json`, or `.mcp.json` of a project.
    ClaudeCode,
    /// Cursor: `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project.
    Cursor,
    /// Visual Studio Code: `mcp.json` of the user, or `.vscode/mcp.json` of a project.
    #[value(name = "vscode")]
    VsCode,
    /// Codex: `~/.codex/config.toml`, or `.codex/config.toml` of a project.
    Codex,
    /// Gemini CLI: `~/.gemini/settings.json`, or `.gemini/settings.json` of a project.
    Gemini,
}

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Json,
    /// JSON with comments, and with commas after the last member.
    JsonWithComments,
    Toml,
}

impl Client {
    pub(crate) const ALL: [Self; 6] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
    ];

    /// As it is named on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    pub(crate) fn syntax(self) -> Syntax {
        match self {
            Self::ClaudeDesktop | Self::ClaudeCode => Syntax::Json,
            Self::Cursor | Self::VsCode | Self::Gemini => Syntax::JsonWithComments,
            Self::Codex => Syntax::Toml,
        }
    }

    /// The member that holds the servers.
    pub(crate) fn servers_member(self) -> &'static str {
        match self {
            Self::ClaudeDesktop | Self::ClaudeCode | Self::Cursor | Self::Gemini => "mcpServers",
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
        }
    }

    /// The member of a server that holds its headers.
    pub(crate) fn headers_member(self) -> &'static str {
        match self {
            Self::ClaudeDesktop | Self::ClaudeCode | Self::Cursor | Self::VsCode | Self::Gemini => {
                "headers"
            }
            Self::Codex => "http_headers",
        }
    }

    /// The member that names a Streamable HTTP server, where its transport is named or not.
    pub(crate) fn url_member(self, has_type: bool) -> &'static str {
        match self {
            Self::Gemini if !has_type => "httpUrl",
            Self::ClaudeDesktop
            | Self::ClaudeCode
            | Self::Cursor
            | Self::VsCode
            | Self::Codex
            | Self::Gemini => "url",
        }
    }

    /// The user's configuration.
    pub(crate) fn user_file(self) -> anyhow::Result<PathBuf> {
        let home = etcetera::home_dir().context("there is no home directory")?;
        let settings = if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else {
            variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
        };
        Ok(match self {
            Self::ClaudeDesktop => settings.join("Claude").join("claude_desktop_config.json"),
            Self::ClaudeCode => variable("CLAUDE_CONFIG_DIR")
                .unwrap_or(home)
                .join(".claude.json"),
            Self::Cursor => home.join(".cursor").join("mcp.json"),
            Self::VsCode => settings.join("Code").join("User").join("mcp.json"),
            Self::Codex => variable("CODEX_HOME")
                .unwrap_or_else(|| home.join(".codex"))
                .join("config.toml"),
            Self::Gemini => home.join(".gemini").join("settings.json"),
        })
    }

    /// The configuration of the project in a directory, where the client has such.
    pub(crate) fn project_file(self, directory: &Path) -> Option<PathBuf> {
        match self {
            Self::ClaudeDesktop => None,
            Self::ClaudeCode => Some(directory.join(".mcp.json")),
            Self::Cursor => Some(directory.join(".cursor").join("mcp.json")),
            Self::VsCode => Some(directory.join(".vscode").join("mcp.json")),
            Self::Codex => Some(directory.join(".codex").join("config.toml")),
            Self::Gemini => Some(directory.join(".gemini").join("settings.json")),
        }
    }
}

/// A directory that the environment names.
#[expect(
    clippy::disallowed_methods,
    reason = "the clients look for their configurations where these variables say"
)]
fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).map(PathBuf::from);
    value.filter(|path| path.is_absolute())
}
