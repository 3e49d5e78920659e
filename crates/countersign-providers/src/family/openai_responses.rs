//! OpenAI Responses: `output` is a list of items, calls among messages and reasoning.
//!
//! Completeness is told twice: by the response's `status` and by each item's
//! own. `incomplete` for a length limit cuts the last item; for a content filter
//! it takes the whole response back. Of calls in namespaces only those are ours
//! whose namespace repeats the name, which is how deferred functions come.

use std::collections::HashSet;

use countersign_canonical::{Object, Value};

use crate::{
    Duty, Ending, Label, ReadError, Refusal, arguments,
    document::{object, take_list, take_text, text},
    draft::{Draft, DraftCall, items},
    proposal::AnswerForm,
};

pub(crate) fn read(mut document: Object) -> Result<Draft, ReadError> {
    let ending = ending(&document)?;
    let output = take_list(&mut document, "output")?;
    let answered = answered(&output);
    let mut draft = Draft::new(take_text(&mut document, "id"), ending);
    for (last, item) in items(output)? {
        read_item(&mut draft, object(Some(item), "output[]")?, last, &answered)?;
    }
    Ok(draft)
}

fn ending(document: &Object) -> Result<Ending, ReadError> {
    let reason = document
        .get("incomplete_details")
        .and_then(|details| details.get("reason"))
        .and_then(Value::as_str);
    match text(document, "status") {
        Some("completed") => Ok(Ending::Complete),
        Some("incomplete") => Ok(match reason {
            Some("max_output_tokens" | "max_messages") => Ending::Truncated,
            Some("content_filter") => Ending::Withheld,
            Some(_) | None => Ending::Unfinished,
        }),
        Some("failed") => Err(ReadError::Provider { code: None }),
        Some(status @ ("queued" | "in_progress")) => Err(ReadError::NotFinished {
            status: Label::of(status),
        }),
        Some(_) | None => Ok(Ending::Unfinished),
    }
}

/// The ids of calls whose outputs stand in the same response.
fn answered(output: &[Value]) -> HashSet<String> {
    output
        .iter()
        .filter_map(Value::as_object)
        .filter(|item| text(item, "type").is_some_and(|kind| kind.ends_with("_output")))
        .filter_map(|item| text(item, "call_id"))
        .map(str::to_owned)
        .collect()
}

fn read_item(
    draft: &mut Draft,
    mut item: Object,
    last: bool,
    answered: &HashSet<String>,
) -> Result<(), ReadError> {
    let Some(kind) = take_text(&mut item, "type") else {
        return Err(ReadError::Malformed {
            at: "output[].type",
            expected: "text",
        });
    };
    let is_answered = text(&item, "call_id").is_some_and(|id| answered.contains(id));
    match kind.as_str() {
        "function_call" | "custom_tool_call" if is_answered => draft.skip(&kind, Duty::Answered),
        "function_call" => draft.call(read_function_call(item).at_end(last))?,
        "custom_tool_call" => draft.call(read_custom_call(item).at_end(last))?,
        "message"
        | "reasoning"
        | "compaction"
        | "additional_tools"
        | "mcp_list_tools"
        | "mcp_approval_response" => {}
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "mcp_call"
        | "program" => draft.skip(&kind, Duty::Provider),
        "tool_search_call" => {
            let by_client = text(&item, "execution") == Some("client");
            draft.skip(
                &kind,
                if by_client {
                    Duty::Caller
                } else {
                    Duty::Provider
                },
            );
        }
        "computer_call"
        | "local_shell_call"
        | "shell_call"
        | "apply_patch_call"
        | "mcp_approval_request" => {
            draft.skip(
                &kind,
                if is_answered {
                    Duty::Answered
                } else {
                    Duty::Caller
                },
            );
        }
        other if other.ends_with("_output") => {}
        _ => draft.skip(&kind, Duty::Unknown),
    }
    Ok(())
}

fn read_function_call(mut item: Object) -> DraftCall {
    let given_id = take_text(&mut item, "call_id");
    let given_name = take_text(&mut item, "name");
    let arguments = match refusal(&item, given_name.as_deref()) {
        Some(reason) => Err(reason),
        None => arguments::from_text(item.remove("arguments")),
    };
    DraftCall::function(given_id, given_name, arguments)
}

fn refusal(item: &Object, name: Option<&str>) -> Option<Refusal> {
    let member = |key| item.get(key).filter(|value| !value.is_null());
    if member("status").is_some_and(|status| status.as_str() != Some("completed")) {
        return Some(Refusal::Truncated);
    }
    if member("namespace").is_some_and(|namespace| namespace.as_str() != name) {
        return Some(Refusal::Namespaced);
    }
    None
}

fn read_custom_call(mut item: Object) -> DraftCall {
    DraftCall::refused(
        take_text(&mut item, "call_id"),
        take_text(&mut item, "name"),
        AnswerForm::CustomTool,
        Refusal::FreeText,
    )
}
