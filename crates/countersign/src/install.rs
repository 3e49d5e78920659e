//! Putting Countersign in front of the servers in an MCP client's configuration, and taking it away again.
//!
//! A configuration is read for *where* things stand, and changed by replacing those pieces of its text alone. So comments,
//! order, indentation, line ends and everything unknown stay as they are, byte for byte.
//!
//! INVARIANT: a change is given out only after it was taken back in memory and gave the very same bytes.

pub(crate) mod change;
pub(crate) mod client;
pub(crate) mod document;
pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod jsonc;
pub(crate) mod masked;
pub(crate) mod node;
pub(crate) mod program;
#[cfg(test)]
mod tests;
pub(crate) mod toml_text;
