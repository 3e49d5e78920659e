//! Raw responses to turns, and turns to answers.
#![no_main]

use std::collections::HashSet;

use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::{CallId, ResponseId, ToolName};
use countersign_providers::{
    Ending, Family, MAX_CALLS, Proposal, Refusal, Turn, detect, read, read_as,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let turn = read(input);
    assert_eq!(
        turn.is_ok(),
        turn.as_ref()
            .is_ok_and(|turn| detect(input) == Ok(turn.family()))
    );
    for family in Family::ALL {
        let named = read_as(family, input);
        match (&turn, &named) {
            (Ok(turn), Ok(named)) if turn.family() == family => assert_eq!(turn, named),
            (Ok(turn), Ok(_)) => panic!("{} is read as {family} too", turn.family()),
            (Ok(turn), Err(error)) => assert_ne!(turn.family(), family, "{error}"),
            (Err(_), Ok(named)) => check(named),
            (Err(_), Err(error)) => assert!(!error.to_string().is_empty()),
        }
    }
    if let Ok(turn) = &turn {
        check(turn);
    }
});

fn check(turn: &Turn) {
    assert!(turn.proposals().len() <= MAX_CALLS);
    let ids: HashSet<&CallId> = turn.proposals().iter().map(Proposal::call_id).collect();
    assert_eq!(ids.len(), turn.proposals().len(), "two calls share an id");
    ResponseId::new(turn.response_id().as_str()).expect("a response id is an identifier");
    for proposal in turn.proposals() {
        if let Some(call) = proposal.proposed() {
            ToolName::new(call.name().as_str()).expect("a name is an identifier");
            assert!(call.arguments().as_object().is_some());
            assert!(matches!(
                turn.ending(),
                Ending::Complete | Ending::Truncated
            ));
        }
    }
    check_answers(turn);
}

/// Every call is answered once, in order, and what comes out is no larger than its parts.
fn check_answers(turn: &Turn) {
    let mut answers = turn.answers();
    let open: Vec<CallId> = answers.open().cloned().collect();
    let proposed = turn
        .proposals()
        .iter()
        .filter(|call| call.proposed().is_some());
    assert_eq!(open.len(), proposed.count());
    for call in &open {
        answers
            .refuse(call, Refusal::OutsideDomain)
            .expect("an open call takes an answer");
        answers
            .refuse(call, Refusal::OutsideDomain)
            .expect_err("and one only");
    }
    let payload = answers.finish().expect("every call is answered");
    let Some(payload) = payload else {
        assert!(turn.proposals().is_empty());
        return;
    };
    let list = match turn.family() {
        Family::OpenAiResponses | Family::OpenAiChatCompletions => Some(&payload),
        Family::AnthropicMessages => payload.get("content"),
        Family::GeminiInteractions => payload.get("input"),
        Family::GeminiGenerateContent => payload.get("parts"),
    };
    let items = list.and_then(Value::as_array).expect("answers are a list");
    assert_eq!(items.len(), turn.proposals().len());
    for (item, proposal) in items.iter().zip(turn.proposals()) {
        let text = String::from_utf8(encode::<Utf8>(item)).expect("JSON is UTF-8");
        let reason = proposal.refusal().unwrap_or(Refusal::OutsideDomain);
        assert!(text.contains(reason.code()));
    }
}
