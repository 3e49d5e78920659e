//! What host and endpoint say to the documents of governed actions.

use anyhow::{Context as _, bail};
use clap::ValueEnum as _;
use countersign_canonical::{Object, Value};
use countersign_endpoint as endpoint;
use countersign_governed::{
    Catalog, ShapeRegistry, answer_execution_result, answer_gate, answer_intent,
    answer_intent_build, answer_tool_args,
};

use super::{bytes_member, text_member};
use crate::cli::GovernedKind;

pub(super) fn answer(vector: &Object) -> anyhow::Result<Object> {
    let kind = text_member(vector, "kind")?;
    let Ok(kind) = GovernedKind::from_str(kind, false) else {
        bail!("kind is none of a vector of governed actions");
    };
    let catalog = Catalog::colony();
    Ok(match kind {
        GovernedKind::ToolArgs => {
            let tool = text_member(vector, "tool")?;
            let input = bytes_member(vector, "args_b64")?;
            let mut answer = answer_tool_args(catalog, tool, &input);
            let at_endpoint = Value::Bool(endpoint_takes_arguments(tool, &input));
            answer.insert("endpoint".to_owned(), at_endpoint);
            answer
        }
        GovernedKind::Intent => answer_intent(catalog, &bytes_member(vector, "input_b64")?),
        GovernedKind::IntentBuild => answer_intent_build(
            catalog,
            text_member(vector, "tool")?,
            vector.get("args").context("args must be there")?,
            vector.get("context").context("context must be there")?,
        ),
        GovernedKind::ExecutionRequest => {
            let path = text_member(vector, "path_action_id")?;
            let body = bytes_member(vector, "input_b64")?;
            let catalog = endpoint::Catalog::colony();
            let read = endpoint::ExecutionRequest::parse(path, &body, &catalog);
            Object::from([("endpoint", Value::Bool(read.is_ok()))])
        }
        GovernedKind::Gate => answer_gate(catalog, &ShapeRegistry::default(), vector),
        GovernedKind::ExecutionResult => answer_execution_result(vector),
    })
}

/// Arguments are part of a request, in whatever spelling.
fn endpoint_takes_arguments(tool: &str, input: &[u8]) -> bool {
    endpoint::parse_respelled(input).is_ok_and(|arguments| {
        endpoint::Catalog::colony()
            .check_arguments(tool, &arguments)
            .is_ok()
    })
}
