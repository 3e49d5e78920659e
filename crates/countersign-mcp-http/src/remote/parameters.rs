//! Arguments that a server wants to see in headers, too (2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters").

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use countersign_canonical::Value;
use countersign_mcp::{Kind, Message, RequestId};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::headers;

/// The member of a schema that names a header.
const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";
/// The most tools of a server whose annotations are remembered.
const MAX_TOOLS: usize = 4096;
/// The most annotations of one tool.
const MAX_PARAMETERS: usize = 32;
/// How deep in the arguments an annotated one may stand.
const MAX_DEPTH: usize = 16;

/// What a server's lists of tools said about headers, as they passed by.
///
/// A tool whose annotations break the rules has none here: its server refuses the call then, before it begins.
#[derive(Debug, Default)]
pub(super) struct Parameters(Mutex<BTreeMap<String, Vec<Parameter>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parameter {
    /// Where it stands in the arguments.
    path: Vec<String>,
    header: HeaderName,
}

impl Parameters {
    /// Reads a list of tools, if it is one.
    pub(super) fn learn(&self, answer: &[u8]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_annotated = answer
            .windows(ANNOTATION.len())
            .any(|window| window == ANNOTATION.as_bytes());
        if known.is_empty() && !is_annotated {
            return;
        }
        let Ok(answer) = Message::read(answer) else {
            return;
        };
        let tools = answer
            .result()
            .and_then(|result| result.value().get("tools"));
        for tool in tools.and_then(Value::as_array).unwrap_or_default() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else {
                continue;
            };
            let parameters = tool.get("inputSchema").and_then(parameters);
            match parameters.filter(|found| !found.is_empty()) {
                Some(found) if known.len() < MAX_TOOLS || known.contains_key(name) => {
                    known.insert(name.to_owned(), found);
                }
                Some(_) | None => {
                    known.remove(name);
                }
            }
        }
    }

    /// Adds the headers that a call has to have.
    pub(super) fn add(&self, message: &Message, headers: &mut HeaderMap) {
        if !matches!(message.kind(), Kind::Request { method, .. } if method == "tools/call") {
            return;
        }
        let Some(params) = message.params().map(|params| params.value()) else {
            return;
        };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tool = params.get("name").and_then(Value::as_str);
        let parameters = tool.and_then(|tool| known.get(tool));
        for Parameter { path, header } in parameters.into_iter().flatten() {
            let value = path
                .iter()
                .try_fold(params.get("arguments"), |value, name| {
                    value.map(|value| value.get(name))
                })
                .flatten();
            if let Some(value) = value.and_then(header_value) {
                headers.insert(header.clone(), value);
            }
        }
    }
}

fn header_value(value: &Value) -> Option<HeaderValue> {
    match value {
        Value::String(text) => headers::of_text(text).ok(),
        Value::Bool(true) => Some(HeaderValue::from_static("true")),
        Value::Bool(false) => Some(HeaderValue::from_static("false")),
        Value::Number(_) => {
            let digits = RequestId::from_value(value)?.to_json();
            headers::of_text(&digits).ok()
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The annotated parameters of a tool; nothing where an annotation breaks the rules. Only those that are reached by `properties`
/// alone are looked for.
fn parameters(schema: &Value) -> Option<Vec<Parameter>> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    Some(found)
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Parameter>) -> Option<()> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Some(());
    };
    if path.len() >= MAX_DEPTH {
        return Some(());
    }
    for (name, property) in properties.iter() {
        path.push(name.to_owned());
        if let Some(annotation) = property.get(ANNOTATION) {
            let name = format!("{PREFIX}{}", annotation.as_str()?);
            let header = HeaderName::from_bytes(name.as_bytes()).ok()?;
            let is_second = found.iter().any(|parameter| parameter.header == header);
            if is_second || header == PREFIX || found.len() >= MAX_PARAMETERS {
                return None;
            }
            found.push(Parameter {
                path: path.clone(),
                header,
            });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(properties: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"t","inputSchema":{{"type":"object","properties":{properties}}}}}]}}}}"#
        )
    }

    fn sent(parameters: &Parameters, arguments: &str) -> Vec<(String, String)> {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        );
        let mut headers = HeaderMap::new();
        parameters.add(&Message::read(text.as_bytes()).unwrap(), &mut headers);
        let mut headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        headers.sort();
        headers
    }

    #[test]
    fn annotated_arguments_go_into_headers() {
        let parameters = Parameters::default();
        let properties = r#"{"region":{"type":"string","x-mcp-header":"Region"},"n":{"x-mcp-header":"N"},
            "deep":{"properties":{"flag":{"x-mcp-header":"Flag"}},"items":{"x-mcp-header":"Never"}},"other":{}}"#;
        parameters.learn(list(properties).as_bytes());
        for (arguments, expected) in [
            (
                r#"{"region":"us-west1","n":-7,"deep":{"flag":false},"other":"x"}"#,
                &[
                    ("mcp-param-flag", "false"),
                    ("mcp-param-n", "-7"),
                    ("mcp-param-region", "us-west1"),
                ][..],
            ),
            (
                r#"{"region":" x","n":null}"#,
                &[("mcp-param-region", "=?base64?IHg=?=")],
            ),
            (r#"{"region":{},"n":1.5,"deep":[]}"#, &[]),
            ("{}", &[]),
        ] {
            let expected: Vec<_> = expected
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            assert_eq!(sent(&parameters, arguments), expected, "{arguments}");
        }
        parameters.learn(list("{}").as_bytes());
        assert_eq!(sent(&parameters, r#"{"region":"x"}"#), []);
    }

    #[test]
    fn annotations_that_break_the_rules_count_for_nothing() {
        for properties in [
            r#"{"a":{"x-mcp-header":""}}"#,
            r#"{"a":{"x-mcp-header":"a b"}}"#,
            r#"{"a":{"x-mcp-header":"a\r\nb: c"}}"#,
            r#"{"a":{"x-mcp-header":1}}"#,
            r#"{"a":{"x-mcp-header":"X"},"b":{"x-mcp-header":"x"}}"#,
        ] {
            let parameters = Parameters::default();
            parameters.learn(list(properties).as_bytes());
            assert_eq!(
                sent(&parameters, r#"{"a":"v","b":"w"}"#),
                [],
                "{properties}"
            );
        }
    }
}
