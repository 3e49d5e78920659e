//! What kind of result an answer is, and results that 2026-07-28 accepts.

use countersign_canonical::Value;

use super::SERVER_INFO;
use crate::read;
use crate::write;

/// What a result says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// The request is done. A result that says nothing says this.
    Complete,
    /// Something is missing; the request is to be sent again.
    InputRequired,
    /// What no core protocol defines, and what is therefore invalid.
    Other,
}

impl ResultType {
    /// What a result says.
    #[must_use]
    pub fn of(result: &Value) -> Self {
        match result.get("resultType").map(Value::as_str) {
            None | Some(Some("complete")) => Self::Complete,
            Some(Some("input_required")) => Self::InputRequired,
            Some(_) => Self::Other,
        }
    }
}

/// A result of whichever version as 2026-07-28 wants it: with its type, with what has to be said about caching, and with its
/// server's name where there is one. Every other byte is as it was, and what is right already stays.
///
/// What comes from an earlier version is complete, whatever it says: a member of that name has no meaning there. Nothing is said
/// to be fresh for any time, and nothing to be for everybody.
#[must_use]
pub fn complete(method: &str, result: &str, server_info: Option<&str>) -> String {
    match read::value(result) {
        Some(value) => completed(method, result, &value, server_info),
        None => result.to_owned(),
    }
}

/// The same of a result whose meaning is known.
pub(crate) fn completed(
    method: &str,
    result: &str,
    value: &Value,
    server_info: Option<&str>,
) -> String {
    let mut text = result.to_owned();
    if let Some(info) = server_info {
        let meta = value.get("_meta");
        if meta.is_none_or(|meta| meta.get(SERVER_INFO).is_none()) {
            text = write::with_meta(&text, SERVER_INFO, info);
        }
    }
    if is_cacheable(method) {
        if !value.get("ttlMs").is_some_and(is_lifetime) {
            text = write::with_member(&text, "ttlMs", "0");
        }
        let scope = value.get("cacheScope").and_then(Value::as_str);
        if !matches!(scope, Some("public" | "private")) {
            text = write::with_member(&text, "cacheScope", "\"private\"");
        }
    }
    if value.get("resultType").and_then(Value::as_str) == Some("complete") {
        return text;
    }
    write::with_member(&text, "resultType", "\"complete\"")
}

/// A result of 2026-07-28 as clients of earlier versions can read it: without what they take for a mistake.
///
/// Since 2026-07-28 what a tool returns, and promises to, may be any JSON value (changelog, minor change 10). Before, it was an
/// object, and clients refuse a whole list of tools for one that is not: the promise or the value is left out, as a tool has to say
/// the same in its `content` (Tools, Structured Content). Every other byte is as it was.
#[must_use]
pub fn for_earlier_versions(method: &str, result: &str) -> String {
    match method {
        "tools/list" => write::within(result, "tools", |tools| {
            write::with_each_item(tools, |tool| {
                let value = read::value(tool);
                let schema = value.as_ref().and_then(|value| value.get("outputSchema"));
                let promises_object =
                    |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("object");
                if schema.is_none_or(promises_object) {
                    return tool.to_owned();
                }
                write::without_members(tool, &["outputSchema"])
            })
        }),
        "tools/call" => {
            let value = read::value(result);
            let content = value
                .as_ref()
                .and_then(|value| value.get("structuredContent"));
            if content.is_none_or(|content| content.as_object().is_some()) {
                return result.to_owned();
            }
            write::without_members(result, &["structuredContent"])
        }
        _ => result.to_owned(),
    }
}

fn is_lifetime(value: &Value) -> bool {
    value.as_i64().is_some_and(|lifetime| lifetime >= 0)
}

/// 2026-07-28, Caching, Cacheable Results; schema, `DiscoverResult`.
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "server/discover"
    )
}
