//! OpenAI Chat Completions: one message of one choice, with `tool_calls`.
//!
//! Content and calls stand apart, so that `finish_reason: "length"` cuts the
//! last call whatever the content is. Servers that speak this protocol without
//! being OpenAI leave `object` and a call's `type` out; that is accepted, and
//! arguments as an object are not.

use countersign_canonical::{Object, Value};

use crate::{
    Ending, ReadError, Refusal, arguments,
    document::{list, object, only, take_list, take_text, text},
    draft::{Draft, DraftCall, items},
    proposal::AnswerForm,
};

pub(crate) fn read(mut document: Object) -> Result<Draft, ReadError> {
    let choices = take_list(&mut document, "choices")?;
    let mut choice = object(Some(only(choices, "choices")?), "choices[0]")?;
    if choice.contains_key("delta") {
        return Err(ReadError::EventStream);
    }
    let mut message = object(choice.remove("message"), "choices[0].message")?;
    let mut draft = Draft::new(take_text(&mut document, "id"), ending(&choice));

    let tool_calls = message
        .remove("tool_calls")
        .filter(|calls| !calls.is_null());
    let legacy_call = message
        .remove("function_call")
        .filter(|call| !call.is_null());
    if let Some(tool_calls) = tool_calls {
        let tool_calls = list(Some(tool_calls), "choices[0].message.tool_calls")?;
        for (last, call) in items(tool_calls)? {
            let last = last && legacy_call.is_none();
            read_call(&mut draft, object(Some(call), "tool_calls[]")?, last)?;
        }
    }
    if let Some(call) = legacy_call {
        let mut call = object(Some(call), "choices[0].message.function_call")?;
        draft.call(
            DraftCall::refused(
                None,
                take_text(&mut call, "name"),
                AnswerForm::LegacyFunction,
                Refusal::ShapeUnknown,
            )
            .at_end(true),
        )?;
    }
    Ok(draft)
}

fn ending(choice: &Object) -> Ending {
    match text(choice, "finish_reason") {
        // A call forced by `tool_choice` ends with `stop`.
        Some("tool_calls" | "stop" | "function_call") => Ending::Complete,
        Some("length") => Ending::Truncated,
        Some("content_filter") => Ending::Withheld,
        Some(_) | None => Ending::Unfinished,
    }
}

fn read_call(draft: &mut Draft, mut call: Object, last: bool) -> Result<(), ReadError> {
    let kind = take_text(&mut call, "type");
    let given_id = take_text(&mut call, "id");
    let read = match (
        kind.as_deref(),
        call.remove("function"),
        call.remove("custom"),
    ) {
        (Some("function") | None, Some(Value::Object(mut function)), None) => {
            let given_name = take_text(&mut function, "name");
            DraftCall::function(
                given_id,
                given_name,
                arguments::from_text(function.remove("arguments")),
            )
        }
        (Some("custom"), None, Some(Value::Object(mut custom))) => DraftCall::refused(
            given_id,
            take_text(&mut custom, "name"),
            AnswerForm::Function,
            Refusal::FreeText,
        ),
        _ => DraftCall::refused(given_id, None, AnswerForm::Function, Refusal::ShapeUnknown),
    };
    draft.call(read.at_end(last))
}
