//! Integration tests: the in-memory ledger against what the port promises.

#[cfg(test)]
mod memory_ledger;
#[cfg(test)]
mod stored;
