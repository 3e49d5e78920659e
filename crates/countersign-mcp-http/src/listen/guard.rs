//! Who may come: whoever calls this address by its own name, and no page of another origin.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::str::FromStr as _;

use hyper::header::{HOST, HeaderMap, ORIGIN};
use hyper::{Request, Uri};

use super::headers::single;
use super::options::Options;

/// The port that a name without one means.
const PLAIN_PORT: u16 = 80;
/// Names of this machine that no name server is asked for.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Compares requests with the names that this address goes by.
///
/// A page of a stranger can make a name of its own resolve to a loopback address, and then speak to whoever listens there as if to
/// its own server. What it cannot choose are `Host` and `Origin`.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: BTreeSet<String>,
    origins: BTreeSet<String>,
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Foreign {
    /// It is for somebody else.
    #[error("this host is not served: name it when countersign starts, if it is yours")]
    Host,
    /// It comes from a page.
    #[error("this origin is not served: name it when countersign starts, if it is yours")]
    Origin,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, options: &Options) -> Self {
        let port = address.port();
        let mut hosts = BTreeSet::new();
        let own = LOOPBACK.into_iter().map(str::to_owned);
        let listed = options.hosts.iter().map(|host| host.to_ascii_lowercase());
        for host in own {
            if port == PLAIN_PORT {
                hosts.insert(host.clone());
            }
            hosts.insert(format!("{host}:{port}"));
        }
        for host in listed {
            hosts.insert(format!("{host}:{port}"));
            hosts.insert(host);
        }
        if !address.ip().is_unspecified() {
            hosts.insert(address.to_string());
        }
        let origins = options.origins.iter();
        Self {
            hosts,
            origins: origins.map(|origin| origin.to_ascii_lowercase()).collect(),
        }
    }

    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), Foreign> {
        let host = single(request.headers(), &HOST).ok_or(Foreign::Host)?;
        let target = request
            .uri()
            .authority()
            .map(hyper::http::uri::Authority::as_str);
        let is_own = |host: &str| self.hosts.contains(&host.to_ascii_lowercase());
        if !is_own(host) || !target.is_none_or(is_own) {
            return Err(Foreign::Host);
        }
        self.check_origin(request.headers())
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Foreign> {
        if !headers.contains_key(ORIGIN) {
            return Ok(());
        }
        let origin = single(headers, &ORIGIN).ok_or(Foreign::Origin)?;
        let origin = origin.to_ascii_lowercase();
        if is_loopback(&origin) || self.origins.contains(&origin) {
            Ok(())
        } else {
            Err(Foreign::Origin)
        }
    }
}

/// Whether a page comes from this machine, whatever its port.
fn is_loopback(origin: &str) -> bool {
    let Ok(uri) = Uri::from_str(origin) else {
        return false;
    };
    let is_bare = uri.query().is_none() && matches!(uri.path(), "" | "/") && !origin.contains('@');
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    is_bare && is_web && uri.host().is_some_and(|host| LOOPBACK.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(address: &str, target: &str, headers: &[(&str, &str)]) -> Result<(), Foreign> {
        let options = Options::default()
            .with_hosts(["Agents.example".to_owned()])
            .with_origins(["https://pages.example".to_owned()]);
        let guard = Guard::new(address.parse().unwrap(), &options);
        let mut request = Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        guard.check(&request.body(()).unwrap())
    }

    #[test]
    fn only_our_own_names_are_served() {
        for (host, is_own) in [
            ("127.0.0.1:7001", true),
            ("localhost:7001", true),
            ("LOCALHOST:7001", true),
            ("[::1]:7001", true),
            ("agents.example", true),
            ("agents.example:7001", true),
            ("127.0.0.1", false),
            ("127.0.0.1:7002", false),
            ("localhost", false),
            ("localhost.evil.example:7001", false),
            ("evil.example:7001", false),
            ("user@localhost:7001", false),
            ("", false),
        ] {
            let found = judged("127.0.0.1:7001", "/mcp", &[("host", host)]);
            assert_eq!(found.is_ok(), is_own, "{host}");
        }
        assert_eq!(judged("127.0.0.1:7001", "/mcp", &[]), Err(Foreign::Host));
        let two = [("host", "localhost:7001"), ("host", "localhost:7001")];
        assert_eq!(judged("127.0.0.1:7001", "/mcp", &two), Err(Foreign::Host));
        let own = [("host", "localhost:7001")];
        let target = "http://evil.example/mcp";
        assert_eq!(judged("127.0.0.1:7001", target, &own), Err(Foreign::Host));
        assert_eq!(
            judged("127.0.0.1:80", "/mcp", &[("host", "localhost")]),
            Ok(())
        );
        let any = [("host", "0.0.0.0:7001")];
        assert_eq!(judged("0.0.0.0:7001", "/mcp", &any), Err(Foreign::Host));
    }

    #[test]
    fn only_pages_of_this_machine_or_listed_ones_are_served() {
        for (origin, is_served) in [
            ("http://localhost:3000", true),
            ("https://127.0.0.1", true),
            ("http://[::1]:9", true),
            ("https://pages.example", true),
            ("http://pages.example", false),
            ("https://pages.example.evil.example", false),
            ("http://localhost.evil.example", false),
            ("http://localhost@evil.example", false),
            ("http://evil.example/localhost", false),
            ("http://localhost/path", false),
            ("file://localhost", false),
            ("null", false),
            ("", false),
        ] {
            let headers = [("host", "localhost:7001"), ("origin", origin)];
            let found = judged("127.0.0.1:7001", "/mcp", &headers);
            assert_eq!(found.is_ok(), is_served, "{origin}");
        }
    }
}
