//! What a request for a page is answered with.

use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

/// An answer, whole.
pub(super) type Answer = Response<String>;

/// Nothing is loaded, run, sent or embedded: styles that stand in the page itself are all there is.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) fn page(html: String) -> Answer {
    let mut answer = with(StatusCode::OK, html);
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, html);
    answer
}

pub(super) fn refused(status: StatusCode, text: &str) -> Answer {
    let mut answer = with(status, format!("{text}\n"));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}

pub(super) fn not_allowed() -> Answer {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let mut answer = refused(status, "pages are read only");
    let allowed = HeaderValue::from_static("GET, HEAD");
    answer.headers_mut().insert(ALLOW, allowed);
    answer
}

fn with(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (RESOURCE_POLICY, "same-origin"),
    ] {
        let value = HeaderValue::from_static(value);
        answer.headers_mut().insert(name, value);
    }
    answer
}
