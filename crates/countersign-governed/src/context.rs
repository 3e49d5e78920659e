//! The circumstances of a proposed call. They identify; they give no authority.

use countersign_canonical::{Ascii, Digest, Value, digest, digest_with};

use crate::contract::{CALL_IDENTITY_SCHEMA, CONTEXT_FIELDS, CONTEXT_STRING_MAX_CHARS};
use crate::fault::Report;
use crate::place::Path;
use crate::scalars::{Fields, bounded_text};

/// A field of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContextField {
    /// The provider request that carried the call.
    ApiRequestId,
    /// The lane that the host assigned.
    AuthorityLane,
    /// The contact that the conversation is with.
    ContactId,
    /// The platform of the conversation.
    Platform,
    /// Who wrote the message.
    SenderId,
    /// The session.
    SessionId,
    /// The task.
    TaskId,
    /// The provider's call id.
    ToolCallId,
    /// The turn.
    TurnId,
}

impl ContextField {
    /// Names the field on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiRequestId => "api_request_id",
            Self::AuthorityLane => "authority_lane",
            Self::ContactId => "contact_id",
            Self::Platform => "platform",
            Self::SenderId => "sender_id",
            Self::SessionId => "session_id",
            Self::TaskId => "task_id",
            Self::ToolCallId => "tool_call_id",
            Self::TurnId => "turn_id",
        }
    }
}

/// The nine circumstances of a call, each a text of at most 512 code points.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    // INVARIANT: an object of exactly the context's fields, all of them bounded text.
    value: Value,
}

impl Context {
    /// Shows a circumstance; it may be empty.
    pub fn text(&self, field: ContextField) -> &str {
        self.value
            .get(field.name())
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Shows the context as a JSON object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Hashes the context: `context_sha256`.
    pub fn sha256(&self) -> Digest<Ascii> {
        digest::<Ascii>(&self.value)
    }

    /// Hashes the identity of a call of this tool: `idempotency_key`.
    pub fn idempotency_key(&self, tool_name: &str) -> Digest<Ascii> {
        digest_with::<Ascii>(|encoder| {
            encoder
                .begin_object()
                .key("api_request_id")
                .string(self.text(ContextField::ApiRequestId))
                .key("schema")
                .string(CALL_IDENTITY_SCHEMA)
                .key("session_id")
                .string(self.text(ContextField::SessionId))
                .key("task_id")
                .string(self.text(ContextField::TaskId))
                .key("tool_call_id")
                .string(self.text(ContextField::ToolCallId))
                .key("tool_name")
                .string(tool_name)
                .key("turn_id")
                .string(self.text(ContextField::TurnId))
                .end_object();
        })
    }

    pub(crate) fn check(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Self> {
        let before = report.len();
        let fields = Fields::exact(value, &CONTEXT_FIELDS, path, report)?;
        for field in CONTEXT_FIELDS {
            fields.read(field, path, report, |value| {
                bounded_text(value, CONTEXT_STRING_MAX_CHARS, true)
            });
        }
        (report.len() == before).then(|| Self {
            value: value.clone(),
        })
    }
}
