//! The calling side, against servers that answer as they should, and others.

mod answers;
mod failures;
mod listener;
mod session;
mod stateless;
mod stub;
