//! What is set from outside.

use std::time::Duration;

/// Who may come, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) is_beyond_loopback: bool,
    pub(super) max_sessions: usize,
    pub(super) idle_limit: Duration,
    pub(super) json_wait: Duration,
    pub(super) keep_alive: Duration,
    pub(super) header_limit: Duration,
    pub(super) write_limit: Duration,
    pub(super) end_limit: Duration,
}

impl Options {
    /// Accepts further names in `Host`, with or without a port, as behind a proxy.
    #[must_use]
    pub fn with_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.hosts.extend(hosts);
        self
    }

    /// Accepts pages of further origins, such as `https://inspector.example`.
    #[must_use]
    pub fn with_origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.origins.extend(origins);
        self
    }

    /// Allows an address that other machines reach. Nobody who comes is asked who he is: something in front has to.
    #[must_use]
    pub fn beyond_loopback(mut self) -> Self {
        self.is_beyond_loopback = true;
        self
    }

    /// How many sessions may be open. By default 64.
    #[must_use]
    pub fn with_max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }

    /// How long a session may be without any message or open stream. By default half an hour.
    #[must_use]
    pub fn with_idle_limit(mut self, limit: Duration) -> Self {
        self.idle_limit = limit;
        self
    }

    /// How long an answer is waited for before a stream is opened for it. By default half a second.
    #[must_use]
    pub fn with_json_wait(mut self, wait: Duration) -> Self {
        self.json_wait = wait;
        self
    }

    /// How often a quiet stream carries a comment, which finds out whether its client is still there. By default 15 seconds.
    #[must_use]
    pub fn with_keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = interval;
        self
    }

    /// How long a client may take for a request's header, and again for its body; also how long a connection may be without any. By
    /// default half a minute.
    #[must_use]
    pub fn with_header_limit(mut self, limit: Duration) -> Self {
        self.header_limit = limit;
        self
    }

    /// How long a client may take nothing of what it is sent before its connection is closed. By default half a minute.
    #[must_use]
    pub fn with_write_limit(mut self, limit: Duration) -> Self {
        self.write_limit = limit;
        self
    }

    /// How long answers that are under way may take when the listener ends. By default 5 seconds.
    #[must_use]
    pub fn with_end_limit(mut self, limit: Duration) -> Self {
        self.end_limit = limit;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            is_beyond_loopback: false,
            max_sessions: 64,
            idle_limit: Duration::from_mins(30),
            json_wait: Duration::from_millis(500),
            keep_alive: Duration::from_secs(15),
            header_limit: Duration::from_secs(30),
            write_limit: Duration::from_secs(30),
            end_limit: Duration::from_secs(5),
        }
    }
}
