//! The provider's shapes, and nothing else: what goes in is decided elsewhere.

use countersign_canonical::{Object, Value};
use countersign_contract::{Call, ResponseId};

use crate::{Family, Proposal, answers::AnswerText, proposal::AnswerForm};

/// Where an answer goes, in the provider's terms.
pub(crate) struct Destination<'a> {
    /// The id under which the provider knows the call; ours, if it gave none.
    id: &'a str,
    /// The id the provider gave.
    given_id: Option<&'a str>,
    name: Option<&'a str>,
    form: &'a AnswerForm,
}

impl<'a> Destination<'a> {
    /// The destination of a function call whose id the provider gave.
    pub(crate) fn of(call: &'a Call) -> Self {
        Self {
            id: call.call_id.as_str(),
            given_id: Some(call.call_id.as_str()),
            name: Some(call.name.as_str()),
            form: &AnswerForm::Function,
        }
    }
}

impl<'a> From<&'a Proposal> for Destination<'a> {
    fn from(proposal: &'a Proposal) -> Self {
        let address = proposal.address();
        let given_id = address.given_id.as_deref();
        Self {
            id: given_id.unwrap_or(proposal.call_id().as_str()),
            given_id,
            name: address.given_name.as_deref(),
            form: &address.form,
        }
    }
}

/// Renders the answer to one call.
pub(crate) fn item(family: Family, to: &Destination<'_>, answer: AnswerText) -> Value {
    match family {
        Family::OpenAiResponses => responses_item(to, answer),
        Family::OpenAiChatCompletions => chat_message(to, answer),
        Family::AnthropicMessages => tool_result(to, answer),
        Family::GeminiInteractions => function_result(to, answer),
        Family::GeminiGenerateContent => function_response(to, answer),
    }
}

/// Renders the answers to all calls of a response, which the provider takes together.
pub(crate) fn whole(family: Family, previous: Option<&ResponseId>, items: Vec<Value>) -> Value {
    match family {
        Family::OpenAiResponses | Family::OpenAiChatCompletions => items.into(),
        Family::AnthropicMessages => object([("role", "user".into()), ("content", items.into())]),
        Family::GeminiInteractions => {
            let mut members = vec![("input", items.into())];
            members.extend(previous.map(|id| ("previous_interaction_id", id.as_str().into())));
            object(members)
        }
        Family::GeminiGenerateContent => object([("role", "user".into()), ("parts", items.into())]),
    }
}

fn responses_item(to: &Destination<'_>, answer: AnswerText) -> Value {
    let kind = match to.form {
        AnswerForm::CustomTool => "custom_tool_call_output",
        AnswerForm::Function | AnswerForm::LegacyFunction | AnswerForm::Toolset(_) => {
            "function_call_output"
        }
    };
    object([
        ("type", kind.into()),
        ("call_id", to.id.into()),
        ("output", text_or_parts(answer, "input_text")),
    ])
}

fn chat_message(to: &Destination<'_>, answer: AnswerText) -> Value {
    let content = ("content", text_or_parts(answer, "text"));
    match to.form {
        AnswerForm::LegacyFunction => object([
            ("role", "function".into()),
            ("name", to.name.unwrap_or_default().into()),
            content,
        ]),
        AnswerForm::Function | AnswerForm::CustomTool | AnswerForm::Toolset(_) => object([
            ("role", "tool".into()),
            ("tool_call_id", to.id.into()),
            content,
        ]),
    }
}

fn tool_result(to: &Destination<'_>, answer: AnswerText) -> Value {
    let mut members = vec![
        ("type", "tool_result".into()),
        ("tool_use_id", to.id.into()),
        ("is_error", answer.is_error.into()),
        ("content", parts(answer, "text")),
    ];
    match to.form {
        AnswerForm::Toolset(name) => members.push(("toolset_name", name.as_str().into())),
        AnswerForm::Function | AnswerForm::CustomTool | AnswerForm::LegacyFunction => {}
    }
    object(members)
}

fn function_result(to: &Destination<'_>, answer: AnswerText) -> Value {
    let mut members = vec![
        ("type", "function_result".into()),
        ("call_id", to.id.into()),
        ("result", parts(answer, "text")),
    ];
    members.extend(to.name.map(|name| ("name", name.into())));
    object(members)
}

/// The text stays text in `response`: as a JSON structure its integers would become doubles.
fn function_response(to: &Destination<'_>, answer: AnswerText) -> Value {
    let outcome = if answer.is_error { "error" } else { "output" };
    let text = match answer.beside {
        Some(beside) => vec![answer.text.into(), beside.into()].into(),
        None => answer.text.into(),
    };
    let mut members = vec![
        ("name", to.name.unwrap_or_default().into()),
        ("response", object([(outcome, text)])),
    ];
    members.extend(to.given_id.map(|id| ("id", id.into())));
    object([("functionResponse", object(members))])
}

/// The answer as one text where that is all there is, and in parts otherwise.
fn text_or_parts(answer: AnswerText, kind: &'static str) -> Value {
    if answer.beside.is_none() {
        answer.text.into()
    } else {
        parts(answer, kind)
    }
}

fn parts(answer: AnswerText, kind: &'static str) -> Value {
    let texts = [Some(answer.text), answer.beside];
    let part = |text: String| object([("type", kind.into()), ("text", text.into())]);
    Value::Array(texts.into_iter().flatten().map(part).collect())
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect::<Object>()
        .into()
}
