//! Responses as each provider writes them, and what it takes as their answers.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    Responses,
    ChatCompletions,
    Messages,
    Interactions,
    GenerateContent,
}

impl Provider {
    pub(crate) const ALL: [Self; 5] = [
        Self::Responses,
        Self::ChatCompletions,
        Self::Messages,
        Self::Interactions,
        Self::GenerateContent,
    ];

    /// A finished response with these calls; an id is made from each call's place.
    pub(crate) fn response(self, calls: &[(&str, Value)]) -> String {
        self.raw_response(
            &calls
                .iter()
                .map(|(name, arguments)| (*name, arguments.clone(), arguments.to_string()))
                .collect::<Vec<_>>(),
        )
    }

    /// The same, with the arguments as a value and, for providers that send text, as text.
    pub(crate) fn raw_response(self, calls: &[(&str, Value, String)]) -> String {
        let item = |(index, (name, value, text)): (usize, &(&str, Value, String))| {
            let id = id(index);
            match self {
                Self::Responses => json!({
                    "type": "function_call", "id": format!("fc_{index}"), "status": "completed",
                    "call_id": id, "name": name, "arguments": text,
                }),
                Self::ChatCompletions => json!({
                    "id": id, "type": "function", "function": {"name": name, "arguments": text},
                }),
                Self::Messages => {
                    json!({"type": "tool_use", "id": id, "name": name, "input": value})
                }
                Self::Interactions => json!({
                    "type": "function_call", "id": id, "name": name, "arguments": value,
                }),
                Self::GenerateContent => json!({
                    "functionCall": {"id": id, "name": name, "args": value},
                }),
            }
        };
        let calls: Vec<Value> = calls.iter().enumerate().map(item).collect();
        let response = match self {
            Self::Responses => json!({
                "id": "resp_1", "object": "response", "status": "completed", "error": null,
                "incomplete_details": null, "output": calls,
            }),
            Self::ChatCompletions => json!({
                "id": "chatcmpl_1", "object": "chat.completion",
                "choices": [{
                    "index": 0, "finish_reason": "tool_calls",
                    "message": {"role": "assistant", "content": null, "tool_calls": calls},
                }],
            }),
            Self::Messages => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "content": calls,
                "stop_reason": "tool_use",
            }),
            Self::Interactions => json!({
                "id": "v1_1", "object": "interaction", "status": "requires_action", "steps": calls,
            }),
            Self::GenerateContent => json!({
                "responseId": "response_1",
                "candidates": [{
                    "index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": calls},
                }],
            }),
        };
        response.to_string()
    }

    /// The answers in order: the code of each, and its text. Anything but the provider's exact shape fails.
    pub(crate) fn answers(self, stdout: &str, names: &[&str]) -> Vec<(String, Value)> {
        let whole: Value = serde_json::from_str(stdout).unwrap();
        let items = match self {
            Self::Responses | Self::ChatCompletions => whole.clone(),
            Self::Messages => whole["content"].clone(),
            Self::Interactions => whole["input"].clone(),
            Self::GenerateContent => whole["parts"].clone(),
        };
        let items = items.as_array().unwrap();
        assert_eq!(items.len(), names.len(), "{stdout}");
        let answers: Vec<(String, Value)> = items.iter().map(|item| self.answer(item)).collect();
        let due = answers.iter().zip(names).enumerate();
        let due = due.map(|(index, ((_, text), name))| self.item(index, name, text));
        let due = due.collect::<Vec<_>>();
        let due = match self {
            Self::Responses | Self::ChatCompletions => json!(due),
            Self::Messages => json!({"role": "user", "content": due}),
            Self::Interactions => json!({"input": due, "previous_interaction_id": "v1_1"}),
            Self::GenerateContent => json!({"role": "user", "parts": due}),
        };
        assert_eq!(whole, due);
        answers
    }

    /// The codes of the answers alone.
    pub(crate) fn codes(self, stdout: &str, names: &[&str]) -> Vec<String> {
        let answers = self.answers(stdout, names).into_iter();
        answers.map(|(code, _)| code).collect()
    }

    fn answer(self, item: &Value) -> (String, Value) {
        let response = &item["functionResponse"]["response"];
        let text = match self {
            Self::Responses => &item["output"],
            Self::ChatCompletions => &item["content"],
            Self::Messages => &item["content"][0]["text"],
            Self::Interactions => &item["result"][0]["text"],
            Self::GenerateContent => response.get("error").unwrap_or(&response["output"]),
        };
        let result: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        let code = result["error"]["code"].as_str().unwrap_or("OK").to_owned();
        (code, text.clone())
    }

    fn item(self, index: usize, name: &str, text: &Value) -> Value {
        let id = id(index);
        let result: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        let is_error = result["status"] != "succeeded";
        let parts = json!([{"type": "text", "text": text}]);
        let outcome = if is_error { "error" } else { "output" };
        match self {
            Self::Responses => {
                json!({"type": "function_call_output", "call_id": id, "output": text})
            }
            Self::ChatCompletions => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Self::Messages => json!({
                "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": parts,
            }),
            Self::Interactions => json!({
                "type": "function_result", "call_id": id, "name": name, "result": parts,
            }),
            Self::GenerateContent => json!({
                "functionResponse": {"id": id, "name": name, "response": {outcome: text}},
            }),
        }
    }
}

fn id(index: usize) -> String {
    format!("call_{index}")
}

/// A call of `note`.
pub(crate) fn note(text: &str) -> (&'static str, Value) {
    ("note", json!({"text": text}))
}
