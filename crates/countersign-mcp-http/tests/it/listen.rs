//! The listening side, with clients that speak as they should, and others.

mod client;
mod host;
mod hostile;
mod resumption;
mod session;
mod stateless;
