//! Samples and payloads against the types of the official provider SDKs.
//!
//! Runs `tests/sdk/validate.py` with the interpreter that `cargo xtask test` prepares.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use countersign_canonical::{Limits, Object, Utf8, Value, encode, parse};

use countersign_providers::{Family, read};

use crate::{
    answering::{answer_all, answer_all_with_upstream},
    sample,
};

/// One run of the validator for all documents, since loading the SDKs takes seconds.
#[test]
fn documents_are_what_the_sdks_read_and_send() {
    let right: Vec<Case> = samples()
        .chain(answers())
        .chain(unusual_answers())
        .collect();
    let count = right.len();
    let verdicts = verdicts(right.into_iter().chain(wrong()).collect());
    let (right, wrong) = verdicts.split_at(count);
    for (name, error) in right {
        assert_eq!(*error, None, "{name} is not what the SDK's type says");
    }
    for (name, error) in wrong {
        assert!(
            error.is_some(),
            "{name} passed, so that the checks prove nothing"
        );
    }
}

fn samples() -> impl Iterator<Item = Case> {
    sample::all().iter().map(|(name, family, raw)| Case {
        name: name.clone(),
        kind: format!("{}.response", family.name()),
        value: json(raw),
    })
}

fn answers() -> impl Iterator<Item = Case> {
    sample::all().iter().flat_map(|(name, family, raw)| {
        let turn = read(raw).unwrap();
        [answer_all(&turn).unwrap(), answer_all_with_upstream(&turn)].map(|value| Case {
            name: name.clone(),
            kind: request_kind(*family),
            value,
        })
    })
}

fn unusual_answers() -> impl Iterator<Item = Case> {
    UNUSUAL.iter().map(|(name, family, raw)| Case {
        name: (*name).to_owned(),
        kind: request_kind(*family),
        value: answer_all(&read(raw.as_bytes()).unwrap()).unwrap(),
    })
}

fn wrong() -> impl Iterator<Item = Case> {
    WRONG.iter().map(|(name, kind, value)| Case {
        name: (*name).to_owned(),
        kind: (*kind).to_owned(),
        value: json(value.as_bytes()),
    })
}

/// Turns whose answers have shapes that the samples do not need.
const UNUSUAL: &[(&str, Family, &str)] = &[
    (
        "a call of before tools",
        Family::OpenAiChatCompletions,
        r#"{"object":"chat.completion","choices":[{"finish_reason":"function_call","message":{"function_call":{"name":"f","arguments":"{}"}}}]}"#,
    ),
    (
        "an interaction without an id",
        Family::GeminiInteractions,
        r#"{"object":"interaction","status":"requires_action","steps":[{"type":"function_call","id":"a","name":"f","arguments":"{}"}]}"#,
    ),
    (
        "calls without names and ids",
        Family::GeminiGenerateContent,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{}},{"functionCall":{"id":"a"}}]},"finishReason":"STOP"}]}"#,
    ),
    (
        "a step without a name",
        Family::GeminiInteractions,
        r#"{"id":"v1","object":"interaction","status":"requires_action","steps":[{"type":"function_call","id":"a","arguments":{}}]}"#,
    ),
];

fn request_kind(family: Family) -> String {
    let part = match family {
        Family::OpenAiResponses => "input",
        Family::OpenAiChatCompletions => "messages",
        Family::AnthropicMessages => "message",
        Family::GeminiInteractions => "request",
        Family::GeminiGenerateContent => "content",
    };
    format!("{}.{part}", family.name())
}

/// Documents that must not pass.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "output as an object",
        "openai-responses.input",
        r#"[{"type":"function_call_output","call_id":"c","output":{}}]"#,
    ),
    (
        "a misspelled call id",
        "openai-responses.input",
        r#"[{"type":"function_call_output","callid":"c","output":"{}"}]"#,
    ),
    (
        "a misspelled type",
        "openai-responses.input",
        r#"[{"type":"function_output","call_id":"c","output":"{}"}]"#,
    ),
    (
        "a call id as a number",
        "openai-responses.input",
        r#"[{"type":"function_call_output","call_id":7,"output":"{}"}]"#,
    ),
    (
        "a response without a model",
        "openai-responses.response",
        r#"{"id":"x","object":"response","output":[]}"#,
    ),
    (
        "a tool message without an id",
        "openai-chat-completions.messages",
        r#"[{"role":"tool","content":"{}"}]"#,
    ),
    (
        "content as an object",
        "openai-chat-completions.messages",
        r#"[{"role":"tool","tool_call_id":"c","content":{}}]"#,
    ),
    (
        "a member of another provider",
        "openai-chat-completions.messages",
        r#"[{"role":"tool","tool_call_id":"c","content":"{}","is_error":true}]"#,
    ),
    (
        "a time as text",
        "openai-chat-completions.response",
        r#"{"id":"x","object":"chat.completion","choices":[],"created":"1","model":"m"}"#,
    ),
    (
        "a block without text",
        "anthropic-messages.message",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text"}]}]}"#,
    ),
    (
        "a tool result without an id",
        "anthropic-messages.message",
        r#"{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"{}"}]}]}"#,
    ),
    (
        "a flag as text",
        "anthropic-messages.message",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":"true"}]}"#,
    ),
    (
        "the role of another provider",
        "anthropic-messages.message",
        r#"{"role":"tool","content":[{"type":"tool_result","tool_use_id":"t"}]}"#,
    ),
    (
        "a message of a user",
        "anthropic-messages.response",
        r#"{"id":"x","type":"message","content":[],"role":"user"}"#,
    ),
    (
        "id for call_id",
        "gemini-interactions.request",
        r#"{"input":[{"type":"function_result","name":"n","id":"c","result":[]}]}"#,
    ),
    (
        "a result as a number",
        "gemini-interactions.request",
        r#"{"input":[{"type":"function_result","name":"n","call_id":"c","result":7}]}"#,
    ),
    (
        "a misspelled text",
        "gemini-interactions.request",
        r#"{"input":[{"type":"function_result","call_id":"c","result":[{"type":"text","txt":"{}"}]}]}"#,
    ),
    (
        "a misspelled member",
        "gemini-interactions.request",
        r#"{"previous":"v1","input":[]}"#,
    ),
    (
        "arguments as text",
        "gemini-interactions.response",
        r#"{"id":"x","status":"completed","steps":[{"type":"function_call","id":"a","name":"b","arguments":"{}"}]}"#,
    ),
    (
        "a misspelled step",
        "gemini-interactions.response",
        r#"{"id":"x","status":"completed","steps":[{"type":"function_cal","id":"a","name":"b","arguments":{}}]}"#,
    ),
    (
        "a response as text",
        "gemini-generate-content.content",
        r#"{"role":"user","parts":[{"functionResponse":{"name":"n","response":"{}"}}]}"#,
    ),
    (
        "an unknown member",
        "gemini-generate-content.content",
        r#"{"role":"user","parts":[{"functionResponse":{"name":"n","output":{}}}]}"#,
    ),
    (
        "a name as a number",
        "gemini-generate-content.content",
        r#"{"role":"user","parts":[{"functionResponse":{"name":7,"response":{}}}]}"#,
    ),
    (
        "args as text",
        "gemini-generate-content.response",
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":"{}"}}]}}]}"#,
    ),
];

/// One document for the validator.
struct Case {
    name: String,
    kind: String,
    value: Value,
}

/// The name of each document and the SDK's objection.
fn verdicts(cases: Vec<Case>) -> Vec<(String, Option<String>)> {
    let count = cases.len();
    let mut input = Vec::new();
    for case in cases {
        let line: Object = [
            ("name".to_owned(), Value::from(case.name)),
            ("kind".to_owned(), Value::from(case.kind)),
            ("value".to_owned(), case.value),
        ]
        .into_iter()
        .collect();
        input.extend(encode::<Utf8>(&line.into()));
        input.push(b'\n');
    }
    let output = run_validator(&input);
    let verdicts: Vec<_> = output.lines().map(verdict).collect();
    assert_eq!(verdicts.len(), count, "the validator stopped early");
    verdicts
}

fn verdict(line: &str) -> (String, Option<String>) {
    let verdict = json(line.as_bytes());
    let name = verdict
        .get("name")
        .and_then(Value::as_str)
        .unwrap()
        .to_owned();
    let error = verdict
        .get("error")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let ok = verdict.get("ok").and_then(Value::as_bool).unwrap();
    assert_eq!(ok, error.is_none());
    (name, error)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the SDKs are Python packages, so that the check runs in an interpreter of its own"
)]
fn run_validator(input: &[u8]) -> String {
    let python = std::env::var_os("COUNTERSIGN_TEST_PYTHON").expect(
        "COUNTERSIGN_TEST_PYTHON is not set: run `cargo xtask test`, or name a Python interpreter \
         that has tests/sdk/requirements.txt installed",
    );
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sdk/validate.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter named by COUNTERSIGN_TEST_PYTHON starts");
    // The validator reads everything that was written before its pipe is full: documents are small.
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the validator failed");
    String::from_utf8(output.stdout).unwrap()
}

fn json(text: &[u8]) -> Value {
    parse(text, &Limits::passthrough()).unwrap()
}
