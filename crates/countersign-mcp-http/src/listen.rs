//! The side that clients speak to.
