//! Where a server is, and what goes with every request to it.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The most headers that a person may add.
pub const MAX_HEADERS: usize = 32;
/// The longest value of one.
pub const MAX_HEADER_VALUE_BYTES: usize = 16 * 1024;

/// Headers that the transport sets itself, or that say how a body is framed.
const RESERVED: [&str; 11] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
];
/// What the protocol's own headers begin with.
const PROTOCOL_PREFIX: &str = "mcp-";

/// A server's address, and the headers for it.
///
/// The values of the headers, and what the address says behind its path, are secrets: nothing here shows them.
#[derive(Clone)]
pub struct Target {
    url: Url,
    headers: HeaderMap,
}

/// Where messages may go without encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainHttp {
    /// To this machine only.
    Loopback,
    /// Anywhere: whoever is on the way reads the credentials, and can answer in the server's place.
    Anywhere,
}

/// Why a server cannot be addressed so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is no address.
    #[error("the address of a server begins with https:// or http:// and names a host")]
    Url,
    /// It holds a name or password, which would stand in every list of processes.
    #[error("credentials do not belong into an address: give them as a header")]
    Credentials,
    /// Credentials and calls would go out in the clear.
    #[error("plain http goes to this machine only: use https, or allow plain http for this server")]
    PlainHttp,
    /// The name is no header's name.
    #[error("a header's name has letters, digits and hyphens only")]
    HeaderName,
    /// The transport needs it for itself.
    #[error("this header is set by the protocol itself")]
    ReservedHeader,
    /// The value cannot stand in a header.
    #[error("a header's value is one line of at most {MAX_HEADER_VALUE_BYTES} bytes")]
    HeaderValue,
    /// There are more than [`MAX_HEADERS`].
    #[error("at most {MAX_HEADERS} headers can be added")]
    TooManyHeaders,
}

impl Target {
    /// Reads an address.
    pub fn parse(url: &str, plain_http: PlainHttp) -> Result<Self, TargetError> {
        let mut url = Url::parse(url).map_err(|_| TargetError::Url)?;
        url.set_fragment(None);
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::Credentials);
        }
        let target = Self {
            url,
            headers: HeaderMap::new(),
        };
        match (target.url.scheme(), plain_http) {
            _ if !target.url.has_host() => Err(TargetError::Url),
            ("https", _) | ("http", PlainHttp::Anywhere) => Ok(target),
            ("http", PlainHttp::Loopback) if target.is_loopback() => Ok(target),
            ("http", PlainHttp::Loopback) => Err(TargetError::PlainHttp),
            _ => Err(TargetError::Url),
        }
    }

    /// Adds a header to every request. A name that is given twice goes out twice.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, TargetError> {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| TargetError::HeaderName)?;
        if RESERVED.contains(&name.as_str()) || name.as_str().starts_with(PROTOCOL_PREFIX) {
            return Err(TargetError::ReservedHeader);
        }
        if value.len() > MAX_HEADER_VALUE_BYTES {
            return Err(TargetError::HeaderValue);
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| TargetError::HeaderValue)?;
        value.set_sensitive(true);
        if self.headers.len() >= MAX_HEADERS {
            return Err(TargetError::TooManyHeaders);
        }
        self.headers.append(name, value);
        Ok(self)
    }

    /// Whether it is this machine. No proxy stands on the way there.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || address
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// Whether nothing on the way there is encrypted, by a proxy neither.
    pub(super) fn is_plain(&self) -> bool {
        self.url.scheme() == "http" && self.is_loopback()
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Target")
            .field("scheme", &self.url.scheme())
            .field("headers", &self.headers.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_encrypted_or_local_addresses_pass_unasked() {
        for (url, expected) in [
            ("https://example.com/mcp?key=1", None),
            ("http://127.0.0.1:8000/mcp", None),
            ("http://127.8.0.1/", None),
            ("http://[::1]:8000/mcp", None),
            ("http://localhost/mcp", None),
            ("http://example.com/mcp", Some(TargetError::PlainHttp)),
            (
                "http://localhost.example.com/",
                Some(TargetError::PlainHttp),
            ),
            ("http://0.0.0.0/", Some(TargetError::PlainHttp)),
            ("https://u:p@example.com/", Some(TargetError::Credentials)),
            ("ftp://example.com/", Some(TargetError::Url)),
            ("unix:/run/mcp", Some(TargetError::Url)),
            ("/mcp", Some(TargetError::Url)),
        ] {
            let target = Target::parse(url, PlainHttp::Loopback);
            assert_eq!(target.err(), expected, "{url}");
        }
        assert!(Target::parse("http://example.com/mcp", PlainHttp::Anywhere).is_ok());
    }

    #[test]
    fn headers_are_bounded_never_shown_and_never_ours() {
        let target = Target::parse("https://example.com/?k=hidden", PlainHttp::Loopback).unwrap();
        for (name, value, expected) in [
            ("Authorization", "Bearer hidden", None),
            ("X-Api-Key", "\u{e9}", None),
            ("no name", "x", Some(TargetError::HeaderName)),
            ("X", "a\r\nHost: b", Some(TargetError::HeaderValue)),
            ("Content-Type", "x", Some(TargetError::ReservedHeader)),
            ("MCP-Session-Id", "x", Some(TargetError::ReservedHeader)),
        ] {
            let changed = target.clone().with_header(name, value);
            assert_eq!(changed.as_ref().err(), expected.as_ref(), "{name}");
            assert!(!format!("{changed:?}").contains("hidden"));
        }
        let long = "x".repeat(MAX_HEADER_VALUE_BYTES + 1);
        let refused = target.clone().with_header("a", &long);
        assert_eq!(refused.err(), Some(TargetError::HeaderValue));
        let full = (0..MAX_HEADERS).try_fold(target, |target, index| {
            target.with_header(&format!("x-{index}"), "v")
        });
        let refused = full.unwrap().with_header("x", "v");
        assert_eq!(refused.err(), Some(TargetError::TooManyHeaders));
    }
}
