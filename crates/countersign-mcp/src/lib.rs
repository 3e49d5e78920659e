//! The Model Context Protocol, byte for byte: messages, tools, pins, and what of them is governed.

mod id;
mod message;
mod patterns;
pub mod pin;
mod salvage;
mod server;
mod span;
pub mod tools;
mod version;
pub mod write;

pub use id::RequestId;
pub use message::{Kind, MESSAGE_LIMITS, Message, MessageError, Part};
pub use patterns::{MAX_PATTERNS, Patterns};
pub use salvage::{Salvaged, salvage};
pub use server::{Launch, MAX_SERVER_NAME_BYTES, ServerName};
pub use version::{Opening, ServerAsks, Traits, Version};
