//! The errors that are new in 2026-07-28 (schema, `HeaderMismatchError` and its neighbours).

use crate::id::{RequestId, json_text};
use crate::version::Version;
use crate::write;

/// Headers say something else than the message, or are missing.
pub const HEADER_MISMATCH: i32 = -32020;
/// The client has not declared a capability that its request needs.
pub const MISSING_CAPABILITY: i32 = -32021;
/// The request is of a version that is not served.
pub const UNSUPPORTED_VERSION: i32 = -32022;

/// The longest version of a stranger that is repeated, in bytes.
const MAX_REQUESTED_BYTES: usize = 32;

/// The answer to a request of a version that is not served. Over HTTP its status is 400.
///
/// `data.requested` is required; what does not look like a version is left empty there.
#[must_use]
pub fn unsupported_version(
    id: Option<&RequestId>,
    requested: &str,
    supported: &[Version],
) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_shown = requested.len() <= MAX_REQUESTED_BYTES && requested.bytes().all(is_plain);
    let data = format!(
        "{{\"supported\":{},\"requested\":{}}}",
        names(supported),
        json_text(if is_shown { requested } else { "" })
    );
    write::error_with_data(
        id,
        UNSUPPORTED_VERSION,
        "unsupported protocol version",
        &data,
    )
}

/// The answer to a request that needs a capability that its sender has not declared. `capabilities` is a JSON object. Over HTTP
/// its status is 400.
#[must_use]
pub fn missing_capability(id: Option<&RequestId>, capabilities: &str) -> String {
    let data = format!("{{\"requiredCapabilities\":{capabilities}}}");
    let text = "the request needs a capability that its client has not declared";
    write::error_with_data(id, MISSING_CAPABILITY, text, &data)
}

/// The answer to a request whose headers differ from what it says itself. Over HTTP its status is 400.
#[must_use]
pub fn header_mismatch(id: Option<&RequestId>, text: &str) -> String {
    write::error(id, HEADER_MISMATCH, text)
}

/// Versions as a JSON array.
pub(super) fn names(versions: &[Version]) -> String {
    let names: Vec<_> = versions
        .iter()
        .map(|version| json_text(version.as_str()))
        .collect();
    format!("[{}]", names.join(","))
}
