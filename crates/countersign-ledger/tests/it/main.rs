//! Integration tests.

#[cfg(test)]
mod suite;
