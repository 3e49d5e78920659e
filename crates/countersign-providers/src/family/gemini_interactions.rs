//! Gemini Interactions: `steps` (before May 2026: `outputs`) with calls among thoughts and text.
//!
//! Steps may repeat earlier ones of the conversation; a call whose
//! `function_result` stands in the same document is answered already.
//! `incomplete`, `requires_continuation` and `budget_exceeded` cut the last step.

use std::collections::HashSet;

use countersign_canonical::{Object, Value};

use crate::{
    Duty, Ending, Label, ReadError, arguments,
    document::{object, take_list, take_text, text},
    draft::{Draft, DraftCall, items},
};

pub(crate) fn read(mut document: Object) -> Result<Draft, ReadError> {
    let ending = ending(&document)?;
    let steps = match (
        document.contains_key("steps"),
        document.contains_key("outputs"),
    ) {
        (true, true) => {
            return Err(ReadError::Malformed {
                at: "outputs",
                expected: "absent where there are `steps`",
            });
        }
        (false, true) => take_list(&mut document, "outputs")?,
        (_, false) => take_list(&mut document, "steps")?,
    };
    let answered = answered(&steps);
    let mut draft = Draft::new(take_text(&mut document, "id"), ending);
    for (last, step) in items(steps)? {
        read_step(&mut draft, object(Some(step), "steps[]")?, last, &answered)?;
    }
    Ok(draft)
}

fn ending(document: &Object) -> Result<Ending, ReadError> {
    match text(document, "status") {
        Some("requires_action" | "completed") => Ok(Ending::Complete),
        Some("incomplete" | "requires_continuation" | "budget_exceeded") => Ok(Ending::Truncated),
        Some("failed") => Err(ReadError::Provider { code: None }),
        Some(status @ ("queued" | "in_progress")) => Err(ReadError::NotFinished {
            status: Label::of(status),
        }),
        Some(_) | None => Ok(Ending::Unfinished),
    }
}

/// The ids of calls whose results stand in the same document.
fn answered(steps: &[Value]) -> HashSet<String> {
    steps
        .iter()
        .filter_map(Value::as_object)
        .filter(|step| text(step, "type") == Some("function_result"))
        .filter_map(|step| text(step, "call_id"))
        .map(str::to_owned)
        .collect()
}

fn read_step(
    draft: &mut Draft,
    mut step: Object,
    last: bool,
    answered: &HashSet<String>,
) -> Result<(), ReadError> {
    let Some(kind) = take_text(&mut step, "type") else {
        return Err(ReadError::Malformed {
            at: "steps[].type",
            expected: "text",
        });
    };
    match kind.as_str() {
        "function_call" => {
            let given_id = take_text(&mut step, "id");
            if given_id.as_ref().is_some_and(|id| answered.contains(id)) {
                draft.skip(&kind, Duty::Answered);
                return Ok(());
            }
            let given_name = take_text(&mut step, "name");
            let arguments = arguments::from_object(step.remove("arguments"));
            draft.call(DraftCall::function(given_id, given_name, arguments).at_end(last))?;
        }
        "user_input" | "thought" | "model_output" | "text" | "image" | "audio" | "video"
        | "document" => {}
        other if other.ends_with("_result") => {}
        "code_execution_call"
        | "file_search_call"
        | "google_maps_call"
        | "google_search_call"
        | "mcp_server_tool_call"
        | "processing_call"
        | "retrieval_call"
        | "tool_search_call"
        | "url_context_call" => draft.skip(&kind, Duty::Provider),
        _ => draft.skip(&kind, Duty::Unknown),
    }
    Ok(())
}
