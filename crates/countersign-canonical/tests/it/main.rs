//! The canonical crate from outside: golden vectors, positions, limits, properties.

#[cfg(test)]
mod vectors;
