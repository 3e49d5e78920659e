//! The host's answers to contract questions, for comparison with other implementations.

use countersign_canonical::{Object, Value};

use crate::catalog::Catalog;
use crate::digests::hex;
use crate::intent::Intent;
use crate::provenance::ShapeRegistry;
use crate::question::{
    GATE_QUESTION_FIELDS, GateAnswer, RESULT_QUESTION_FIELDS, check_gate_document,
    check_result_document,
};

/// Answers `{host}`: whether these arguments may be proposed.
pub fn answer_tool_args(catalog: &Catalog, tool: &str, input: &[u8]) -> Object {
    accepted(catalog.check_arguments(tool, input).is_ok())
}

/// Answers `{host, display}`: whether this is an intent, and what an owner is shown of it.
pub fn answer_intent(catalog: &Catalog, input: &[u8]) -> Object {
    let intent = Intent::parse(catalog, input);
    let mut answer = accepted(intent.is_ok());
    if let Ok(intent) = intent {
        answer.insert("display".to_owned(), intent.display().to_value());
    }
    answer
}

/// Answers `{intent}` or `{error: true}`: the intent of this call.
pub fn answer_intent_build(
    catalog: &Catalog,
    tool: &str,
    arguments: &Value,
    context: &Value,
) -> Object {
    match Intent::build(catalog, tool, arguments, context) {
        Ok(intent) => Object::from_iter([("intent".to_owned(), intent.to_value())]),
        Err(_) => Object::from_iter([("error".to_owned(), Value::Bool(true))]),
    }
}

/// Answers `{host, dispatchable}`: the valid gate or null, and whether it may dispatch now.
pub fn answer_gate(catalog: &Catalog, shapes: &ShapeRegistry, question: &Object) -> Object {
    let question = pick(question, &GATE_QUESTION_FIELDS);
    let (host, dispatchable) = match check_gate_document(catalog, shapes, &question, None) {
        Ok(GateAnswer { gate, now }) => {
            (gate.projection(now), gate.assert_dispatchable(now).is_ok())
        }
        Err(_) => (Value::Null, false),
    };
    Object::from_iter([
        ("dispatchable".to_owned(), Value::Bool(dispatchable)),
        ("host".to_owned(), host),
    ])
}

/// Answers `{host, normalized_sha256}`: whether this result proves the effect, and the digest of what is kept of it.
pub fn answer_execution_result(question: &Object) -> Object {
    let result = check_result_document(&pick(question, &RESULT_QUESTION_FIELDS), None);
    let mut answer = accepted(result.is_ok());
    if let Ok(result) = result {
        answer.insert(
            "normalized_sha256".to_owned(),
            Value::from(hex(&result.sha256())),
        );
    }
    answer
}

fn pick(question: &Object, fields: &[&str]) -> Value {
    let picked = fields
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), question.get(field)?.clone())));
    Value::Object(picked.collect())
}

fn accepted(host: bool) -> Object {
    Object::from_iter([("host".to_owned(), Value::Bool(host))])
}
