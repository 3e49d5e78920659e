//! What is new in 2026-07-28: requests that stand alone, and results that ask back.
//!
//! The facts, from the schema (`schema/2026-07-28/schema.ts`) and the specification of that version:
//! - **Every request** has `params._meta` with `io.modelcontextprotocol/protocolVersion` (a text) and
//!   `io.modelcontextprotocol/clientCapabilities` (an object); without them it is malformed, error -32602. It should have
//!   `…/clientInfo`, and may have `…/logLevel`: without it, no `notifications/message` comes for the request (Base Protocol,
//!   General fields).
//! - **Gone** are `initialize`, `notifications/initialized`, `ping`, `logging/setLevel`, `resources/subscribe`,
//!   `resources/unsubscribe`, `notifications/roots/list_changed`, `notifications/elicitation/complete`, requests from a server,
//!   and tasks (now an extension). **New** are `server/discover` and `subscriptions/listen` (changelog, major changes 2 to 7).
//! - **Every result** has `resultType`: `complete`, `input_required`, or what an extension defines; where it is missing it means
//!   `complete`, and an unknown one is invalid. Results of `tools/list`, `prompts/list`, `resources/list`,
//!   `resources/templates/list`, `resources/read` and `server/discover` have `ttlMs` (zero or more) and `cacheScope` (`public` or
//!   `private`). A server should name itself in each result's `_meta` under `io.modelcontextprotocol/serverInfo`.
//! - **Rounds**: `tools/call`, `prompts/get` and `resources/read` may be answered with `input_required`, with at least one of
//!   `inputRequests` (a map from the server's keys to `elicitation/create`, `sampling/createMessage` or `roots/list`) and
//!   `requestState` (an opaque text). The client sends the request again, under another id, with `inputResponses` (the same
//!   keys) and `requestState`, exactly (Multi Round-Trip Requests).
//! - **Subscriptions**: `subscriptions/listen` names in `notifications` what it wants (`toolsListChanged`, `promptsListChanged`,
//!   `resourcesListChanged`, `resourceSubscriptions`: addresses). First comes `notifications/subscriptions/acknowledged` with
//!   what is honoured; it and all that follows carry `io.modelcontextprotocol/subscriptionId`, the id of the request, in
//!   `_meta`. The answer comes only when the server ends it (Subscriptions).
//! - **Error codes**: -32020 headers that differ from the message, -32021 a capability that the client has not declared
//!   (`data.requiredCapabilities`), -32022 an unknown version (`data.supported`, `data.requested`). -32020 to -32099 are the
//!   specification's; -32002 and -32042 of earlier versions must not be sent any more, -32602 stands for a resource that is not
//!   found (Base Protocol, Error Codes).
//!
//! Module map: `meta` (what a request says of its sender), `capabilities`, `log_level`; `introduction` (what a server says of
//! itself); `results`, `rounds` (asking back); `mirrored` (arguments that headers repeat); `errors`.

mod capabilities;
mod errors;
mod introduction;
mod log_level;
mod meta;
mod mirrored;
mod results;
mod rounds;

pub use capabilities::{Ask, ClientCapabilities};
pub use errors::{
    HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, header_mismatch, missing_capability,
    unsupported_version,
};
pub use introduction::Introduction;
pub use log_level::LogLevel;
pub(crate) use meta::is_implementation;
pub use meta::{MAX_META_BYTES, MetaError, RequestMeta, opening};
pub use mirrored::{BrokenAnnotation, MIRRORED, MirroredParameter};
pub(crate) use results::completed;
pub use results::{ResultType, complete, for_earlier_versions};
pub use rounds::{
    InputRequest, InputRequired, InputResponses, MAX_INPUT_REQUESTS, MAX_REQUEST_STATE_BYTES,
    RoundError, may_ask_back,
};

/// The version of a request, in its `_meta`.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Who sends a request, in its `_meta`.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the sender of a request can do, in its `_meta`.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// From which level on a request wants log messages, in its `_meta`.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Who answers, in a result's `_meta`.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// To which `subscriptions/listen` a notification belongs, in its `_meta`.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// What a request says of its sender.
pub(crate) const SENDER_KEYS: [&str; 4] = [
    PROTOCOL_VERSION,
    CLIENT_INFO,
    CLIENT_CAPABILITIES,
    LOG_LEVEL,
];
