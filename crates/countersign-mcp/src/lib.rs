//! The Model Context Protocol, byte for byte: messages, tools, pins, and what of them is governed.
//!
//! A [`Message`] is read by the strict parser and kept as the text it came as; what is passed on is cut out of that text.
//! A [`pin`] freezes what a server said of its tools when it was first seen, and [`passthrough`] makes of a pinned tool the
//! contract under which its calls are authorized, approved and recorded.
//!
//! Invariants:
//! - Nothing that came as bytes is written anew: only members of our own are inserted, and items taken out whole.
//! - What a server says later about a tool never makes it more than it was; only a person does.
//! - A tool's name in a ledger names the server and where it runs, so that no approval is for another server's tool.
//! - No message repeats what a stranger wrote, except inert; no input makes this crate panic.
//! - No I/O, thread or clock. It is no part of the core, since the judge of output schemas has a JSON value of its own, which
//!   sees copies only.
//!
//! Module map: `id`, `message`, `span`, `salvage` (reading), [`write`](mod@write) (writing); `version` (what differs); [`tools`] (what a
//! server says), [`pin`] (what is frozen of it), `patterns`, `server` (whom a person means); [`passthrough`], `output_schema`
//! (what is governed); [`port`] (the ways that messages go, for transports to implement); [`stateless`] (what 2026-07-28 added) and
//! [`bridge`] (between versions).

pub mod bridge;
mod id;
mod message;
mod output_schema;
pub mod passthrough;
mod patterns;
pub mod pin;
pub mod port;
mod read;
mod salvage;
mod server;
mod span;
pub mod stateless;
pub mod tools;
mod version;
pub mod write;

pub use id::RequestId;
pub use message::{Kind, MESSAGE_LIMITS, Message, MessageError, Part, misspells};
pub use output_schema::{MAX_SCHEMA_BYTES, OutputFault, OutputSchema, OutputSchemaError, is_error};
pub use passthrough::{Answered, Passthrough};
pub use patterns::{MAX_PATTERNS, Patterns};
pub use salvage::{Salvaged, salvage};
pub use server::{Launch, MAX_SERVER_NAME_BYTES, ServerName};
pub use version::{Opening, ServerAsks, Traits, Version};
