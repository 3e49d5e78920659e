//! What one server's entry is: a program or a URL, wrapped or not.

use std::path::Path;

use crate::install::client::Client;
use crate::install::node::{Item, Member, Node, member};

/// The word after the program's name in a wrapped entry.
pub(crate) const WRAP: &str = "wrap";
/// What stands before the server's name in its pin and in the ledger.
pub(crate) const SERVER_OPTION: &str = "--server";
/// What stands between our options and the server's own command.
pub(crate) const SEPARATOR: &str = "--";
/// What stands before the URL of a wrapped server.
pub(crate) const URL_OPTION: &str = "--url";
/// What stands before a header's name and the variable that holds its value.
pub(crate) const HEADER_OPTION: &str = "--header-env";
/// What the variables that hold headers begin with; a number from 1 follows.
pub(crate) const HEADER_VARIABLE: &str = "COUNTERSIGN_HEADER_";
/// What a file that is this program is called, at least in the beginning.
pub(crate) const PROGRAM_NAME: &str = "countersign";
/// Transports of a URL that are spoken.
const HTTP_TYPE: &str = "http";

/// Members with which a client signs in by itself, or adds what cannot be taken along.
const SIGNS_IN: [&str; 9] = [
    "oauth",
    "auth",
    "headersHelper",
    "authProviderType",
    "bearer_token_env_var",
    "env_http_headers",
    "scopes",
    "oauth_resource",
    "targetAudience",
];

/// A server's entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'d> {
    /// A program that the client starts.
    Local {
        command: &'d Member,
        args: Option<&'d Member>,
    },
    /// A server at a URL.
    Remote {
        url: &'d Member,
        transport: Option<&'d Member>,
        headers: Option<&'d Member>,
    },
    /// A program behind Countersign; the index is that of its command among the arguments.
    WrappedLocal {
        command: &'d Member,
        args: &'d Member,
        inner: usize,
    },
    /// A URL behind Countersign; the index is that of the URL among the arguments.
    WrappedRemote {
        command: &'d Member,
        args: &'d Member,
        inner: usize,
    },
    /// Behind Countersign in a form that is not ours.
    WrappedOtherwise,
    /// Nothing that can be wrapped.
    Unusable(Unusable),
}

/// Why an entry cannot be wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it must be an object")]
    NotATable,
    #[error("it has neither a command nor a URL that is spoken over Streamable HTTP")]
    NoTransport,
    #[error("it has a command and a URL")]
    TwoTransports,
    #[error("its command and arguments must be strings, and its command must not be empty")]
    Command,
    #[error("its transport is not Streamable HTTP")]
    Transport,
    #[error("its headers must be an object of strings, with names that HTTP takes")]
    Headers,
    #[error("it has headers and an environment")]
    HeadersAndEnvironment,
    #[error("the client signs in to it by itself, which would no longer happen")]
    SignsIn,
}

impl<'d> Entry<'d> {
    pub(crate) fn of(client: Client, server: &'d Item) -> Self {
        let Some(members) = server.table() else {
            return Self::Unusable(Unusable::NotATable);
        };
        let command = member(members, "command");
        let url = ["url", "httpUrl"].map(|name| member(members, name));
        match (command, url) {
            (Some(command), [None, None]) => local(command, member(members, "args")),
            (Some(_), _) | (None, [Some(_), Some(_)]) => Self::Unusable(Unusable::TwoTransports),
            (None, [Some(url), None] | [None, Some(url)]) => remote(client, members, url),
            (None, [None, None]) => Self::Unusable(Unusable::NoTransport),
        }
    }

    /// Tells whether Countersign stands in front of it.
    pub(crate) fn is_wrapped(&self) -> bool {
        match self {
            Self::WrappedLocal { .. } | Self::WrappedRemote { .. } | Self::WrappedOtherwise => true,
            Self::Local { .. } | Self::Remote { .. } | Self::Unusable(_) => false,
        }
    }
}

fn local<'d>(command: &'d Member, args: Option<&'d Member>) -> Entry<'d> {
    let program = command.value.text().unwrap_or_default();
    let words = match args.map(|args| args.value.texts()) {
        Some(Some(words)) => words,
        Some(None) => return Entry::Unusable(Unusable::Command),
        None => Vec::new(),
    };
    if program.is_empty() {
        return Entry::Unusable(Unusable::Command);
    }
    let is_ours = is_this_program(program) && words.first() == Some(&WRAP);
    if let (true, Some(args)) = (is_ours, args) {
        let after = |word: &str| {
            let found = words.iter().position(|other| *other == word)? + 1;
            (found < words.len()).then_some(found)
        };
        // The server's own command may have a `--url` of its own, behind the separator.
        return match (after(SEPARATOR), after(URL_OPTION)) {
            (Some(inner), url) if url.is_none_or(|url| url > inner) => Entry::WrappedLocal {
                command,
                args,
                inner,
            },
            (None, Some(inner)) => Entry::WrappedRemote {
                command,
                args,
                inner,
            },
            (Some(_) | None, Some(_) | None) => Entry::WrappedOtherwise,
        };
    }
    let starts_us = words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(program, word)| is_this_program(program) && *word == WRAP);
    if starts_us {
        return Entry::WrappedOtherwise;
    }
    Entry::Local { command, args }
}

fn remote<'d>(client: Client, members: &'d [Member], url: &'d Member) -> Entry<'d> {
    let transport = member(members, "type");
    let headers = member(members, client.headers_member());
    if url.value.text().is_none_or(str::is_empty) {
        return Entry::Unusable(Unusable::NoTransport);
    }
    let is_http = transport.is_none_or(|it| it.value.text() == Some(HTTP_TYPE));
    if !is_http || url.name != client.url_member(transport.is_some()) {
        return Entry::Unusable(Unusable::Transport);
    }
    if members
        .iter()
        .any(|it| SIGNS_IN.contains(&it.name.as_str()))
    {
        return Entry::Unusable(Unusable::SignsIn);
    }
    if let Some(headers) = headers {
        if !are_headers(&headers.value) {
            return Entry::Unusable(Unusable::Headers);
        }
        if member(members, "env").is_some() {
            return Entry::Unusable(Unusable::HeadersAndEnvironment);
        }
    }
    Entry::Remote {
        url,
        transport,
        headers,
    }
}

fn are_headers(headers: &Item) -> bool {
    let is_token = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    headers.table().is_some_and(|headers| {
        headers.iter().all(|header| {
            let is_text = matches!(header.value.node, Node::Text(_));
            is_text && !header.name.is_empty() && header.name.bytes().all(is_token)
        })
    })
}

/// Tells whether a command names a file that is called as this program is.
pub(crate) fn is_this_program(command: &str) -> bool {
    let name = Path::new(command).file_name();
    name.and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(PROGRAM_NAME))
}
