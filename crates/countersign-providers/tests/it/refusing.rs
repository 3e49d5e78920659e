//! Calls that are found but not let in, and why.

use std::fmt::Write as _;

use countersign_providers::{Refusal, read};
use insta::assert_snapshot;

use crate::sample::describe;

#[test]
fn openai_responses() {
    let whole = |status: &str, details: &str, items: &str| {
        format!(
            r#"{{"id":"r","object":"response","status":"{status}","incomplete_details":{details},"output":[{items}]}}"#
        )
    };
    let call =
        |members: &str| format!(r#"{{"type":"function_call","call_id":"a","name":"f",{members}}}"#);
    let message = r#"{"type":"message","role":"assistant","status":"incomplete","content":[]}"#;
    let ok = call(r#""arguments":"{}""#);
    let length = r#"{"reason":"max_output_tokens"}"#;
    check(
        "openai_responses",
        &[
            (
                "cut arguments",
                whole("completed", "null", &call(r#""arguments":"{\"a\":""#)),
            ),
            (
                "arguments as an object",
                whole("completed", "null", &call(r#""arguments":{}"#)),
            ),
            (
                "no arguments",
                whole("completed", "null", &call(r#""status":"completed""#)),
            ),
            (
                "arguments in a string in a string",
                whole("completed", "null", &call(r#""arguments":"\"{}\"""#)),
            ),
            (
                "an incomplete item",
                whole(
                    "completed",
                    "null",
                    &call(r#""arguments":"{}","status":"incomplete""#),
                ),
            ),
            (
                "another namespace",
                whole(
                    "completed",
                    "null",
                    &call(r#""arguments":"{}","namespace":"crm""#),
                ),
            ),
            (
                "no id",
                whole(
                    "completed",
                    "null",
                    r#"{"type":"function_call","name":"f","arguments":"{}"}"#,
                ),
            ),
            (
                "no name",
                whole(
                    "completed",
                    "null",
                    r#"{"type":"function_call","call_id":"a","arguments":"{}"}"#,
                ),
            ),
            (
                "one id twice",
                whole(
                    "completed",
                    "null",
                    &format!("{ok},{ok},{}", ok.replace(r#""a""#, r#""b""#)),
                ),
            ),
            (
                "a length limit at the call",
                whole("incomplete", length, &ok),
            ),
            (
                "a length limit behind the call",
                whole("incomplete", length, &format!("{ok},{message}")),
            ),
            (
                "a filter",
                whole(
                    "incomplete",
                    r#"{"reason":"content_filter"}"#,
                    &format!("{ok},{message}"),
                ),
            ),
            (
                "steered away",
                whole(
                    "incomplete",
                    r#"{"reason":"steered"}"#,
                    &format!("{ok},{message}"),
                ),
            ),
            (
                "cancelled",
                whole("cancelled", "null", &format!("{ok},{message}")),
            ),
            ("a new status", whole("paused", "null", &ok)),
        ],
    );
}

#[test]
fn openai_chat_completions() {
    let whole = |finish: &str, message: &str| {
        format!(
            r#"{{"id":"c","object":"chat.completion","choices":[{{"finish_reason":{finish},"message":{{"role":"assistant",{message}}}}}]}}"#
        )
    };
    let calls = |finish: &str, calls: &str| whole(finish, &format!(r#""tool_calls":[{calls}]"#));
    let ok = r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let other = ok.replace(r#""a""#, r#""b""#);
    let with = |members: &str| format!(r#"{{"id":"a",{members}}}"#);
    check(
        "openai_chat_completions",
        &[
            (
                "empty arguments",
                calls(r#""tool_calls""#, &ok.replace("{}", "")),
            ),
            (
                "arguments as an object",
                calls(r#""tool_calls""#, &ok.replace(r#""{}""#, "{}")),
            ),
            (
                "arguments that are a list",
                calls(r#""tool_calls""#, &ok.replace("{}", "[]")),
            ),
            (
                "a custom tool",
                calls(
                    r#""tool_calls""#,
                    &with(r#""type":"custom","custom":{"name":"sql","input":"x"}"#),
                ),
            ),
            (
                "a new type",
                calls(r#""tool_calls""#, &with(r#""type":"shell","shell":{}"#)),
            ),
            (
                "a function that is no object",
                calls(
                    r#""tool_calls""#,
                    &with(r#""type":"function","function":"f""#),
                ),
            ),
            (
                "an empty id",
                calls(r#""tool_calls""#, &ok.replace(r#""a""#, r#""""#)),
            ),
            (
                "a length limit",
                calls(r#""length""#, &format!("{ok},{other}")),
            ),
            (
                "a filter",
                calls(r#""content_filter""#, &format!("{ok},{other}")),
            ),
            ("no reason", calls("null", ok)),
            ("a new reason", calls(r#""error""#, ok)),
            (
                "a call of before tools",
                whole(
                    r#""function_call""#,
                    r#""function_call":{"name":"f","arguments":"{}"}"#,
                ),
            ),
            (
                "a call of before tools behind others",
                whole(
                    r#""length""#,
                    &format!(
                        r#""tool_calls":[{ok}],"function_call":{{"name":"f","arguments":"{{}}"}}"#
                    ),
                ),
            ),
        ],
    );
}

#[test]
fn anthropic_messages() {
    let whole = |stop: &str, content: &str| {
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","content":[{content}],"stop_reason":{stop}}}"#
        )
    };
    let ok = r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#;
    let other = ok.replace(r#""a""#, r#""b""#);
    let text = r#"{"type":"text","text":"And"}"#;
    check(
        "anthropic_messages",
        &[
            (
                "input as a string",
                whole(r#""tool_use""#, &ok.replace("{}", r#""{}""#)),
            ),
            (
                "input as a list",
                whole(r#""tool_use""#, &ok.replace("{}", "[]")),
            ),
            (
                "no input",
                whole(r#""tool_use""#, &ok.replace(r#","input":{}"#, "")),
            ),
            (
                "a toolset",
                whole(
                    r#""tool_use""#,
                    &ok.replace(r#""input""#, r#""toolset_name":"browser","input""#),
                ),
            ),
            (
                "a toolset that is no text",
                whole(
                    r#""tool_use""#,
                    &ok.replace(r#""input""#, r#""toolset_name":7,"input""#),
                ),
            ),
            (
                "one id twice",
                whole(r#""tool_use""#, &format!("{ok},{ok}")),
            ),
            (
                "a length limit",
                whole(r#""max_tokens""#, &format!("{ok},{other}")),
            ),
            (
                "a length limit in text",
                whole(r#""max_tokens""#, &format!("{ok},{other},{text}")),
            ),
            (
                "a full window",
                whole(r#""model_context_window_exceeded""#, ok),
            ),
            ("a stop sequence", whole(r#""stop_sequence""#, ok)),
            ("a refusal", whole(r#""refusal""#, &format!("{ok},{text}"))),
            ("a pause", whole(r#""pause_turn""#, &format!("{ok},{text}"))),
            ("no reason", whole("null", ok)),
            (
                "a new block",
                whole(
                    r#""tool_use""#,
                    r#"{"type":"robot_use","id":"a","name":"f","input":{}}"#,
                ),
            ),
        ],
    );
}

#[test]
fn gemini_interactions() {
    let whole = |status: &str, steps: &str| {
        format!(r#"{{"id":"v1","object":"interaction","status":"{status}","steps":[{steps}]}}"#)
    };
    let ok = r#"{"type":"function_call","id":"a","name":"f","arguments":{}}"#;
    let text = r#"{"type":"model_output","content":[]}"#;
    check(
        "gemini_interactions",
        &[
            (
                "arguments as a string",
                whole("requires_action", &ok.replace("{}", r#""{}""#)),
            ),
            (
                "no id",
                whole("requires_action", &ok.replace(r#""id":"a","#, "")),
            ),
            ("a length limit", whole("incomplete", ok)),
            (
                "a length limit in text",
                whole("incomplete", &format!("{ok},{text}")),
            ),
            ("to be continued", whole("requires_continuation", ok)),
            ("over budget", whole("budget_exceeded", ok)),
            ("cancelled", whole("cancelled", &format!("{ok},{text}"))),
            ("idle", whole("idle", ok)),
            (
                "tools of the provider",
                whole(
                    "requires_action",
                    &format!(
                        r#"{{"type":"mcp_server_tool_call","id":"m","name":"f","server_name":"s","arguments":{{}}}},{{"type":"mcp_server_tool_result","call_id":"m"}},{{"type":"new_call","id":"n"}},{ok}"#
                    ),
                ),
            ),
        ],
    );
}

#[test]
fn gemini_generate_content() {
    let whole = |finish: &str, parts: &str| {
        format!(
            r#"{{"responseId":"g","candidates":[{{"content":{{"role":"model","parts":[{parts}]}}{finish}}}]}}"#
        )
    };
    let stop = r#","finishReason":"STOP""#;
    let call = |members: &str| format!(r#"{{"functionCall":{{{members}}}}}"#);
    let ok = call(r#""name":"f","args":{}"#);
    let text = r#"{"text":"And"}"#;
    check(
        "gemini_generate_content",
        &[
            ("no arguments at all", whole(stop, &call(r#""name":"f""#))),
            (
                "arguments as a string",
                whole(stop, &call(r#""name":"f","args":"{}""#)),
            ),
            (
                "null arguments",
                whole(stop, &call(r#""name":"f","args":null"#)),
            ),
            ("no name", whole(stop, &call(r#""args":{}"#))),
            (
                "a call that is no object",
                whole(stop, r#"{"functionCall":"f"}"#),
            ),
            (
                "an id that is no text",
                whole(stop, &call(r#""id":7,"name":"f","args":{}"#)),
            ),
            (
                "partial arguments",
                whole(
                    stop,
                    &call(r#""name":"f","partialArgs":[{"jsonPath":"$.a"}],"willContinue":true"#),
                ),
            ),
            (
                "ids that look like ours",
                whole(
                    stop,
                    &format!(
                        "{ok},{},{ok},{}",
                        call(r#""id":"call-0","name":"g""#),
                        call(r#""id":"call-2","name":"h""#)
                    ),
                ),
            ),
            (
                "one id twice",
                whole(
                    stop,
                    &format!("{0},{ok},{0}", call(r#""id":"call-0","name":"g""#)),
                ),
            ),
            (
                "a length limit",
                whole(r#","finishReason":"MAX_TOKENS""#, &format!("{ok},{ok}")),
            ),
            (
                "a length limit in text",
                whole(r#","finishReason":"MAX_TOKENS""#, &format!("{ok},{text}")),
            ),
            (
                "to be continued",
                whole(r#","finishReason":"CONTINUATION""#, &ok),
            ),
            (
                "a filter",
                whole(r#","finishReason":"SAFETY""#, &format!("{ok},{text}")),
            ),
            (
                "a malformed call",
                whole(r#","finishReason":"MALFORMED_FUNCTION_CALL""#, &ok),
            ),
            ("no reason", whole("", &ok)),
            (
                "nothing but a reason",
                r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#.to_owned(),
            ),
            (
                "tools of the provider",
                whole(
                    stop,
                    &format!(
                        r#"{{"executableCode":{{"code":"1"}}}},{{"codeExecutionResult":{{}}}},{{"toolCall":{{"toolType":"GOOGLE_SEARCH"}}}},{{"robotCall":{{}}}},{ok}"#
                    ),
                ),
            ),
        ],
    );
}

#[test]
fn the_catalog_is_fixed() {
    let mut text = String::new();
    for refusal in Refusal::ALL {
        writeln!(text, "{}", refusal.text()).unwrap();
    }
    assert_snapshot!(text);
}

fn check(name: &str, cases: &[(&str, String)]) {
    let mut text = String::new();
    for (what, raw) in cases {
        let turn = read(raw.as_bytes()).unwrap_or_else(|error| panic!("{what}: {error}\n{raw}"));
        let lines = describe(&turn);
        writeln!(text, "{what}").unwrap();
        for line in lines.lines().filter(|line| !line.starts_with("response ")) {
            writeln!(text, "    {line}").unwrap();
        }
    }
    assert_snapshot!(name, text);
}
