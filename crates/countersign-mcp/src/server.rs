//! Which server is meant: its name here, and how it is started.

use std::fmt;

use countersign_canonical::{Digest, Utf8, digest_with};

/// The longest name of a server, in bytes.
pub const MAX_SERVER_NAME_BYTES: usize = 64;

/// What a server is called here: the name of its pin, and the first part of its tools' names in a ledger.
///
/// ASCII letters, digits, `.`, `_` and `-`, not beginning with `.` or `-`: it is part of a file's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(String);

impl ServerName {
    /// Takes a name that is one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let is_name = !text.is_empty()
            && text.len() <= MAX_SERVER_NAME_BYTES
            && text.bytes().all(is_part)
            && !text.starts_with(['.', '-']);
        is_name.then(|| Self(text.to_owned()))
    }

    /// A name for a program by its path: its last part, with other characters left out.
    #[must_use]
    pub fn of_program(path: &str) -> Option<Self> {
        let last = path.rsplit('/').find(|part| !part.is_empty())?;
        let is_part = |character: &char| {
            character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
        };
        let name: String = last
            .chars()
            .filter(is_part)
            .take(MAX_SERVER_NAME_BYTES)
            .collect();
        Self::new(name.trim_start_matches(['.', '-']))
    }

    /// A name for a server at an address: its host.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit('@').next()?;
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        Self::of_program(host)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// How a server is reached: by starting a program somewhere, or at an address. The environment and headers are no part of it, since
/// secrets are in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch(Reached);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reached {
    Started {
        command: Vec<String>,
        directory: String,
    },
    At(String),
}

impl Launch {
    /// A command in a directory.
    #[must_use]
    pub fn new(command: Vec<String>, directory: String) -> Self {
        Self(Reached::Started { command, directory })
    }

    /// A server at an address.
    #[must_use]
    pub fn remote(url: String) -> Self {
        Self(Reached::At(url))
    }

    /// Whether it is called at an address.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self.0, Reached::At(_))
    }

    /// What a pin is bound to: the command, wherever it is started, or the address.
    #[must_use]
    pub fn digest(&self) -> Digest<Utf8> {
        match &self.0 {
            Reached::Started { command, .. } => digest_of("countersign-launch-v1", command),
            Reached::At(url) => digest_of("countersign-launch-url-v1", [url]),
        }
    }

    /// What an effect is bound to: the same command elsewhere acts on other things. What an address says behind its path may be
    /// a secret that changes, and is no part of it.
    #[must_use]
    pub fn place_digest(&self) -> Digest<Utf8> {
        match &self.0 {
            Reached::Started { directory, .. } => digest_of("countersign-place-v1", [directory]),
            Reached::At(url) => {
                let place = url.split(['?', '#']).next().unwrap_or_default();
                digest_of("countersign-place-url-v1", [place])
            }
        }
    }
}

fn digest_of(domain: &str, parts: impl IntoIterator<Item = impl AsRef<str>>) -> Digest<Utf8> {
    digest_with::<Utf8>(|encoder| {
        encoder.begin_array();
        encoder.string(domain);
        for part in parts {
            encoder.string(part.as_ref());
        }
        encoder.end_array();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_s_name_can_name_a_file() {
        for (text, is_name) in [
            ("git", true),
            ("my-server_2.0", true),
            ("", false),
            ("..", false),
            ("-x", false),
            ("a/b", false),
            ("é", false),
        ] {
            assert_eq!(ServerName::new(text).is_some(), is_name, "{text}");
        }
        let name = |path| ServerName::of_program(path).map(|name| name.to_string());
        assert_eq!(
            name("/usr/bin/mcp-server-git").as_deref(),
            Some("mcp-server-git")
        );
        assert_eq!(name("../.hidden server/").as_deref(), Some("hiddenserver"));
        assert_eq!(name("///"), None);
        let name = |url| ServerName::of_url(url).map(|name| name.to_string());
        assert_eq!(
            name("https://a.example:8/x?y").as_deref(),
            Some("a.example")
        );
        assert_eq!(name("http://[::1]:8/x"), None);
    }

    #[test]
    fn arguments_do_not_run_into_each_other() {
        let launch = |parts: &[&str]| {
            Launch::new(
                parts.iter().map(|part| (*part).to_owned()).collect(),
                "/".to_owned(),
            )
        };
        assert_ne!(
            launch(&["a", "b c"]).digest(),
            launch(&["a b", "c"]).digest()
        );
        assert_eq!(launch(&["a"]).place_digest(), launch(&["b"]).place_digest());
    }

    #[test]
    fn an_address_is_a_place_without_what_stands_behind_its_path() {
        let at = |url: &str| Launch::remote(url.to_owned());
        let (one, other) = (
            at("https://a.example/mcp?key=1"),
            at("https://a.example/mcp?key=2"),
        );
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.place_digest(), other.place_digest());
        let program = Launch::new(
            vec!["https://a.example/mcp?key=1".to_owned()],
            String::new(),
        );
        assert_ne!(one.digest(), program.digest());
    }
}
