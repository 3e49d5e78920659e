//! Tool Result v2: what a tool call is, what its result is, and the proof that the two belong together.
//!
//! A model proposes a [`Call`]. Its result is a [`Package`] of two projections: the [`ModelResult`], which is all that a
//! model or provider ever sees, and the [`ProtectedAudit`], which never leaves the host. Digests bind the two to each
//! other and to the call, its [`Principal`] and the tool's [`ToolContract`]; [`verify`] recomputes every one of them
//! and mints the only value that a provider adapter renders, a [`VerifiedPackage`].
//!
//! Invariants:
//! - An identifier, digest, time or profile is well-formed by its type: it is read in one place, and cannot stand in
//!   for another kind.
//! - A success is packaged from a [`CheckedAnswer`] only, which only [`HandlerAnswer::check`] makes.
//! - Control fields of an error come from the fixed [`ErrorCode`] catalog, never from a tool.
//! - Reading a document lists every fault with its place, and no input makes it panic.
//!
//! Module map: `identifier`, `blank`, `time` (scalars); `principal`, `profile`, `call` (who and what);
//! `tool_contract`, `rule` (what is allowed); `document` (JSON forms); `error_catalog`; `model_result`,
//! `protected_audit`, `package` (the projections); `digest`, `wire` (what binds them); `answer`, `attachment`, `sensitive_key`,
//! `verify`, `result_set` (what is checked), `discard` (what is refused); `fault`, `inert` (how it is said).

mod answer;
mod attachment;
mod blank;
mod call;
mod digest;
mod discard;
mod document;
mod error_catalog;
mod fault;
mod identifier;
mod inert;
mod model_result;
mod package;
mod principal;
mod profile;
mod protected_audit;
mod result_set;
mod rule;
mod sensitive_key;
mod time;
mod tool_contract;
mod verify;
mod wire;

pub use answer::{CheckedAnswer, HandlerAnswer};
pub use attachment::{Attachment, ContentReference};
pub use blank::{is_blank, is_space, strip};
pub use call::{Arguments, Call};
pub use digest::{
    ApprovalDigest, CallBindingDigest, CallFingerprint, IntentDigest, PrincipalReference, Purpose,
    RequestDigest, ResultDigest, Scope, StatusRef,
};
pub use document::{
    read_call, read_contract, read_identifier, read_key, read_principal, read_profile,
    read_value_rule,
};
pub use error_catalog::{CatalogEntry, Category, ErrorCode, Recovery};
pub use fault::{Binding, Fault, FaultCollector, Faults, MAX_LISTED_FAULTS, Path, Problem};
pub use identifier::{
    ApprovalId, ApproverId, CallId, IdempotencyKey, IdentifierError, MAX_IDENTIFIER_CHARS,
    OperationId, ResponseId, Revision, Role, SourceLabel, SubjectId, TenantId, ToolName,
};
pub use inert::Inert;
pub use model_result::{
    DISPATCHER_LABEL, DISPATCHER_REVISION, Delivery, MODEL_RESULT_SCHEMA, ModelResult, Outcome,
    Status, SuccessResult, Trust,
};
pub use package::Package;
pub use principal::{MAX_ROLES, Principal, Roles, RolesError};
pub use profile::{Profile, ProfileError};
pub use protected_audit::{
    AUDIT_SCHEMA, AUDIT_VISIBILITY, BindingDigests, Downstream, ProtectedAudit,
};
pub use result_set::verify_result_set;
pub use rule::{MemberRule, Members, Pattern, Rule, StringRule};
pub use sensitive_key::{find_sensitive_key, is_sensitive_key};
pub use time::{MAX_UNIX_SECONDS, Timestamp, UtcSecond};
pub use tool_contract::{ContractReference, OutputLimits, Revisions, Risk, ToolContract};
pub use verify::{VerifiedPackage, verify};
