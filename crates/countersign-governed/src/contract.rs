//! The written contract: schema names, field sets, bounds.
//!
//! These are public wire facts. A name is never renamed and a field set never
//! grows: another version is another schema.

/// Schema of a proposed tool call.
pub const INTENT_SCHEMA: &str = "HermesToolActionIntentV1";
/// Schema of the document that carries an intent on the wire and in the store.
pub const INTENT_ENVELOPE_SCHEMA: &str = "HermesToolActionEnvelopeV1";
/// Schema of the call identity from which the idempotency key is derived.
pub const CALL_IDENTITY_SCHEMA: &str = "HermesActionCallV1";
/// Schema of the document a host sends to an endpoint.
pub const EXECUTION_REQUEST_SCHEMA: &str = "ColonyGovernedActionExecutionV1";
/// Schema of the owner's approval inside an execution request.
pub const APPROVAL_BINDING_SCHEMA: &str = "ColonyOwnerApprovalExecutionBindingV1";
/// Schema of an endpoint's answer.
pub const EXECUTION_RESULT_SCHEMA: &str = "ColonyGovernedActionExecutionResultV1";
/// Schema of the effect inside an answer.
pub const EFFECT_SCHEMA: &str = "ColonyGovernedActionEffectV1";
/// Schema of the operator's dispatch admission.
pub const ADMISSION_SCHEMA: &str = "ColonyHostWorkerAdmissionV1";

/// The stored action's source, before the principal's name.
pub const ACTION_SOURCE_PREFIX: &str = "hermes-action-intent:";
/// The stored action's type.
pub const ACTION_TYPE: &str = "hermes_tool_action";
/// The receipt kind that carries an owner's approval.
pub const GATE_RECEIPT_KIND: &str = "gate";
/// The binding method that only a standing grant may carry.
pub const BOUNDED_GRANT_BINDING_METHOD: &str = "bounded_grant";
/// The grant expiry that stands for "no expiry of its own".
pub const UNLIMITED_GRANT_EXPIRY: &str = "unlimited";

/// Fields of an intent, in code point order.
pub const INTENT_FIELDS: [&str; 10] = [
    "args",
    "args_sha256",
    "context",
    "context_sha256",
    "idempotency_key",
    "intent_digest",
    "intent_id",
    "schema",
    "tool_name",
    "version",
];
/// Fields of an intent's envelope.
pub const INTENT_ENVELOPE_FIELDS: [&str; 3] = ["intent", "schema", "version"];
/// Fields of an intent's context.
pub const CONTEXT_FIELDS: [&str; 9] = [
    "api_request_id",
    "authority_lane",
    "contact_id",
    "platform",
    "sender_id",
    "session_id",
    "task_id",
    "tool_call_id",
    "turn_id",
];
/// Fields of an execution request.
pub const EXECUTION_REQUEST_FIELDS: [&str; 11] = [
    "action_digest",
    "action_id",
    "approval",
    "args",
    "args_sha256",
    "execution_digest",
    "intent_digest",
    "intent_id",
    "schema",
    "tool_name",
    "version",
];
/// Fields of the approval binding inside an execution request.
pub const APPROVAL_BINDING_FIELDS: [&str; 8] = [
    "approval_id",
    "authorization_receipt_sha256",
    "decided_at",
    "decision_id",
    "expires_at",
    "revision",
    "schema",
    "version",
];
/// Fields of an execution result.
pub const EXECUTION_RESULT_FIELDS: [&str; 13] = [
    "action_digest",
    "action_id",
    "effect",
    "effect_digest",
    "effect_state",
    "execution_digest",
    "intent_digest",
    "intent_id",
    "observed_at",
    "schema",
    "status",
    "tool_name",
    "version",
];
/// Fields of the effect inside an execution result.
pub const EFFECT_FIELDS: [&str; 5] = ["effect_id", "outcome", "schema", "verification", "version"];
/// Fields that every provenance shape of an owner gate has.
pub const GATE_COMMON_FIELDS: [&str; 10] = [
    "action_digest",
    "action_id",
    "approval_id",
    "authority",
    "decided_at_epoch",
    "decision",
    "decision_id",
    "expires_at_epoch",
    "principal",
    "revision",
];
/// Fields of the operator's dispatch admission.
pub const ADMISSION_FIELDS: [&str; 9] = [
    "authorization_id",
    "authorized",
    "binding_identity",
    "colony_origin",
    "created_at",
    "enabled_tools",
    "expires_at",
    "schema",
    "version",
];

/// Largest execution request an endpoint reads, in bytes as sent.
pub const EXECUTION_REQUEST_MAX_BYTES: usize = 32 * 1024;
/// Most values and member names in an execution request.
pub const EXECUTION_REQUEST_MAX_NODES: usize = 1024;
/// Deepest value in an execution request; the document itself is at depth 0.
pub const EXECUTION_REQUEST_MAX_DEPTH: usize = 16;
/// Longest string in an execution request, in code points.
pub const EXECUTION_REQUEST_STRING_MAX_CHARS: usize = 16_000;
/// Largest answer a host reads, in bytes.
pub const EXECUTION_RESULT_MAX_BYTES: usize = 16 * 1024;
/// Largest effect an endpoint records, in bytes.
pub const EFFECT_MAX_BYTES: usize = 8 * 1024;
/// Largest document that proposes or describes an action, in bytes. A host's
/// own bound: whatever is larger could not be executed.
pub const INTENT_MAX_BYTES: usize = 1024 * 1024;
/// Longest research topic, in code points.
pub const RESEARCH_TOPIC_MAX_CHARS: usize = 1400;
/// Longest identifier, in characters.
pub const IDENTIFIER_MAX_CHARS: usize = 256;
/// Longest decision id that an endpoint takes, in characters.
pub const DECISION_ID_MAX_CHARS: usize = 128;
/// Longest string of a context, in code points.
pub const CONTEXT_STRING_MAX_CHARS: usize = 512;
/// Longest string of a gate's evidence, in code points.
pub const GATE_STRING_MAX_CHARS: usize = 512;
/// Most values in a bounded JSON argument, the argument itself included.
pub const BOUNDED_JSON_MAX_NODES: usize = 512;
/// Deepest value in a bounded JSON argument; the argument itself is at depth 0.
pub const BOUNDED_JSON_MAX_DEPTH: usize = 8;
/// Longest string in a bounded JSON argument, in code points.
pub const BOUNDED_JSON_STRING_MAX_CHARS: usize = 4096;
/// Longest member name in a bounded JSON argument, in characters.
pub const BOUNDED_JSON_KEY_MAX_CHARS: usize = 128;
/// Largest magnitude of a bounded JSON integer, so that -2^63 is refused.
pub const BOUNDED_JSON_INTEGER_MAX: i64 = i64::MAX;
/// Most values in an effect's verification.
pub const VERIFICATION_MAX_NODES: usize = 256;
/// Deepest value in an effect's verification; the verification is at depth 0.
pub const VERIFICATION_MAX_DEPTH: usize = 6;
/// Longest string in an effect's verification, in code points.
pub const VERIFICATION_STRING_MAX_CHARS: usize = 2048;
/// Longest life of an approval inside an execution request, in seconds.
pub const APPROVAL_MAX_LIFETIME_SECONDS: f64 = 86_400.0;
/// How far ahead of the host's clock a decision or observation may be, in seconds.
pub const GATE_CLOCK_SKEW_SECONDS: f64 = 30.0;
/// Longest life of a dispatch admission, in seconds.
pub const ADMISSION_MAX_LIFETIME_SECONDS: f64 = 30.0 * 86_400.0;
/// Largest dispatch admission, in bytes.
pub const ADMISSION_MAX_BYTES: usize = 64 * 1024;
