//! A proposed tool call, bound to the host's correlation data.

use countersign_canonical::{DomainError, InDomain, Value};

use crate::attachment::Attachment;
use crate::discard::discard;
use crate::identifier::{CallId, IdempotencyKey, OperationId, ResponseId, ToolName};
use crate::profile::Profile;

/// The arguments a model proposed: any JSON value in the digestible domain, usually an object.
///
/// Checked one level deeper than they stand, since a digest wraps them in an object. So whatever holds
/// `Arguments` has a request digest.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    value: Value,
    attachment: Option<Attachment>,
}

impl Arguments {
    /// Takes the value when it can be digested. It may be of any size and depth.
    pub fn new(value: Value) -> Result<Self, DomainError> {
        match InDomain::check_at(&value, 1) {
            Ok(_) => Ok(Self {
                value,
                attachment: None,
            }),
            Err(error) => {
                discard(value);
                Err(error)
            }
        }
    }

    /// Arguments that are passed on as they came: `{bytes, content_sha256}` stands for them.
    #[must_use]
    pub fn attached(attachment: Attachment) -> Self {
        // A number of bytes and a digest are in the domain.
        Self {
            value: Value::from(attachment.content().members()),
            attachment: Some(attachment),
        }
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What the value stands for, where it stands for something.
    #[must_use]
    pub fn attachment(&self) -> Option<&Attachment> {
        self.attachment.as_ref()
    }

    /// The named argument, when the arguments are an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.value.as_object()?.get(name)
    }
}

/// One tool call: what the model proposed, and under which identities the host received it.
///
/// Only `name` and `arguments` come from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The protocol it came through.
    pub profile: Profile,
    /// The provider response that carried it.
    pub response_id: ResponseId,
    /// Its id within the response.
    pub call_id: CallId,
    /// The host's operation.
    pub operation_id: OperationId,
    /// The key under which a write acts at most once.
    pub idempotency_key: Option<IdempotencyKey>,
    /// The tool.
    pub name: ToolName,
    /// The arguments.
    pub arguments: Arguments,
}
