//! Answers to whole turns: one for each call, in order, or none at all.

use std::{collections::HashMap, fmt::Write as _};

use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::{Call, CallId, ErrorCode, ResponseId, ToolName};
use countersign_providers::{AnswerError, Family, Proposal, Refusal, Turn, payload, read};
use insta::assert_snapshot;
use proptest::prelude::*;

use crate::{
    sample::{all, raw},
    tools::{call, error, result, verified},
};

/// Answers every call as the dispatcher would.
pub(crate) fn answer_all(turn: &Turn) -> Option<Value> {
    let mut answers = turn.answers();
    for call in calls(turn) {
        answers.give(&verified(&call, &result(&call))).unwrap();
    }
    answers.finish().unwrap()
}

fn calls(turn: &Turn) -> Vec<Call> {
    let proposed = turn.proposals().iter().filter_map(Proposal::proposed);
    proposed.map(|proposed| call(turn, proposed)).collect()
}

#[test]
fn samples_are_answered_in_the_providers_shape() {
    for (name, _, raw) in all() {
        let turn = read(raw).unwrap();
        let payload = answer_all(&turn).unwrap();
        assert_snapshot!(format!("answers-{name}"), lines(&payload, 0));
    }
}

/// JSON with a line for each member, so that a snapshot can be read.
fn lines(value: &Value, indent: usize) -> String {
    let pad = "  ".repeat(indent + 1);
    let end = "  ".repeat(indent);
    let (open, close, items): (_, _, Vec<String>) = match value {
        Value::Array(items) => (
            '[',
            ']',
            items
                .iter()
                .map(|item| format!("{pad}{}", lines(item, indent + 1)))
                .collect(),
        ),
        Value::Object(members) => (
            '{',
            '}',
            members
                .iter()
                .map(|(key, value)| format!("{pad}\"{key}\": {}", lines(value, indent + 1)))
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return String::from_utf8(encode::<Utf8>(value)).unwrap();
        }
    };
    format!("{open}\n{}\n{end}{close}", items.join(",\n"))
}

/// Answers every call with its result and what a wrapped tool said.
pub(crate) fn answer_all_with_upstream(turn: &Turn) -> Value {
    let mut answers = turn.answers();
    for call in calls(turn) {
        let upstream = r#"{"content":[{"type":"text","text":"9007199254740993"}]}"#.to_owned();
        let package = result(&call);
        answers
            .give_with_upstream(&verified(&call, &package), upstream)
            .unwrap();
    }
    answers.finish().unwrap().unwrap()
}

#[test]
fn what_a_wrapped_tool_said_stands_behind_the_result() {
    let mut text = String::new();
    for (name, ..) in all()
        .iter()
        .filter(|(name, ..)| name.ends_with("truncated"))
    {
        let turn = read(raw(name)).unwrap();
        writeln!(
            text,
            "{name}\n{}",
            lines(&answer_all_with_upstream(&turn), 0)
        )
        .unwrap();
    }
    assert_snapshot!(text);
}

#[test]
fn a_turn_without_calls_needs_no_answer() {
    let raw = br#"{"id":"m","type":"message","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}"#;
    assert_eq!(read(raw).unwrap().answers().finish(), Ok(None));
}

#[test]
fn a_turn_is_not_rendered_with_a_call_open() {
    let turn = read(raw("openai-responses-parallel")).unwrap();
    let calls = calls(&turn);
    let mut answers = turn.answers();
    assert_eq!(answers.open().count(), 2);
    answers
        .give(&verified(&calls[1], &result(&calls[1])))
        .unwrap();
    let open: Vec<CallId> = answers.open().cloned().collect();
    assert_eq!(open, [calls[0].call_id.clone()]);
    let error = answers.finish().unwrap_err();
    assert_eq!(error, AnswerError::Open { calls: open });
    assert_eq!(error.to_string(), "1 of the turn's calls are not answered");
}

#[test]
fn a_call_is_answered_once() {
    let turn = read(raw("anthropic-messages-truncated")).unwrap();
    let call = &calls(&turn)[0];
    let package = result(call);
    let mut answers = turn.answers();
    answers.give(&verified(call, &package)).unwrap();
    assert_eq!(
        answers.give(&verified(call, &package)),
        Err(AnswerError::AnsweredAlready)
    );
    assert_eq!(
        answers.refuse(&call.call_id, Refusal::OutsideDomain),
        Err(AnswerError::AnsweredAlready)
    );
    let refused = turn.proposals()[1].call_id();
    assert_eq!(
        answers.refuse(refused, Refusal::OutsideDomain),
        Err(AnswerError::AnsweredAlready)
    );
}

#[test]
fn a_call_that_fits_no_package_is_refused_later() {
    let turn = read(raw("openai-chat-completions-parallel")).unwrap();
    let calls = calls(&turn);
    let mut answers = turn.answers();
    answers
        .refuse(&calls[0].call_id, Refusal::OutsideDomain)
        .unwrap();
    answers
        .give(&verified(&calls[1], &result(&calls[1])))
        .unwrap();
    let payload = answers.finish().unwrap().unwrap();
    let content = payload.as_array().unwrap()[0].get("content").unwrap();
    assert_eq!(
        content.as_str(),
        Some(Refusal::OutsideDomain.text().as_str())
    );
}

#[test]
fn a_result_answers_its_own_call_only() {
    let turn = read(raw("anthropic-messages-parallel")).unwrap();
    let own = calls(&turn).swap_remove(0);
    let other_profile = Call {
        profile: Family::OpenAiResponses.profile(),
        ..own.clone()
    };
    let other_response = Call {
        response_id: ResponseId::new("msg_other").unwrap(),
        ..own.clone()
    };
    let other_id = Call {
        call_id: CallId::new("toolu_other").unwrap(),
        ..own.clone()
    };
    let other_name = Call {
        name: ToolName::new("get_orders").unwrap(),
        ..own.clone()
    };
    let other_arguments = Call {
        arguments: calls(&turn)[1].arguments.clone(),
        ..own
    };
    let profiles = AnswerError::OtherProfile {
        expected: Family::AnthropicMessages.profile(),
        found: Family::OpenAiResponses.profile(),
    };
    assert_eq!(
        profiles.to_string(),
        "the result is for a call through openai-responses-v1, not through anthropic-messages-v1"
    );
    for (call, expected) in [
        (other_profile, profiles),
        (other_response, AnswerError::OtherResponse),
        (other_id, AnswerError::NoSuchCall),
        (other_name, AnswerError::OtherCall),
        (other_arguments, AnswerError::OtherCall),
    ] {
        let package = error(&call, ErrorCode::NotFound);
        let mut answers = turn.answers();
        assert_eq!(answers.give(&verified(&call, &package)), Err(expected));
    }
}

#[test]
fn no_payload_is_made_for_another_provider() {
    for (name, family, raw) in all() {
        let turn = read(raw).unwrap();
        let call = &calls(&turn)[0];
        let package = result(call);
        for other in Family::ALL {
            let rendered = payload(other, &verified(call, &package));
            assert_eq!(rendered.is_ok(), other == *family, "{name} as {other}");
        }
    }
}

#[test]
fn duplicated_ids_are_each_answered_and_never_mixed() {
    let raw = br#"{"id":"m","type":"message","stop_reason":"tool_use","content":[
        {"type":"tool_use","id":"a","name":"get_order","input":{"order_ref":"ORDER-7"}},
        {"type":"tool_use","id":"a","name":"get_order","input":{"order_ref":"ORDER-8"}}]}"#;
    let payload = read(raw).unwrap().answers().finish().unwrap().unwrap();
    let blocks = payload.get("content").and_then(Value::as_array).unwrap();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        assert_eq!(block.get("tool_use_id").and_then(Value::as_str), Some("a"));
        assert_eq!(block.get("is_error").and_then(Value::as_bool), Some(true));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever order results come in, answers stand in the order of the calls, as many as there are.
    #[test]
    fn answers_stand_in_the_order_of_the_calls(
        (family, kinds) in (0..Family::ALL.len(), proptest::collection::vec(0..3_u8, 1..12)),
        order in any::<prop::sample::Index>(),
    ) {
        let family = Family::ALL[family];
        let raw = response(family, &kinds);
        let turn = read(raw.as_bytes()).unwrap();
        prop_assert_eq!(turn.proposals().len(), kinds.len());

        let mut calls = calls(&turn);
        let count = calls.len();
        if count > 0 {
            calls.rotate_left(order.index(count));
        }
        let mut answers = turn.answers();
        for call in &calls {
            answers.give(&verified(call, &result(call))).unwrap();
        }
        let payload = answers.finish().unwrap().unwrap();

        let by_id: HashMap<&str, &str> = turn
            .proposals()
            .iter()
            .map(|proposal| (proposal.call_id().as_str(), proposal.given_name().unwrap()))
            .collect();
        let rendered = rendered(family, &payload);
        prop_assert_eq!(rendered.len(), kinds.len());
        for (index, item) in rendered.iter().enumerate() {
            let text = String::from_utf8(encode::<Utf8>(item)).unwrap();
            if family == Family::GeminiGenerateContent {
                prop_assert!(text.contains(turn.proposals()[index].given_name().unwrap()));
            } else {
                let id = format!("id-{index}");
                let quoted = format!("\"{id}\"");
                prop_assert!(text.contains(&quoted));
                prop_assert!(by_id.contains_key(id.as_str()));
            }
            prop_assert_eq!(text.contains("call-refusal-v1"), kinds[index] == 2);
            prop_assert_eq!(text.contains("APPROVAL_REQUIRED"), kinds[index] == 1);
        }
    }
}

/// A response with reads (0), writes (1) and calls that are refused (2).
fn response(family: Family, kinds: &[u8]) -> String {
    let items: Vec<String> = kinds
        .iter()
        .enumerate()
        .map(|(index, kind)| {
            let name = if *kind == 1 { "create_refund_draft" } else { "get_order" };
            let arguments = match kind {
                0 => r#"{"order_ref":"ORDER-7"}"#,
                1 => r#"{"order_ref":"ORDER-7","reason":"other"}"#,
                _ => "[]",
            };
            let text = arguments.replace('"', "\\\"");
            match family {
                Family::OpenAiResponses => format!(r#"{{"type":"function_call","call_id":"id-{index}","name":"{name}","arguments":"{text}"}}"#),
                Family::OpenAiChatCompletions => format!(r#"{{"id":"id-{index}","type":"function","function":{{"name":"{name}","arguments":"{text}"}}}}"#),
                Family::AnthropicMessages => format!(r#"{{"type":"tool_use","id":"id-{index}","name":"{name}","input":{arguments}}}"#),
                Family::GeminiInteractions => format!(r#"{{"type":"function_call","id":"id-{index}","name":"{name}","arguments":{arguments}}}"#),
                Family::GeminiGenerateContent => format!(r#"{{"functionCall":{{"name":"{name}","args":{arguments}}}}}"#),
            }
        })
        .collect();
    let items = items.join(",");
    match family {
        Family::OpenAiResponses => {
            format!(r#"{{"id":"r","object":"response","status":"completed","output":[{items}]}}"#)
        }
        Family::OpenAiChatCompletions => format!(
            r#"{{"id":"r","object":"chat.completion","choices":[{{"finish_reason":"tool_calls","message":{{"tool_calls":[{items}]}}}}]}}"#
        ),
        Family::AnthropicMessages => {
            format!(r#"{{"id":"r","type":"message","stop_reason":"tool_use","content":[{items}]}}"#)
        }
        Family::GeminiInteractions => format!(
            r#"{{"id":"r","object":"interaction","status":"requires_action","steps":[{items}]}}"#
        ),
        Family::GeminiGenerateContent => format!(
            r#"{{"responseId":"r","candidates":[{{"finishReason":"STOP","content":{{"parts":[{items}]}}}}]}}"#
        ),
    }
}

/// The single answers in a turn's payload.
fn rendered(family: Family, payload: &Value) -> Vec<Value> {
    let list = match family {
        Family::OpenAiResponses | Family::OpenAiChatCompletions => Some(payload),
        Family::AnthropicMessages => payload.get("content"),
        Family::GeminiInteractions => payload.get("input"),
        Family::GeminiGenerateContent => payload.get("parts"),
    };
    list.and_then(Value::as_array).unwrap().to_vec()
}
