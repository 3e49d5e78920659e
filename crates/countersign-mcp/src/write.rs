//! Writing messages: our own ones, and others' with only our members changed.

use std::ops::Range;

use crate::id::{RequestId, json_text};
use crate::span;
use crate::version::Version;

/// JSON-RPC 2.0, section 5.1: the parameters are not what they have to be.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The message is no request that can be served here.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// It failed for a reason of our own.
pub(crate) const INTERNAL_ERROR: i32 = -32603;

/// A request. The parameters are a JSON object.
#[must_use]
pub fn request(id: &RequestId, method: &str, params: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{},\"params\":{params}}}",
        id.to_json(),
        json_text(method)
    )
}

/// A notification. The parameters are a JSON object.
#[must_use]
pub fn notification(method: &str, params: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":{},\"params\":{params}}}",
        json_text(method)
    )
}

/// An answer with a result, which is a JSON object.
#[must_use]
pub fn result(id: &RequestId, result: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
        id.to_json()
    )
}

/// An answer with an error that somebody else wrote.
#[must_use]
pub fn error_as_given(id: &RequestId, error: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}",
        id.to_json()
    )
}

/// An answer with an error of our own. Where no id could be read it is null, as in JSON-RPC 2.0, section 5.
#[must_use]
pub fn error(id: Option<&RequestId>, code: i32, message: &str) -> String {
    let id = id.map_or_else(|| "null".to_owned(), RequestId::to_json);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}",
        json_text(message)
    )
}

/// An answer with an error of our own, and with data, which is a JSON text.
#[must_use]
pub fn error_with_data(id: Option<&RequestId>, code: i32, message: &str, data: &str) -> String {
    let text = error(id, code, message);
    let end = text.len().saturating_sub(2);
    let with_data = spliced(&text, end..end, &format!(",\"data\":{data}"));
    with_data.unwrap_or(text)
}

/// The parameters of a call that is made of exactly what was approved: a tool's name, and arguments as they were given.
#[must_use]
pub fn call_params(tool: &str, arguments: Option<&str>) -> String {
    match arguments {
        Some(arguments) => format!("{{\"name\":{},\"arguments\":{arguments}}}", json_text(tool)),
        None => format!("{{\"name\":{}}}", json_text(tool)),
    }
}

/// A tool's result that is an error with a text, and nothing else.
#[must_use]
pub fn error_result(text: &str) -> String {
    format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}",
        json_text(text)
    )
}

/// Sets one member of an object's `_meta`, and leaves every other byte as it is.
///
/// A `_meta` that is no object, as some write null for none, gives way to ours. `value` is a JSON text.
#[must_use]
pub fn with_meta(object: &str, key: &str, value: &str) -> String {
    edited(object, key, value).unwrap_or_else(|| object.to_owned())
}

/// Sets one member of an object, and leaves every other byte as it is. `value` is a JSON text.
#[must_use]
pub fn with_member(object: &str, name: &str, value: &str) -> String {
    let set = || {
        let all = span::whole(object)?;
        match span::member(object, &all, name) {
            Some(held) => spliced(object, held, value),
            None => inserted(object, &all, &format!("{}:{value}", json_text(name))),
        }
    };
    set().unwrap_or_else(|| object.to_owned())
}

/// Takes members out of an object, and leaves every byte of the others as it is.
#[must_use]
pub fn without_members(object: &str, names: &[&str]) -> String {
    let taken_out = || {
        let all = span::whole(object)?;
        let members = span::members(object, &all)?;
        let count = members.len();
        let is_kept = |name: &str| !names.contains(&name);
        let kept: Option<Vec<_>> = members
            .iter()
            .filter(|member| is_kept(&member.name))
            .map(|member| object.get(member.start..member.value.end))
            .collect();
        let kept = kept?;
        // Where nothing goes, the white space stays too.
        (kept.len() < count).then(|| format!("{{{}}}", kept.join(",")))
    };
    taken_out().unwrap_or_else(|| object.to_owned())
}

/// Takes members out of an object's `_meta`.
#[must_use]
pub fn without_meta(object: &str, keys: &[&str]) -> String {
    within(object, "_meta", |meta| without_members(meta, keys))
}

/// Edits one member of an object, where it is there.
pub(crate) fn within(object: &str, name: &str, edit: impl FnOnce(&str) -> String) -> String {
    let edited = || {
        let all = span::whole(object)?;
        let held = span::member(object, &all, name)?;
        let after = edit(object.get(held.clone())?);
        spliced(object, held, &after)
    };
    edited().unwrap_or_else(|| object.to_owned())
}

/// Edits each item of an array, and leaves every byte between them as it is.
pub(crate) fn with_each_item(array: &str, mut edit: impl FnMut(&str) -> String) -> String {
    let mut edited = || {
        let all = span::whole(array)?;
        let mut text = String::with_capacity(array.len());
        let mut end = 0;
        for item in span::items(array, &all)? {
            text.push_str(array.get(end..item.start)?);
            text.push_str(&edit(array.get(item.clone())?));
            end = item.end;
        }
        text.push_str(array.get(end..)?);
        Some(text)
    };
    edited().unwrap_or_else(|| array.to_owned())
}

/// The result of `initialize` with another version, for a client that asked for one that the server does not speak itself.
#[must_use]
pub fn with_protocol_version(result: &str, version: Version) -> String {
    with_member(result, "protocolVersion", &json_text(version.as_str()))
}

fn edited(object: &str, key: &str, value: &str) -> Option<String> {
    let all = span::whole(object)?;
    let own = format!("{{{}:{value}}}", json_text(key));
    let Some(meta) = span::member(object, &all, "_meta") else {
        return inserted(object, &all, &format!("\"_meta\":{own}"));
    };
    if span::members(object, &meta).is_none() {
        return spliced(object, meta, &own);
    }
    match span::member(object, &meta, key) {
        Some(held) => spliced(object, held, value),
        None => inserted(object, &meta, &format!("{}:{value}", json_text(key))),
    }
}

/// Puts a member in front of the others.
fn inserted(text: &str, object: &Range<usize>, member: &str) -> Option<String> {
    let is_first = span::members(text, object)?.is_empty();
    let behind_brace = object.start + 1;
    let comma = if is_first { "" } else { "," };
    spliced(
        text,
        behind_brace..behind_brace,
        &format!("{member}{comma}"),
    )
}

fn spliced(text: &str, range: Range<usize>, with: &str) -> Option<String> {
    let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    Some(format!("{before}{with}{after}"))
}

/// Takes items out of the array that stands at `array`, and leaves every byte of the others as it is. `keeps` is asked for each
/// item's position and text.
#[must_use]
pub fn with_items(
    text: &str,
    array: &Range<usize>,
    mut keeps: impl FnMut(usize, &str) -> bool,
) -> Option<String> {
    let items = span::items(text, array)?;
    let mut kept = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let item = text.get(item)?;
        if keeps(index, item) {
            kept.push(item);
        }
    }
    spliced(text, array.clone(), &format!("[{}]", kept.join(",")))
}

/// The text that stands under a path of members; nothing where there is none.
#[must_use]
pub fn value_at<'t>(text: &'t str, path: &[&str]) -> Option<&'t str> {
    text.get(span::at(text, path)?)
}

/// Puts another value in the place of what stands under a path of members, and leaves every other byte as it is. Nothing where
/// nothing stands there. `value` is a JSON text.
#[must_use]
pub fn with_value_at(text: &str, path: &[&str], value: &str) -> Option<String> {
    spliced(text, span::at(text, path)?, value)
}

/// The same message on one line, for transports that end a message with a line.
///
/// Line breaks stand between the tokens of a JSON text only, so that blanks mean the same.
#[must_use]
pub fn on_one_line(text: String) -> String {
    if text.contains(['\n', '\r']) {
        text.replace(['\n', '\r'], " ")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_member_is_written() {
        let ours = "countersign.example/outcome";
        for (before, after) in [
            ("{}", r#"{"_meta":{"countersign.example/outcome":1}}"#),
            (
                r#"{ "big" : 123456789012345678901 }"#,
                r#"{"_meta":{"countersign.example/outcome":1}, "big" : 123456789012345678901 }"#,
            ),
            (
                r#"{"a":1.0,"_meta":{ "x":[1 ,2]},"b":"\u0000"}"#,
                r#"{"a":1.0,"_meta":{"countersign.example/outcome":1, "x":[1 ,2]},"b":"\u0000"}"#,
            ),
            (
                r#"{"_me\u0074a":{}}"#,
                r#"{"_me\u0074a":{"countersign.example/outcome":1}}"#,
            ),
            (
                r#"{"_meta":{"countersign.example/outcome":{"forged":true} ,"y":0}}"#,
                r#"{"_meta":{"countersign.example/outcome":1 ,"y":0}}"#,
            ),
            (
                r#"{"a":1 ,"_meta": null}"#,
                r#"{"a":1 ,"_meta": {"countersign.example/outcome":1}}"#,
            ),
            (
                r#"{"_meta":[]}"#,
                r#"{"_meta":{"countersign.example/outcome":1}}"#,
            ),
        ] {
            assert_eq!(with_meta(before, ours, "1"), after, "{before}");
        }
    }

    #[test]
    fn items_are_taken_out_whole() {
        let text = r#"{"tools":[ {"n":1} , {"n":2,"x":[",]"]},{"n":3} ],"nextCursor":"c"}"#;
        let array = span::member(text, &(0..text.len()), "tools").unwrap();
        let kept = with_items(text, &array, |index, _| index != 1).unwrap();
        assert_eq!(kept, r#"{"tools":[{"n":1},{"n":3}],"nextCursor":"c"}"#);
        let none = with_items(text, &array, |_, _| false).unwrap();
        assert_eq!(none, r#"{"tools":[],"nextCursor":"c"}"#);
    }

    #[test]
    fn a_value_is_replaced_where_it_stands_and_nowhere_else() {
        let text = r#"{ "params" : {"id":1,"_meta":{"progressToken" : "a\"b" }},"\u0069d": 7 }"#;
        let token = ["params", "_meta", "progressToken"];
        assert_eq!(value_at(text, &["id"]), Some("7"));
        assert_eq!(value_at(text, &token), Some(r#""a\"b""#));
        assert_eq!(
            with_value_at(text, &["id"], "\"x\"").as_deref(),
            Some(r#"{ "params" : {"id":1,"_meta":{"progressToken" : "a\"b" }},"\u0069d": "x" }"#)
        );
        assert_eq!(
            with_value_at(text, &token, "2").as_deref(),
            Some(r#"{ "params" : {"id":1,"_meta":{"progressToken" : 2 }},"\u0069d": 7 }"#)
        );
        for absent in [
            &["result"][..],
            &["id", "x"],
            &["params", "_meta", "x"],
            &["params", "id", "x"],
        ] {
            assert_eq!(value_at(text, absent), None, "{absent:?}");
            assert_eq!(with_value_at(text, absent, "0"), None, "{absent:?}");
        }
    }

    #[test]
    fn a_message_of_several_lines_means_the_same_on_one() {
        let text = "{\"a\":\n[1,\r\n2]}".to_owned();
        assert_eq!(on_one_line(text), "{\"a\": [1,  2]}");
    }
}
