//! Pages for people on this machine: read-only, on a loopback address of their own.
//!
//! Invariants:
//! - Nothing is taken in: `GET` and `HEAD` only, no body is read, and a page has neither scripts nor forms.
//! - Only who calls the address by its own name is answered, so that no page of a stranger reads one.
//! - Connections, their time, their headers and the threads that make pages are bounded.
//!
//! Module map: `site` (the address), `answer` (what goes out).

mod answer;
mod site;

pub use site::{OpenError, Site};

/// What makes pages.
pub trait Pages: Send + Sync + 'static {
    /// The page at a path, as HTML; nothing where there is none. It may take a while: it is called on a thread of its own.
    fn page(&self, path: &str) -> Option<String>;
}
