//! How a server is reached over HTTP.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect, retry};

use super::target::Target;

/// How long a connection may take to come about, with its encryption.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection may lie idle. Servers close them after five seconds and more; a request must not meet that.
const MAX_IDLE: Duration = Duration::from_secs(3);
/// The most idle connections.
const MAX_IDLE_CONNECTIONS: usize = 8;
/// After how much silence the system asks whether the other side is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The most headers of an answer.
const MAX_ANSWER_HEADERS: usize = 100;

/// A server's address, and the HTTP clients for it.
#[derive(Debug)]
pub(super) struct Reach {
    target: Target,
    pooled: Client,
    fresh: Client,
}

/// Why no HTTP client can be made: there is no way to check certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "connections cannot be encrypted: the certificates of this machine cannot be read (on Debian, install ca-certificates; SSL_CERT_FILE names others)"
)]
pub struct NoClient;

impl Reach {
    pub(super) fn new(target: Target) -> Result<Self, NoClient> {
        let build = |idle_connections| {
            let builder = builder(&target).pool_max_idle_per_host(idle_connections);
            builder.build().map_err(|_| NoClient)
        };
        Ok(Self {
            pooled: build(MAX_IDLE_CONNECTIONS)?,
            fresh: build(0)?,
            target,
        })
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// For what may be asked again: connections are used more than once.
    pub(super) fn pooled(&self) -> &Client {
        &self.pooled
    }

    /// For what goes out once: a connection of its own, since one that the server closes at the same moment leaves unknown what
    /// became of the message.
    pub(super) fn fresh(&self) -> &Client {
        &self.fresh
    }
}

fn builder(target: &Target) -> ClientBuilder {
    let builder = Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .http1_only()
        .http1_max_headers(MAX_ANSWER_HEADERS)
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(MAX_IDLE)
        .tcp_keepalive(KEEPALIVE);
    let builder = if target.is_plain() {
        // A machine without certificates can be reached by itself. Whatever is encrypted all the same fails: none is trusted.
        builder.tls_certs_only([])
    } else {
        builder
    };
    if target.is_loopback() {
        builder.no_proxy()
    } else {
        builder
    }
}
