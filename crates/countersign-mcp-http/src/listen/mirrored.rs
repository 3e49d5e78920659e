//! What headers of a request that stands alone repeat of its body (2026-07-28, Streamable HTTP, Request Metadata).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_canonical::Value;
use countersign_mcp::stateless::{self, MirroredParameter, header_mismatch, unsupported_version};
use countersign_mcp::{Kind, Message, RequestId, Version};
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName};

use super::headers::{METHOD, NAME, PROTOCOL_VERSION, single};
use super::reply::{self, INVALID_PARAMS, Reply};

/// What a client is told whose requests stand alone and are of another version: what can be asked for like that, as
/// `server/discover` says it too.
const SUPPORTED: [Version; 1] = [Version::V2026_07_28];

/// The version that a message says it is of.
pub(super) fn body_version(message: &Message) -> Option<&str> {
    meta(message)?.get(stateless::PROTOCOL_VERSION)?.as_str()
}

/// Compares the headers with the message: whoever stands between may have looked at them only.
pub(super) fn check(headers: &HeaderMap, message: &Message) -> Result<(), Box<Reply>> {
    let id = match message.kind() {
        Kind::Request { id, .. } => Some(id),
        Kind::Notification { .. } => None,
        Kind::Response { .. } | Kind::Error { .. } => {
            let text = "since 2026-07-28 a client sends no answers";
            return Err(Box::new(reply::refused(StatusCode::BAD_REQUEST, text)));
        }
    };
    let version = header(headers, &PROTOCOL_VERSION, id)?;
    // Notifications have no members that say more.
    let Kind::Request { method, .. } = message.kind() else {
        return is_served(version, id);
    };
    let params =
        "the parameters have to say the protocol version and the client's capabilities in _meta";
    let of_body = body_version(message).ok_or_else(|| error(id, INVALID_PARAMS, params))?;
    if version != of_body {
        return Err(mismatch(
            id,
            "MCP-Protocol-Version differs from the message",
        ));
    }
    is_served(version, id)?;
    let capabilities =
        meta(message).and_then(|meta| meta.get(stateless::CLIENT_CAPABILITIES)?.as_object());
    capabilities.ok_or_else(|| error(id, INVALID_PARAMS, params))?;
    if header(headers, &METHOD, id)? != method {
        return Err(mismatch(id, "Mcp-Method differs from the message"));
    }
    let source = match method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let name = message
        .params()
        .and_then(|params| params.value().get(source)?.as_str());
    if decoded(header(headers, &NAME, id)?).as_deref() == name && name.is_some() {
        Ok(())
    } else {
        Err(mismatch(id, "Mcp-Name differs from the message"))
    }
}

/// Compares what headers say of a call's arguments with the arguments.
pub(super) fn check_arguments(
    headers: &HeaderMap,
    id: &RequestId,
    arguments: Vec<(HeaderName, Option<Value>)>,
) -> Result<(), Box<Reply>> {
    for (name, argument) in arguments {
        let is_there = headers.contains_key(&name);
        let said = single(headers, &name).and_then(decoded);
        let is_right = match &argument {
            None => !is_there,
            Some(argument) => match MirroredParameter::text(argument) {
                Some(text) => said == Some(text),
                // No header can say it: whether it may be is the server's to judge.
                None => true,
            },
        };
        if !is_right {
            let text = format!("{name} is missing, or differs from the argument that it repeats");
            return Err(mismatch(Some(id), &text));
        }
    }
    Ok(())
}

fn meta(message: &Message) -> Option<&Value> {
    message.params()?.value().get("_meta")
}

fn header<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    id: Option<&RequestId>,
) -> Result<&'h str, Box<Reply>> {
    single(headers, name).ok_or_else(|| {
        let text = format!("{name} is missing, or no plain text");
        mismatch(id, &text)
    })
}

/// A value that a header carries as it is, or in Base64 where it is no plain text; nothing where that is broken.
fn decoded(value: &str) -> Option<String> {
    let encoded = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

fn is_served(version: &str, id: Option<&RequestId>) -> Result<(), Box<Reply>> {
    if version == Version::V2026_07_28.as_str() {
        return Ok(());
    }
    let text = unsupported_version(id, version, &SUPPORTED);
    Err(Box::new(reply::json(StatusCode::BAD_REQUEST, text)))
}

fn mismatch(id: Option<&RequestId>, text: &str) -> Box<Reply> {
    let text = header_mismatch(id, text);
    Box::new(reply::json(StatusCode::BAD_REQUEST, text))
}

fn error(id: Option<&RequestId>, code: i32, text: &str) -> Box<Reply> {
    Box::new(reply::error(StatusCode::BAD_REQUEST, id, code, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_they_were_meant() {
        for (value, name) in [
            ("us-west1", Some("us-west1")),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", Some("Hello, 世界")),
            ("=?base64?IHBhZGRlZCA=?=", Some(" padded ")),
            (
                "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
                Some("=?base64?literal?="),
            ),
            ("=?BASE64?eA==?=", Some("=?BASE64?eA==?=")),
            ("=?base64?x?=", None),
            ("=?base64?/w==?=", None),
        ] {
            assert_eq!(decoded(value).as_deref(), name, "{value}");
        }
    }
}
