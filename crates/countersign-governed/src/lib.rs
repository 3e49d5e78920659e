//! The host side of the governed-action contract.
//!
//! A host proposes a model's tool call, gets its owner's approval, sends it to
//! an endpoint once, and believes the answer only as far as the digests go.
//! This crate is the host's own reading of that contract: it is pure, without
//! I/O, clock or randomness; times and ids come in as values.
//!
//! Invariants:
//! - It shares no code with the endpoint's reading: the two check each other.
//! - Everything is refused that the contract does not allow, with every reason and its place.
//! - The ASCII and the UTF-8 digests are different types and never meet.
//! - An [`ExecutionRequest`] is built from a [`DispatchableGate`] only, that from a valid
//!   [`OwnerGate`] that has not expired, and that from exactly one gate receipt.
//! - No message repeats a value of the document it is about.
//!
//! Module map: `contract` (names, fields, bounds), `grammar`, `names`, `epoch`, `scalars`
//! (bounded values), `place` and `fault` (what is wrong, and where), `digests`; `catalog`
//! (tools as data, schemas, displays), `context`, `intent`, `envelope`; `provenance`,
//! `receipt`, `gate`; `request`, `result`; `admission`; `question` (documents that a
//! command line reads) and `answer` (what other implementations are compared with).

mod admission;
mod answer;
mod catalog;
mod context;
pub mod contract;
mod digests;
mod envelope;
mod epoch;
mod fault;
mod gate;
mod grammar;
mod intent;
mod names;
mod place;
mod provenance;
mod question;
mod receipt;
mod request;
mod result;
mod scalars;

pub use admission::{Admission, WorkerIdentity};
pub use answer::{
    answer_execution_result, answer_gate, answer_intent, answer_intent_build, answer_tool_args,
};
pub use catalog::{
    Argument, ArgumentRule, Arguments, BEYOND_SCHEMA, BeyondSchema, CATALOG_MAX_BYTES,
    CATALOG_SCHEMA, Catalog, Dialect, Display, MAXIMUM_ARGUMENTS, MAXIMUM_TOOLS, PREVIEW_MAX_CHARS,
    Presence, Template, Tool, preview,
};
pub use context::{Context, ContextField};
pub use envelope::Envelope;
pub use epoch::Epoch;
pub use fault::{
    BindingReason, DefinitionReason, DocumentReason, FAULTS_LISTED, Fault, Faults, FieldReason,
    GateReason, Kind, Reason, TimeReason, ValueReason,
};
pub use gate::{DispatchableGate, OwnerGate};
pub use grammar::{Grammar, is_blank, is_python_space};
pub use intent::Intent;
pub use names::{
    ActionId, ApprovalId, AuthorizationId, EffectId, IntentId, LoopbackOrigin, NotOfGrammar,
    ToolName,
};
pub use place::Place;
pub use provenance::{Coverage, EvidenceField, Shape, ShapeRegistry};
pub use question::{
    GateAnswer, build_intent_document, build_request_document, check_gate_document,
    check_result_document, read_document,
};
pub use receipt::{ActionBinding, Receipt};
pub use request::{ExecutionRequest, RequestBinding};
pub use result::ExecutionResult;
pub use scalars::{bounded_identifier, bounded_integer, bounded_number, bounded_text, enum_text};
