//! Both sides of the governed-action contract over the same cases.
//!
//! Host and endpoint are written twice on purpose, and each checks the other only
//! as long as they differ in nothing but code. This crate puts one document to
//! both and says where they part; [`smallest`] then shrinks the document to what
//! it is about.
//!
//! Invariants:
//! - For tests and fuzz targets only; nothing of the product depends on it.
//! - It has no reading of the contract of its own, but for the endpoint's limits on any
//!   document ([`beyond_endpoint`]), which the host's parser does not have.
//!
//! Module map: `sides` (one question to both), `document` (parsers and encodings), `probe`
//! (calls at the bounds of every rule), `signed` (requests whose digests are right),
//! `performance` (an endpoint at work), `smallest` (the shrinking).

mod document;
mod performance;
mod probe;
mod sides;
mod signed;
mod smallest;

pub use document::{beyond_endpoint, compare_document};
pub use performance::perform;
pub use probe::{Call, probes, probes_of};
pub use sides::{Sides, Verdicts};
pub use signed::{resign, signed_request};
pub use smallest::smallest;
