//! Documents from which no turn is read, and what the person who passed them is told.

use std::fmt::Write as _;

use countersign_providers::{Family, MAX_CALLS, MAX_ITEMS, RESPONSE_LIMITS, detect, read, read_as};
use insta::assert_snapshot;

#[test]
fn each_error_says_what_is_wrong() {
    let mut text = String::new();
    for (what, raw) in DOCUMENTS {
        let error = read(raw.as_bytes())
            .map(|turn| panic!("{what} was read: {turn:?}"))
            .unwrap_err();
        writeln!(text, "{what}\n    {error}").unwrap();
    }
    assert_snapshot!(text);
}

const DOCUMENTS: &[(&str, &str)] = &[
    ("nothing", ""),
    ("half a document", r#"{"id": "resp_1", "object": "respo"#),
    ("two documents", "{}\n{}"),
    (
        "a duplicate member",
        r#"{"object":"response","object":"response"}"#,
    ),
    ("a list", "[1]"),
    ("a string", r#""hello""#),
    ("an empty object", "{}"),
    (
        "somebody else's document",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ),
    (
        "members that are no words",
        r#"{"sk-secret with space":1,"x":2}"#,
    ),
    ("server-sent events", "event: message_start\ndata: {}\n\n"),
    (
        "server-sent data",
        "data: {\"id\":\"chatcmpl-1\"}\n\ndata: [DONE]\n",
    ),
    (
        "a chat chunk",
        r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{}}]}"#,
    ),
    (
        "a responses event",
        r#"{"type":"response.completed","response":{"object":"response"}}"#,
    ),
    (
        "an anthropic event",
        r#"{"type":"message_start","message":{"type":"message"}}"#,
    ),
    (
        "an anthropic delta",
        r#"{"type":"content_block_delta","index":0}"#,
    ),
    (
        "an interactions event",
        r#"{"event_type":"step.delta","index":0,"delta":{}}"#,
    ),
    (
        "a streamed gemini list",
        r#"[{"candidates":[]},{"candidates":[]}]"#,
    ),
    (
        "a gemini error in a list",
        r#"[{"error":{"code":429,"message":"key AIza…","status":"RESOURCE_EXHAUSTED"}}]"#,
    ),
    (
        "an openai error",
        r#"{"error":{"message":"Incorrect API key provided: sk-abc","type":"invalid_request_error","code":"invalid_api_key"}}"#,
    ),
    (
        "an anthropic error",
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
    ),
    (
        "a gemini error",
        r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#,
    ),
    ("an error as text", r#"{"error":"model not found"}"#),
    (
        "an error in a response",
        r#"{"id":"r","object":"response","status":"failed","output":[],"error":{"code":"server_error","message":"x"}}"#,
    ),
    (
        "a failed response without error",
        r#"{"id":"r","object":"response","status":"failed","output":[],"error":null}"#,
    ),
    (
        "a failed interaction",
        r#"{"id":"v1","object":"interaction","status":"failed","steps":[]}"#,
    ),
    (
        "marks of two families",
        r#"{"object":"response","type":"message","content":[],"output":[]}"#,
    ),
    (
        "a response in progress",
        r#"{"id":"r","object":"response","status":"in_progress","output":[]}"#,
    ),
    (
        "an interaction in progress",
        r#"{"id":"v1","object":"interaction","status":"in_progress"}"#,
    ),
    (
        "no choices",
        r#"{"id":"c","object":"chat.completion","choices":[]}"#,
    ),
    (
        "two choices",
        r#"{"object":"chat.completion","choices":[{"message":{}},{"message":{}}]}"#,
    ),
    ("no candidates", r#"{"candidates":[],"usageMetadata":{}}"#),
    ("three candidates", r#"{"candidates":[{},{},{}]}"#),
    (
        "a blocked prompt",
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{}}"#,
    ),
    (
        "an sdk's dump",
        r#"{"candidates":[{"content":{"parts":[]},"finish_reason":"STOP"}]}"#,
    ),
    (
        "an sdk's part",
        r#"{"candidates":[{"content":{"parts":[{"function_call":{"name":"f"}}]},"finishReason":"STOP"}]}"#,
    ),
    (
        "output that is no list",
        r#"{"object":"response","status":"completed","output":{}}"#,
    ),
    (
        "an item that is no object",
        r#"{"object":"response","status":"completed","output":["x"]}"#,
    ),
    (
        "an item without a type",
        r#"{"object":"response","status":"completed","output":[{"id":"x"}]}"#,
    ),
    (
        "a message without content",
        r#"{"object":"chat.completion","choices":[{"finish_reason":"stop"}]}"#,
    ),
    (
        "calls that are no list",
        r#"{"object":"chat.completion","choices":[{"message":{"tool_calls":{}},"finish_reason":"stop"}]}"#,
    ),
    (
        "a block that is no object",
        r#"{"type":"message","content":[[]],"stop_reason":"tool_use"}"#,
    ),
    (
        "steps and outputs",
        r#"{"object":"interaction","status":"completed","steps":[],"outputs":[]}"#,
    ),
    (
        "a blank response id",
        r#"{"type":"message","id":"  ","content":[],"stop_reason":"end_turn"}"#,
    ),
];

#[test]
fn an_id_of_256_characters_names_no_response() {
    let document = |length: usize| {
        let id = "é".repeat(length);
        format!(r#"{{"id":"{id}","type":"message","content":[],"stop_reason":"end_turn"}}"#)
    };
    assert!(read(document(255).as_bytes()).is_ok());
    let error = read(document(256).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the response's id must have at most 255 characters"
    );
}

#[test]
fn calls_and_items_are_bounded() {
    let message = |item: &str, count: usize| {
        let items = vec![item; count].join(",");
        format!(r#"{{"id":"m","type":"message","content":[{items}],"stop_reason":"tool_use"}}"#)
    };
    let call = r#"{"type":"tool_use","name":"f","input":{}}"#;
    assert!(read(message(call, MAX_CALLS).as_bytes()).is_ok());
    let error = read(message(call, MAX_CALLS + 1).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the response has more than 256 tool calls"
    );

    let text = r#"{"type":"text","text":""}"#;
    assert!(read(message(text, MAX_ITEMS).as_bytes()).is_ok());
    let error = read(message(text, MAX_ITEMS + 1).as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "the response has more than 4096 items");
}

#[test]
fn size_and_depth_are_bounded() {
    let document = |arguments: &str| {
        format!(
            r#"{{"id":"m","type":"message","content":[{{"type":"tool_use","id":"a","name":"f","input":{arguments}}}],"stop_reason":"tool_use"}}"#
        )
    };
    let deep = |levels: usize| {
        document(&format!(
            "{}{}",
            r#"{"a":"#.repeat(levels - 1) + "{",
            "}".repeat(levels)
        ))
    };
    assert_eq!(read(deep(128).as_bytes()).unwrap().proposals().len(), 1);
    let error = read(deep(160).as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("nested deeper than 144 levels"),
        "{error}"
    );

    let mut large = document("{}");
    large.push_str(&" ".repeat(RESPONSE_LIMITS.bytes - large.len()));
    assert!(read(large.as_bytes()).is_ok());
    large.push(' ');
    let error = read(large.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("longer than 16777216 bytes"),
        "{error}"
    );
}

#[test]
fn a_named_family_does_not_hide_an_error() {
    let raw = br#"{"error":{"type":"insufficient_quota","code":null}}"#;
    for family in Family::ALL {
        let error = read_as(family, raw).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the provider answered with an error (insufficient_quota)"
        );
    }
    assert!(detect(raw).is_err());
}
