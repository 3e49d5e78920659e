use countersign_providers::{Family, detect, read, read_as};
use insta::assert_snapshot;

use crate::sample::{all, describe, raw};

#[test]
fn samples_are_read_whole_and_in_order() {
    for (name, family, raw) in all() {
        let turn = read(raw).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(turn.family(), *family, "{name}");
        assert_eq!(detect(raw), Ok(*family), "{name}");
        assert_eq!(read_as(*family, raw).as_ref(), Ok(&turn), "{name}");
        assert_snapshot!(name.as_str(), describe(&turn));
    }
}

#[test]
fn a_sample_is_of_no_other_family() {
    for (name, family, raw) in all() {
        for other in Family::ALL.into_iter().filter(|other| other != family) {
            let error = read_as(other, raw).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("the document is of {family}, not of {other}"),
                "{name}"
            );
        }
    }
}

#[test]
fn servers_that_leave_marks_out_are_read_when_the_family_is_named() {
    let raw = br#"{"id":"","choices":[{"message":{"role":"assistant","tool_calls":[
        {"id":"a","function":{"name":"get_order","arguments":"{}"}}]},"finish_reason":"stop"}]}"#;
    let turn = read_as(Family::OpenAiChatCompletions, raw).unwrap();
    assert_snapshot!(describe(&turn));

    let raw = br#"{"output":[{"type":"function_call","call_id":"a","name":"get_order","arguments":"{}"}],"status":"completed"}"#;
    assert!(read(raw).is_err());
    assert_eq!(
        read_as(Family::OpenAiResponses, raw)
            .unwrap()
            .proposals()
            .len(),
        1
    );
}

#[test]
fn interactions_of_before_the_steps_are_read_too() {
    let raw = br#"{"id":"v1_a","object":"interaction","status":"requires_action","outputs":[
        {"type":"thought","signature":"x"},
        {"type":"function_call","id":"f1","name":"get_order","arguments":{}}]}"#;
    assert_snapshot!(describe(&read(raw).unwrap()));
}

#[test]
fn calls_answered_in_the_same_document_are_not_answered_again() {
    let raw = br#"{"id":"v1_a","object":"interaction","status":"requires_action","steps":[
        {"type":"user_input","content":[{"type":"text","text":"hello"}]},
        {"type":"function_call","id":"f1","name":"get_order","arguments":{}},
        {"type":"function_result","call_id":"f1","name":"get_order","result":"{}"},
        {"type":"function_call","id":"f2","name":"get_order","arguments":{}}]}"#;
    assert_snapshot!(describe(&read(raw).unwrap()));
}

#[test]
fn a_response_without_an_id_is_named_by_its_bytes() {
    let with_id = raw("gemini-generate-content-parallel");
    let without = str::from_utf8(with_id)
        .unwrap()
        .replace("responseId", "otherId");
    let first = read(without.as_bytes()).unwrap();
    let again = read(without.as_bytes()).unwrap();
    let changed = read(without.replace("ORDER-8", "ORDER-9").as_bytes()).unwrap();
    assert!(!first.has_given_response_id());
    assert_eq!(first.response_id(), again.response_id());
    assert_ne!(first.response_id(), changed.response_id());
    assert_eq!(
        first.response_id().as_str().len(),
        "response-sha256-".len() + 64
    );
}

#[test]
fn one_id_in_two_responses_names_two_calls() {
    let response = |id: &str| {
        format!(
            r#"{{"id":"{id}","type":"message","role":"assistant","stop_reason":"tool_use","content":[
                {{"type":"tool_use","id":"toolu_1","name":"get_order","input":{{}}}}]}}"#
        )
    };
    let first = read(response("msg_1").as_bytes()).unwrap();
    let second = read(response("msg_2").as_bytes()).unwrap();
    assert_eq!(first.proposals(), second.proposals());
    assert_ne!(first.response_id(), second.response_id());
}

#[test]
fn integers_of_any_size_are_exact() {
    let raw = br#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f",
        "args":{"a":9007199254740993,"b":123456789012345678901234567890,"c":-0.0,"d":1.0}}}]},"finishReason":"STOP"}]}"#;
    let turn = read(raw).unwrap();
    assert!(
        describe(&turn).contains(
            r#"{"a":9007199254740993,"b":123456789012345678901234567890,"c":-0.0,"d":1.0}"#
        )
    );
}
