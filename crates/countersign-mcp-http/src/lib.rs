//! The Model Context Protocol over Streamable HTTP: [`listen`] serves clients, [`remote`] calls servers, [`page`] shows people
//! on this machine what is going on.
//!
//! Invariants:
//! - What comes over HTTP is read by the strict parser before anybody acts on it, and passes as the bytes that it came as.
//! - Every body, stream, queue and wait has a limit.
//! - No answer, error or log repeats a header's value or what a stranger wrote.

pub mod listen;
pub mod page;
mod parameters;
pub mod remote;
mod sse;

#[cfg(fuzzing)]
pub use sse::events_of;
