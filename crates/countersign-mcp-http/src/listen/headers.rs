//! What headers say.

use hyper::header::{ACCEPT, AsHeaderName, CONTENT_TYPE, HeaderMap, HeaderName};

/// The session that a request belongs to.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The version that a request is of.
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// A request's method (2026-07-28).
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What a request is about (2026-07-28).
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The last event that a client has seen of a stream that broke.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(super) const JSON: &str = "application/json";
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// A header that stands there once and is plain text.
pub(super) fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    value.to_str().ok().filter(|_| values.next().is_none())
}

/// Whether a client takes a media type.
pub(super) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    let mut ranges = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    ranges.any(|range| covers(essence(range), media_type))
}

fn covers(range: &str, media_type: &str) -> bool {
    let (kind, _) = media_type.split_once('/').unwrap_or((media_type, ""));
    match range.strip_suffix("/*") {
        Some("*") => true,
        Some(any) => any.eq_ignore_ascii_case(kind),
        None => range.eq_ignore_ascii_case(media_type),
    }
}

/// Whether a body says that it is JSON. A page cannot send that to another origin without asking first.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    single(headers, &CONTENT_TYPE).is_some_and(|value| essence(value).eq_ignore_ascii_case(JSON))
}

/// A media type without its parameters.
fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn media_types_are_read_as_they_may_be_written() {
        for (value, json, stream) in [
            ("application/json, text/event-stream", true, true),
            ("text/event-stream;q=0.5 ,APPLICATION/JSON", true, true),
            ("*/*", true, true),
            ("application/*", true, false),
            ("application/json", true, false),
            ("text/html", false, false),
            ("", false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(value));
            assert_eq!(accepts(&headers, JSON), json, "{value}");
            assert_eq!(accepts(&headers, EVENT_STREAM), stream, "{value}");
        }
        for (value, json) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/json-patch+json", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
            assert_eq!(is_json(&headers), json, "{value}");
        }
    }
}
