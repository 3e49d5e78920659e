//! Attacks on the pipeline, each with the code that it has to meet and exactly the effects that it may have.

mod approvals;
mod failing_ports;
mod handlers;
mod identities;
mod model;
mod races;
pub(crate) mod stage;
mod unknown_outcomes;
