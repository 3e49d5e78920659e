//! Reading a JSON text that has been part of a message.

use countersign_canonical::{Value, parse};

use crate::message::MESSAGE_LIMITS;

/// What a JSON text means; nothing where it is none.
pub(crate) fn value(text: &str) -> Option<Value> {
    parse(text.as_bytes(), &MESSAGE_LIMITS).ok()
}
