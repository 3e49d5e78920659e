//! Which arguments of a server's tools headers repeat, as its lists of tools said when they passed by.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use countersign_canonical::Value;
use countersign_mcp::stateless::{MIRRORED, MirroredParameter};
use countersign_mcp::{Kind, Message};
use hyper::header::HeaderName;

const PREFIX: &str = "mcp-param-";
/// The most tools of a server whose annotations are remembered.
const MAX_TOOLS: usize = 4096;

/// The annotations of all tools that have any. A tool whose annotations break the rules has none here.
#[derive(Debug, Default)]
pub(crate) struct Parameters(Mutex<BTreeMap<String, Vec<MirroredParameter>>>);

impl Parameters {
    /// Reads the answer to `tools/list`.
    pub(crate) fn learn(&self, answer: &[u8]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_annotated = answer
            .windows(MIRRORED.len())
            .any(|window| window == MIRRORED.as_bytes());
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
            let schema = tool.get("inputSchema");
            let found = schema.and_then(|schema| MirroredParameter::all_of(schema).ok());
            match found.filter(|found| !found.is_empty()) {
                Some(found) if known.len() < MAX_TOOLS || known.contains_key(name) => {
                    known.insert(name.to_owned(), found);
                }
                Some(_) | None => {
                    known.remove(name);
                }
            }
        }
    }

    /// What headers have to say of a call: each name, and the argument where the call has it.
    pub(crate) fn of(&self, message: &Message) -> Vec<(HeaderName, Option<Value>)> {
        if !matches!(message.kind(), Kind::Request { method, .. } if method == "tools/call") {
            return Vec::new();
        }
        let Some(params) = message.params().map(|params| params.value()) else {
            return Vec::new();
        };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tool = params.get("name").and_then(Value::as_str);
        let parameters = tool.and_then(|tool| known.get(tool)).into_iter().flatten();
        let said = parameters.filter_map(|parameter| {
            let name = format!("{PREFIX}{}", parameter.name());
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, parameter.argument(params.get("arguments")).cloned()))
        });
        said.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(properties: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"t","inputSchema":{{"type":"object","properties":{properties}}}}}]}}}}"#
        )
    }

    fn said(parameters: &Parameters, method: &str) -> Vec<String> {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"t","arguments":{{"a":"v"}}}}}}"#
        );
        let said = parameters.of(&Message::read(text.as_bytes()).unwrap());
        said.iter()
            .map(|(name, value)| format!("{name} {}", value.is_some()))
            .collect()
    }

    #[test]
    fn the_last_list_that_passed_counts() {
        let parameters = Parameters::default();
        let annotated = r#"{"a":{"x-mcp-header":"A"},"b":{"x-mcp-header":"B"}}"#;
        parameters.learn(list(annotated).as_bytes());
        assert_eq!(
            said(&parameters, "tools/call"),
            ["mcp-param-a true", "mcp-param-b false"]
        );
        assert_eq!(said(&parameters, "prompts/get"), [""; 0]);
        parameters.learn(list(r#"{"a":{"x-mcp-header":"a b"}}"#).as_bytes());
        assert_eq!(said(&parameters, "tools/call"), [""; 0]);
        parameters.learn(list(annotated).as_bytes());
        parameters.learn(list("{}").as_bytes());
        assert_eq!(said(&parameters, "tools/call"), [""; 0]);
    }
}
