//! Serving clients: one address, one path (`/mcp`), every version of the protocol that has Streamable HTTP.
//!
//! [`bind`] takes an address, and [`Listener::run`] serves it until it is stopped, on a runtime of its own: what calls it, and what it
//! calls through [`Connect`](countersign_mcp::port::Connect), are plain threads.
//!
//! Clients of 2025-03-26 to 2025-11-25 have a session each, with a connection of its own. Requests of 2026-07-28 stand alone; those of
//! all clients share one connection, each under an id and a progress token that nobody else has, and get their own back.
//!
//! Invariants:
//! - Nothing of a request is read before its `Host` and `Origin` were found to be our own: a page in a browser reaches nothing here,
//!   whatever name it makes resolve to this address.
//! - What one session or request is sent never reaches another one. A stream is resumed within its session only.
//! - A client that does not read costs others a bounded wait once, and then nothing: its stream is cut.
//! - That a message was written says that the operating system took each of its bytes for the connection, and no more.
//! - Where a request of 2026-07-28 loses its client, it is cancelled. Where one of a session does, it goes on, and its answer waits to be
//!   fetched (2025-06-18, Streamable HTTP: "disconnection SHOULD NOT be interpreted as the client cancelling its request").
//!
//! Module map: `listener` (the address, connections, the end), `socket` (one connection), `guard` (who may come), `endpoint` (what is
//! asked for); `session`, `sessions`, `handshake` (clients with a session), `stateless`, `calls`, `mirrored` (requests that stand alone);
//! `outbox`, `stream` (what waits for clients); `headers`, `incoming`, `reply`, `body` (HTTP); `connection`, `options`, `stop`.

mod body;
mod calls;
mod connection;
mod endpoint;
pub(crate) mod guard;
mod handshake;
mod headers;
mod incoming;
mod listener;
mod mirrored;
mod options;
mod outbox;
mod reply;
mod session;
mod sessions;
mod socket;
mod stateless;
mod stop;
mod stream;

pub use listener::{BindError, Listener, RunError, bind};
pub use options::Options;
pub use stop::Stop;
