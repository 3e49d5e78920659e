//! The golden vectors, on the host's side.

use std::io::Read as _;

use base64::Engine as _;
use countersign_canonical::{Limits, Object, Value, parse};
use countersign_governed::{
    Catalog, ExecutionRequest, ShapeRegistry, answer_execution_result, answer_gate, answer_intent,
    answer_intent_build, answer_tool_args,
};

const VECTORS: &[u8] = include_bytes!("../../../../testdata/governed.jsonl.gz");

pub(crate) fn lines() -> Vec<Object> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(VECTORS)
        .read_to_end(&mut text)
        .unwrap();
    let limits = Limits::passthrough();
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| parse(line, &limits).unwrap().as_object().unwrap().clone())
        .collect()
}

fn text<'v>(line: &'v Object, field: &str) -> &'v str {
    line.get(field).unwrap().as_str().unwrap()
}

pub(crate) fn bytes(line: &Object, field: &str) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD
        .decode(text(line, field))
        .unwrap()
}

/// Answers a line as the command line does, for the fields that are the host's.
fn answer(line: &Object) -> Object {
    let catalog = Catalog::colony();
    match text(line, "kind") {
        "tool_args" => answer_tool_args(catalog, text(line, "tool"), &bytes(line, "args_b64")),
        "intent" => answer_intent(catalog, &bytes(line, "input_b64")),
        "intent_build" => answer_intent_build(
            catalog,
            text(line, "tool"),
            line.get("args").unwrap(),
            line.get("context").unwrap(),
        ),
        "gate" => answer_gate(catalog, &ShapeRegistry::default(), line),
        "execution_result" => answer_execution_result(line),
        // The host's own reading of what the endpoint takes.
        "execution_request" => {
            let path_action_id = Some(text(line, "path_action_id"));
            let request =
                ExecutionRequest::check(catalog, path_action_id, &bytes(line, "input_b64"));
            Object::from_iter([("endpoint".to_owned(), Value::Bool(request.is_ok()))])
        }
        other => panic!("unknown kind {other}"),
    }
}

const QUESTION_FIELDS: [&str; 13] = [
    "action",
    "args",
    "args_b64",
    "context",
    "input_b64",
    "kind",
    "now",
    "path_action_id",
    "receipts",
    "request",
    "result",
    "tool",
    "-",
];

#[test]
fn every_line_is_answered_as_committed() {
    let lines = lines();
    assert_eq!(lines.len(), 1800);
    let mut wrong = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut expected: Object = line
            .clone()
            .into_iter()
            .filter(|(name, _)| !QUESTION_FIELDS.contains(&name.as_str()))
            .collect();
        if text(line, "kind") == "tool_args" {
            expected.remove("endpoint");
        }
        let found = answer(line);
        if found != expected {
            wrong.push(format!(
                "line {}: {} expected {expected:?}, found {found:?}",
                index + 1,
                text(line, "kind")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
