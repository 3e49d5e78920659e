//! The endpoint side of the governed-action protocol: who owns the effects.
//!
//! An endpoint receives execution requests, checks each against the whole
//! contract, performs an action at most once, and answers with results that are
//! bound to the request by digests.
//!
//! # Invariants
//! - No in-house dependency and no code in common with the host side, which
//!   validates the same contract on its own: the two check each other.
//! - Pure: no I/O, clock or randomness. Time and ids come in as values; what must
//!   be written goes out as values.
//! - What the parser accepted is what is validated and hashed.
//!
//! # Modules
//! - [`parse`] reads strict JSON into a [`Value`]; [`canonical_json_ascii`] and
//!   [`canonical_json_utf8`] write it, with a digest type for each.
//! - [`Catalog`] holds the tools; [`ExecutionRequest`] is a request that passed.
//! - [`RequestBody`] and [`Worker`] check what comes before the request.
//! - [`decide_put`], [`observe`] and [`recover`] decide on the stored [`Action`];
//!   [`Admitted`], [`Starting`] and [`Execution`] lead to the one run of a handler.
//! - [`ActionRow`] and [`Write`] are what a ledger stores and how; [`ResultDocument`]
//!   is what is answered, [`Refusal`] what is refused.

mod action;
mod admission;
mod approval;
mod arguments;
mod catalog;
mod colony;
mod digest;
mod effect;
mod encoding;
mod epoch;
mod execution;
mod fault;
mod field_reader;
mod grammar;
mod identifier;
mod number;
mod observe;
mod parser;
mod put;
mod recovery;
mod refusal;
mod request;
mod result;
mod row;
mod state;
mod value;

pub use action::{Action, Ending, Executing, Prepared, Settled, Subject};
pub use admission::{
    Credential, REQUEST_MEDIA_TYPE, RequestBody, WORKER_PRINCIPAL, WORKER_SCOPES, Worker,
};
pub use approval::{
    APPROVAL_BINDING_SCHEMA, APPROVAL_MAX_LIFETIME_SECONDS, ApprovalBinding, CLOCK_SKEW_SECONDS,
    Liveness,
};
pub use arguments::{
    ArgumentRule, BOUNDED_JSON_DEPTH_MAX, BOUNDED_JSON_KEY_MAX_CHARS, BOUNDED_JSON_NODES_MAX,
    BOUNDED_JSON_TEXT_MAX_CHARS, Blank,
};
pub use catalog::{ARGUMENTS_MAX, Argument, Catalog, CatalogError, TOOLS_MAX, Tool};
pub use digest::{AsciiDigest, Utf8Digest};
pub use effect::{
    EFFECT_MAX_BYTES, EFFECT_SCHEMA, Effect, EffectError, VERIFICATION_DEPTH_MAX,
    VERIFICATION_NODES_MAX, VERIFICATION_TEXT_MAX_CHARS,
};
pub use encoding::{
    canonical_json_ascii, canonical_json_utf8, sha256_json_ascii, sha256_json_utf8,
};
pub use epoch::EpochSeconds;
pub use execution::{Admitted, Begin, Execution, Finished, HandlerOutcome, Starting};
pub use fault::{Fault, FaultKind, Faults, Location, RequestError};
pub use grammar::IDENTIFIER_MAX_CHARS;
pub use identifier::{
    ActionId, ApprovalId, DECISION_ID_MAX_CHARS, DecisionId, InstanceId, IntentId, Owner, ToolName,
};
pub use number::{INTEGER_MAX, Number, NumberKind};
pub use observe::observe;
pub use parser::{
    DEPTH_MAX, NODES_MAX, ParseError, ParseErrorKind, REQUEST_MAX_BYTES, STORED_REQUEST_MAX_BYTES,
    TEXT_MAX_CHARS, parse, parse_respelled,
};
pub use put::{PutDecision, PutRefusal, Stored, decide_put};
pub use recovery::{ExecutorGone, InstanceLease, recover};
pub use refusal::Refusal;
pub use request::{Content, EXECUTION_REQUEST_SCHEMA, ExecutionRequest};
pub use result::{EXECUTION_RESULT_MAX_BYTES, EXECUTION_RESULT_SCHEMA, ResultDocument};
pub use row::{ActionRow, Condition, CorruptRow, Write};
pub use state::StateName;
pub use value::{Members, Value};
