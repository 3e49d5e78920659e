//! One JSON-RPC message, read strictly and kept as the bytes it came as.

use std::fmt;
use std::ops::Range;

use countersign_canonical::{ErrorClass, Limits, ParseError, Value, parse};

use crate::id::RequestId;
use crate::span::{self, Member};

/// Bounds of one message: what may be passed on, and room for what goes around it.
///
/// Arguments stand two levels deep in a message, and may be 128 deep themselves.
pub const MESSAGE_LIMITS: Limits = Limits {
    bytes: Limits::passthrough().bytes + ENVELOPE_BYTES,
    depth: Limits::passthrough().depth + 2,
    ..Limits::passthrough()
};

const ENVELOPE_BYTES: usize = 64 * 1024;
/// The members of a message (JSON-RPC 2.0, sections 4 and 5).
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// One message, with where its parts stand.
///
/// It holds the text as it came: what is passed on is cut out of it, never written anew.
#[derive(Clone)]
pub struct Message {
    text: String,
    value: Value,
    kind: Kind,
    members: Vec<Member>,
}

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody waits for an answer.
    Request {
        /// Under which id.
        id: RequestId,
        /// What is asked for.
        method: String,
    },
    /// Nobody waits for an answer.
    Notification {
        /// What it is about.
        method: String,
    },
    /// An answer with a result.
    Response {
        /// To which request.
        id: RequestId,
    },
    /// An answer with an error. It may have no id, where its sender could not read one.
    Error {
        /// To which request.
        id: Option<RequestId>,
    },
}

/// Why bytes are not a message. What they say is never repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// They are not strict JSON within the limits.
    #[error("the message is not strict JSON: {0}")]
    Json(#[source] ParseError),
    /// MCP has had no batches since 2025-06-18 (changelog, major change 1).
    #[error("batches are not served: send one message at a time")]
    Batch,
    /// It is no object.
    #[error("a message is a JSON object")]
    NotAnObject,
    /// It does not say which protocol it is of.
    #[error("the member \"jsonrpc\" has to be \"2.0\"")]
    Protocol,
    /// Its id is neither an integer nor a text.
    #[error("an id is an integer or a string, of at most 1024 bytes")]
    Id,
    /// Its method is no text.
    #[error("a method is a string")]
    Method,
    /// Its parameters are no object.
    #[error("the parameters are an object")]
    Parameters,
    /// A member would be one of the protocol's to whoever reads names without regard to case, as many programs do.
    #[error("the name of a member differs from one of the protocol's in case only")]
    Spelling,
    /// It is neither a request nor an answer, or both.
    #[error("a message has either a method, a result or an error")]
    Shape,
    /// A result that is no object, or an error without a code and a text.
    #[error("a result is an object, and an error has an integer code and a message")]
    Answer,
}

impl MessageError {
    /// The code of JSON-RPC for it (JSON-RPC 2.0, section 5.1).
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::Json(error) => match error.class() {
                ErrorClass::Parse | ErrorClass::Domain => -32700,
                ErrorClass::Depth | ErrorClass::Limit => -32600,
            },
            Self::Batch
            | Self::NotAnObject
            | Self::Protocol
            | Self::Id
            | Self::Method
            | Self::Spelling
            | Self::Shape
            | Self::Answer => -32600,
            Self::Parameters => -32602,
        }
    }
}

impl Message {
    /// Reads one message.
    pub fn read(bytes: &[u8]) -> Result<Self, MessageError> {
        let value = parse(bytes, &MESSAGE_LIMITS).map_err(MessageError::Json)?;
        let kind = match &value {
            Value::Object(_) => kind(&value)?,
            Value::Array(_) => return Err(MessageError::Batch),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(MessageError::NotAnObject);
            }
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let members = span::whole(&text).and_then(|all| span::members(&text, &all));
        Ok(Self {
            members: members.ok_or(MessageError::NotAnObject)?,
            text,
            value,
            kind,
        })
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The whole text, as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parameters of a request or notification.
    #[must_use]
    pub fn params(&self) -> Option<Part<'_>> {
        self.part("params")
    }

    /// The result of a response.
    #[must_use]
    pub fn result(&self) -> Option<Part<'_>> {
        self.part("result")
    }

    /// The error of an answer.
    #[must_use]
    pub fn error(&self) -> Option<Part<'_>> {
        self.part("error")
    }

    fn part(&self, name: &str) -> Option<Part<'_>> {
        let member = self.members.iter().find(|member| member.name == name)?;
        Some(Part {
            text: &self.text,
            range: member.value.clone(),
            value: self.value.get(name)?,
        })
    }
}

/// One value of a message: what it means, and the bytes that say so.
#[derive(Clone)]
pub struct Part<'m> {
    text: &'m str,
    range: Range<usize>,
    value: &'m Value,
}

impl<'m> Part<'m> {
    /// What it means.
    #[must_use]
    pub fn value(&self) -> &'m Value {
        self.value
    }

    /// The text that says so, byte for byte.
    #[must_use]
    pub fn text(&self) -> &'m str {
        self.text.get(self.range.clone()).unwrap_or_default()
    }

    /// A member of an object.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        Some(Self {
            text: self.text,
            range: span::member(self.text, &self.range, name)?,
            value: self.value.get(name)?,
        })
    }

    /// The members of an object, in the order in which they were written; nothing where it is none.
    #[must_use]
    pub fn members(&self) -> Option<Vec<(String, Self)>> {
        let members = span::members(self.text, &self.range)?;
        let part = |member: Member| {
            let part = Self {
                text: self.text,
                range: member.value,
                value: self.value.get(&member.name)?,
            };
            Some((member.name, part))
        };
        members.into_iter().map(part).collect()
    }

    /// The items of an array; nothing where it is none.
    #[must_use]
    pub fn items(&self) -> Option<Vec<Self>> {
        let values = self.value.as_array()?;
        let ranges = span::items(self.text, &self.range)?;
        let items = ranges.into_iter().zip(values);
        let part = |(range, value)| Self {
            text: self.text,
            range,
            value,
        };
        Some(items.map(part).collect())
    }

    /// Where it stands in the message.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

fn kind(value: &Value) -> Result<Kind, MessageError> {
    if misspells(value, &MEMBERS) {
        return Err(MessageError::Spelling);
    }
    if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(MessageError::Protocol);
    }
    let id = match value.get("id") {
        None => None,
        // An error without a readable request has a null id in JSON-RPC, and none in MCP.
        Some(Value::Null) if value.get("error").is_some() => None,
        Some(id) => Some(RequestId::from_value(id).ok_or(MessageError::Id)?),
    };
    match (value.get("method"), value.get("result"), value.get("error")) {
        (Some(method), None, None) => {
            let method = method.as_str().ok_or(MessageError::Method)?.to_owned();
            if value
                .get("params")
                .is_some_and(|params| params.as_object().is_none())
            {
                return Err(MessageError::Parameters);
            }
            Ok(match id {
                Some(id) => Kind::Request { id, method },
                None => Kind::Notification { method },
            })
        }
        (None, Some(Value::Object(_)), None) => {
            let id = id.ok_or(MessageError::Id)?;
            Ok(Kind::Response { id })
        }
        (None, None, Some(error)) if is_error(error) => Ok(Kind::Error { id }),
        (None, Some(_), None) | (None, None, Some(_)) => Err(MessageError::Answer),
        (None, None, None)
        | (Some(_), Some(_), _)
        | (_, Some(_), Some(_))
        | (Some(_), _, Some(_)) => Err(MessageError::Shape),
    }
}

/// Whether an object has a member that is one of these but for the case of its letters.
///
/// Programs that read names without regard to case (Go's `encoding/json`, .NET's web defaults) take such a member for that one, so
/// that they would read something else than what was judged here.
#[must_use]
pub fn misspells(value: &Value, names: &[&str]) -> bool {
    let is_like = |name: &str| {
        let is_spelt = names.contains(&name);
        !is_spelt && names.iter().any(|known| folded(known) == folded(name))
    };
    let object = value.as_object();
    object.is_some_and(|object| object.iter().any(|(name, _)| is_like(name)))
}

/// A text without regard to case. Letters that have only their upper case in common with another one are that one, as `ſ` is `s`.
pub(crate) fn folded(text: &str) -> String {
    let upper = text.chars().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

fn is_error(error: &Value) -> bool {
    let code = error.get("code").and_then(Value::as_number);
    let message = error.get("message").and_then(Value::as_str);
    code.is_some_and(countersign_canonical::Number::is_integer) && message.is_some()
}

/// A message may hold anything: only its kind is shown.
impl fmt::Debug for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Message")
            .field("kind", &self.kind)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Part")
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}
