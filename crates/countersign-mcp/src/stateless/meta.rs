//! What a request that stands alone says of its sender.

use countersign_canonical::Value;

use super::{
    CLIENT_CAPABILITIES, CLIENT_INFO, ClientCapabilities, LOG_LEVEL, LogLevel, PROTOCOL_VERSION,
    errors,
};
use crate::id::{RequestId, json_text};
use crate::message::{Kind, Message, Part};
use crate::version::{Opening, Version};
use crate::write;

/// The most that a request says of its sender, in bytes.
pub const MAX_META_BYTES: usize = 64 * 1024;

/// The sender of a request: who it is, what it can do, and what it wants to be told.
///
/// All of it is the sender's own word, and proves nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestMeta {
    client_info: Option<String>,
    capabilities: ClientCapabilities,
    log_level: Option<LogLevel>,
}

/// Why a request cannot stand alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetaError {
    /// A member that is required is not there.
    #[error(
        "the request has to say its protocol version and its client's capabilities in \"_meta\""
    )]
    Missing,
    /// A member is not what it has to be, or all of them are too long.
    #[error("what the request says in \"_meta\" is not what the protocol defines")]
    Malformed,
    /// It is of another version.
    #[error("the request is of a protocol version that is not served this way")]
    Unsupported {
        /// Of which one, as its sender wrote it.
        requested: String,
    },
}

/// How a client begins to speak, by its first message: with `initialize`, or with requests that stand alone.
///
/// Nothing where the message says neither; a client that was first seen like this most likely speaks an old version.
#[must_use]
pub fn opening(message: &Message) -> Option<Opening> {
    let (Kind::Request { method, .. } | Kind::Notification { method }) = message.kind() else {
        return None;
    };
    let says_version = || {
        let meta = message.params()?.value().get("_meta")?;
        meta.get(PROTOCOL_VERSION).map(|_| Opening::EachRequest)
    };
    match method.as_str() {
        // One that says its version stands alone, and asks for what its version does not have.
        "initialize" => says_version().or(Some(Opening::Handshake)),
        "server/discover" => Some(Opening::EachRequest),
        _ => says_version(),
    }
}

impl RequestMeta {
    /// What somebody says who sends requests on his own account. `client_info` is a JSON object.
    #[must_use]
    pub fn new(client_info: Option<&str>, capabilities: ClientCapabilities) -> Self {
        Self {
            client_info: client_info.map(str::to_owned),
            capabilities,
            log_level: None,
        }
    }

    /// Somebody who can do nothing and does not say who it is.
    #[must_use]
    pub fn nobody() -> Self {
        Self::new(None, ClientCapabilities::none())
    }

    /// Reads what a request of 2026-07-28 says.
    pub fn read(params: Option<&Part<'_>>) -> Result<Self, MetaError> {
        let meta = params.and_then(|params| params.member("_meta"));
        let meta = meta.ok_or(MetaError::Missing)?;
        meta.value().as_object().ok_or(MetaError::Malformed)?;
        if meta.text().len() > MAX_META_BYTES {
            return Err(MetaError::Malformed);
        }
        let version = meta.value().get(PROTOCOL_VERSION);
        let version = version.ok_or(MetaError::Missing)?.as_str();
        let version = version.ok_or(MetaError::Malformed)?;
        if version != Version::V2026_07_28.as_str() {
            return Err(MetaError::Unsupported {
                requested: version.to_owned(),
            });
        }
        let capabilities = meta.member(CLIENT_CAPABILITIES).ok_or(MetaError::Missing)?;
        Ok(Self {
            capabilities: ClientCapabilities::of(&capabilities).ok_or(MetaError::Malformed)?,
            client_info: match meta.member(CLIENT_INFO) {
                None => None,
                Some(info) if is_implementation(info.value()) => Some(info.text().to_owned()),
                Some(_) => return Err(MetaError::Malformed),
            },
            log_level: match meta.value().get(LOG_LEVEL).map(Value::as_str) {
                None => None,
                Some(level) => Some(
                    level
                        .and_then(LogLevel::parse)
                        .ok_or(MetaError::Malformed)?,
                ),
            },
        })
    }

    /// Who sends it, as a JSON object.
    #[must_use]
    pub fn client_info(&self) -> Option<&str> {
        self.client_info.as_deref()
    }

    /// What its sender can do.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// From which level on it wants log messages.
    #[must_use]
    pub fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    /// The same, with log messages from a level on, or without any.
    #[must_use]
    pub fn with_log_level(mut self, level: Option<LogLevel>) -> Self {
        self.log_level = level;
        self
    }

    /// Parameters that say it, instead of whatever they said before. Every other byte is as it was.
    #[must_use]
    pub fn written_into(&self, params: &str) -> String {
        let mut text = write::without_meta(params, &super::SENDER_KEYS);
        if let Some(level) = self.log_level {
            text = write::with_meta(&text, LOG_LEVEL, &json_text(level.as_str()));
        }
        text = write::with_meta(&text, CLIENT_CAPABILITIES, self.capabilities.text());
        if let Some(info) = &self.client_info {
            text = write::with_meta(&text, CLIENT_INFO, info);
        }
        let version = json_text(Version::V2026_07_28.as_str());
        write::with_meta(&text, PROTOCOL_VERSION, &version)
    }
}

impl MetaError {
    /// The answer to the request.
    #[must_use]
    pub fn answer(&self, id: &RequestId, supported: &[Version]) -> String {
        match self {
            Self::Missing | Self::Malformed => {
                write::error(Some(id), write::INVALID_PARAMS, &self.to_string())
            }
            Self::Unsupported { requested } => {
                errors::unsupported_version(Some(id), requested, supported)
            }
        }
    }
}

/// Whether a value names somebody's software (2026-07-28, schema, `Implementation`).
pub(crate) fn is_implementation(value: &Value) -> bool {
    let is_text = |name: &str| value.get(name).and_then(Value::as_str).is_some();
    is_text("name") && is_text("version")
}
