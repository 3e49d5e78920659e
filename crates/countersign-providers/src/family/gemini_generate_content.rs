//! Gemini `generateContent`: one candidate whose parts are text, thoughts and calls.
//!
//! Calls often have no id; answers are then paired by order and name.
//! `MAX_TOKENS` and `CONTINUATION` cut the last part. Every other reason but
//! `STOP` says that the candidate was blocked or went wrong. Parts signed with
//! a `thoughtSignature` go back with the model's own content, never with answers.

use countersign_canonical::{Object, Value};

use crate::{
    Duty, Ending, Label, ReadError, Refusal, arguments,
    document::{list, object, only, take_list, take_text, text},
    draft::{Draft, DraftCall, items},
    proposal::AnswerForm,
};

pub(crate) fn read(mut document: Object) -> Result<Draft, ReadError> {
    refuse_blocked(&document)?;
    let candidates = take_list(&mut document, "candidates")?;
    let mut candidate = object(Some(only(candidates, "candidates")?), "candidates[0]")?;
    refuse_sdk_names(&candidate, &["finish_reason", "safety_ratings"])?;
    let mut draft = Draft::new(take_text(&mut document, "responseId"), ending(&candidate));

    // A candidate that was blocked, or that called nothing, has no content or no parts.
    let Some(content) = candidate.remove("content") else {
        return Ok(draft);
    };
    let mut content = object(Some(content), "candidates[0].content")?;
    let Some(parts) = content.remove("parts") else {
        return Ok(draft);
    };
    for (last, part) in items(list(Some(parts), "candidates[0].content.parts")?)? {
        read_part(&mut draft, object(Some(part), "parts[]")?, last)?;
    }
    Ok(draft)
}

fn refuse_blocked(document: &Object) -> Result<(), ReadError> {
    let has_candidates = document
        .get("candidates")
        .and_then(Value::as_array)
        .is_some_and(|candidates| !candidates.is_empty());
    match document.get("promptFeedback") {
        Some(feedback) if !has_candidates => Err(ReadError::Blocked {
            reason: feedback
                .get("blockReason")
                .and_then(Value::as_str)
                .map(Label::of),
        }),
        Some(_) | None => Ok(()),
    }
}

fn ending(candidate: &Object) -> Ending {
    match text(candidate, "finishReason") {
        Some("STOP") => Ending::Complete,
        Some("MAX_TOKENS" | "CONTINUATION") => Ending::Truncated,
        Some(
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "ESCALATION" | "MODEL_ARMOR",
        ) => Ending::Withheld,
        Some(_) | None => Ending::Unfinished,
    }
}

fn read_part(draft: &mut Draft, mut part: Object, last: bool) -> Result<(), ReadError> {
    refuse_sdk_names(&part, &["function_call", "thought_signature"])?;
    if let Some(call) = part.remove("functionCall") {
        return draft.call(read_call(call).at_end(last));
    }
    for (member, duty) in [
        ("toolCall", Duty::Provider),
        ("executableCode", Duty::Provider),
    ] {
        if part.contains_key(member) {
            draft.skip(member, duty);
            return Ok(());
        }
    }
    let known = [
        "text",
        "inlineData",
        "fileData",
        "codeExecutionResult",
        "toolResponse",
        "functionResponse",
        "thoughtSignature",
    ];
    if !known.into_iter().any(|member| part.contains_key(member)) {
        let kind = part.keys().next().unwrap_or_default();
        draft.skip(kind, Duty::Unknown);
    }
    Ok(())
}

fn read_call(call: Value) -> DraftCall {
    let Value::Object(mut call) = call else {
        return DraftCall::refused(None, None, AnswerForm::Function, Refusal::ShapeUnknown);
    };
    let is_partial = call.contains_key("partialArgs")
        || call
            .get("willContinue")
            .is_some_and(|more| more.as_bool() != Some(false));
    let given_name = take_text(&mut call, "name");
    let given_id = match call.remove("id") {
        // An empty text is how protocol buffers may write that there is none.
        Some(Value::String(id)) => Some(id).filter(|id| !id.is_empty()),
        None | Some(Value::Null) => None,
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return DraftCall::refused(
                None,
                given_name,
                AnswerForm::Function,
                Refusal::CallIdInvalid,
            );
        }
    };
    let arguments = if is_partial {
        Err(Refusal::Truncated)
    } else {
        match call.remove("args") {
            // A function without parameters comes without arguments.
            None => Ok(Object::new()),
            args => arguments::from_object(args),
        }
    };
    DraftCall::function(given_id, given_name, arguments)
}

/// Python's SDK writes the same document with other names, in which calls would be overlooked.
fn refuse_sdk_names(object: &Object, names: &[&'static str]) -> Result<(), ReadError> {
    match names.iter().find(|name| object.contains_key(name)) {
        Some(member) => Err(ReadError::SdkNames { member }),
        None => Ok(()),
    }
}
