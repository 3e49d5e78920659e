//! The headers that say again what a message says (2026-07-28, Streamable HTTP, "Request Metadata").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_canonical::Value;
use countersign_mcp::stateless::MirroredParameter;
use countersign_mcp::{Kind, Message};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The longest name of a tool, or address of a resource, that goes into a header. Servers take no long ones.
const MAX_NAME_BYTES: usize = 4096;
/// The longest version that is passed on. All that exist have ten characters.
const MAX_VERSION_BYTES: usize = 64;

/// Why a message cannot go out by HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotForHeaders;

/// The headers of a message that stands alone; nothing for one that belongs to a session.
///
/// A message stands alone if it says itself which version it is of: older ones have no such member.
pub(super) fn of_its_own(message: &Message) -> Result<Option<HeaderMap>, NotForHeaders> {
    let (Kind::Request { method, .. } | Kind::Notification { method }) = message.kind() else {
        return Ok(None);
    };
    let params = message.params().map(|params| params.value());
    let version = params
        .and_then(|params| params.get("_meta")?.get(META_VERSION))
        .and_then(Value::as_str);
    let Some(version) = version else {
        return Ok(None);
    };
    let mut headers = HeaderMap::new();
    headers.insert(PROTOCOL_VERSION, of_version(version).ok_or(NotForHeaders)?);
    headers.insert(METHOD, of_text(method)?);
    let name = match method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(Some(headers)),
    };
    if let Some(name) = params.and_then(|params| params.get(name)?.as_str()) {
        headers.insert(NAME, of_text(name)?);
    }
    Ok(Some(headers))
}

/// Adds what headers have to say of a call's arguments. What none can say, its server has to refuse.
pub(super) fn add_arguments(arguments: Vec<(HeaderName, Option<Value>)>, headers: &mut HeaderMap) {
    for (name, argument) in arguments {
        let text = argument.as_ref().and_then(MirroredParameter::text);
        if let Some(value) = text.and_then(|text| of_text(&text).ok()) {
            headers.insert(name, value);
        }
    }
}

/// A version as a header's value, as it was named.
pub(super) fn of_version(version: &str) -> Option<HeaderValue> {
    let is_plain = version.bytes().all(|byte| byte.is_ascii_graphic());
    if version.is_empty() || version.len() > MAX_VERSION_BYTES || !is_plain {
        return None;
    }
    HeaderValue::from_str(version).ok()
}

/// A text as a header's value ("Value Encoding").
pub(super) fn of_text(text: &str) -> Result<HeaderValue, NotForHeaders> {
    if text.len() > MAX_NAME_BYTES {
        return Err(NotForHeaders);
    }
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    let value = if is_plain && !is_padded && !looks_encoded {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text)))
    };
    value.map_err(|_| NotForHeaders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(text: &str) -> Result<Option<HeaderMap>, NotForHeaders> {
        of_its_own(&Message::read(text.as_bytes()).unwrap())
    }

    #[test]
    fn texts_are_encoded_as_the_specification_shows() {
        for (text, expected) in [
            ("us-west1", "us-west1"),
            ("a b\tc", "=?base64?YSBiCWM=?="),
            ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?open", "=?base64?open"),
            ("", ""),
        ] {
            assert_eq!(of_text(text).unwrap(), expected, "{text:?}");
        }
        assert!(of_text(&"x".repeat(MAX_NAME_BYTES + 1)).is_err());
    }

    #[test]
    fn arguments_go_out_as_their_headers_say_them() {
        let name = HeaderName::from_static("mcp-param-a");
        for (argument, expected) in [
            (Some(Value::from(" x")), Some("=?base64?IHg=?=")),
            (Some(Value::from(-7_i64)), Some("-7")),
            (Some(Value::from(true)), Some("true")),
            (Some(Value::Array(Vec::new())), None),
            (None, None),
        ] {
            let mut headers = HeaderMap::new();
            add_arguments(vec![(name.clone(), argument)], &mut headers);
            let said = headers.get(&name).map(|value| value.to_str().unwrap());
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn a_message_stands_alone_if_it_says_its_version() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        for (method, params, name) in [
            ("tools/call", r#""name":"t","uri":"u","#, Some("t")),
            ("prompts/get", r#""name":"p","#, Some("p")),
            (
                "resources/read",
                r#""name":"n","uri":"file:///x","#,
                Some("file:///x"),
            ),
            ("tools/list", r#""name":"n","#, None),
            ("tools/call", r#""name":7,"#, None),
        ] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{meta}}}}}"#
            );
            let headers = headers(&text).unwrap().unwrap();
            assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
            assert_eq!(headers["mcp-method"], method);
            let found = headers.get("mcp-name").map(|name| name.to_str().unwrap());
            assert_eq!(found, name, "{method}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{}}}"#,
        ] {
            assert_eq!(headers(text), Ok(None));
        }
        let split = r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"a\r\nb"}}}"#;
        assert_eq!(headers(split), Err(NotForHeaders));
    }
}
