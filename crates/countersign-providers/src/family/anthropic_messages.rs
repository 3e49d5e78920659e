//! Anthropic Messages: `content` is a list of blocks; `tool_use` blocks are calls.
//!
//! `max_tokens` and a full context window cut the last block: its input is then
//! an object that is whole JSON and still not what the model meant. A stop
//! sequence may do the same. `refusal` takes the whole response back, and
//! `pause_turn` leaves it to be continued. A block with a `toolset_name` is a
//! member of a client toolset (`left_click` of a browser) and no tool of that name.

use countersign_canonical::{Object, Value};

use crate::{
    Duty, Ending, ReadError, Refusal, arguments,
    document::{object, take_list, take_text, text},
    draft::{Draft, DraftCall, items},
    proposal::AnswerForm,
};

pub(crate) fn read(mut document: Object) -> Result<Draft, ReadError> {
    let content = take_list(&mut document, "content")?;
    let ending = ending(&document);
    let mut draft = Draft::new(take_text(&mut document, "id"), ending);
    for (last, block) in items(content)? {
        read_block(&mut draft, object(Some(block), "content[]")?, last)?;
    }
    Ok(draft)
}

fn ending(document: &Object) -> Ending {
    match text(document, "stop_reason") {
        Some("tool_use" | "end_turn") => Ending::Complete,
        Some("max_tokens" | "model_context_window_exceeded" | "stop_sequence") => Ending::Truncated,
        Some("refusal") => Ending::Withheld,
        Some(_) | None => Ending::Unfinished,
    }
}

fn read_block(draft: &mut Draft, mut block: Object, last: bool) -> Result<(), ReadError> {
    let Some(kind) = take_text(&mut block, "type") else {
        return Err(ReadError::Malformed {
            at: "content[].type",
            expected: "text",
        });
    };
    match kind.as_str() {
        "tool_use" => draft.call(read_tool_use(block).at_end(last))?,
        "text" | "thinking" | "redacted_thinking" | "compaction" | "container_upload"
        | "fallback" | "mcp_tool_listing" | "mcp_tool_result" => {}
        other if other.ends_with("_tool_result") => {}
        "server_tool_use" | "mcp_tool_use" => draft.skip(&kind, Duty::Provider),
        _ => draft.skip(&kind, Duty::Unknown),
    }
    Ok(())
}

fn read_tool_use(mut block: Object) -> DraftCall {
    let given_id = take_text(&mut block, "id");
    let given_name = take_text(&mut block, "name");
    match block.remove("toolset_name") {
        None | Some(Value::Null) => DraftCall::function(
            given_id,
            given_name,
            arguments::from_object(block.remove("input")),
        ),
        Some(Value::String(toolset)) => DraftCall::refused(
            given_id,
            given_name,
            AnswerForm::Toolset(toolset),
            Refusal::Namespaced,
        ),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            DraftCall::refused(
                given_id,
                given_name,
                AnswerForm::Function,
                Refusal::ShapeUnknown,
            )
        }
    }
}
