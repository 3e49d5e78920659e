//! What a wrapped server does wrong: its caller hears so, others go on, the ledger is right, and memory stays small.

use serde_json::{Value, json};

use crate::mcp_client::{decide, handle, outcome};
use crate::workplace::Workplace;
use crate::wrap_faults_world::{
    asked, becomes, call, hear, is_small, is_sound, open, request, start, state, word,
};

const OBSERVE: &[&str] = &["--observe"];
const SHORT: &[&str] = &["--approval-wait", "0"];

fn raw(lines: &[&str]) -> Value {
    json!({"how": "raw", "lines": lines})
}

fn nested(depth: usize) -> String {
    let (before, after) = ("[".repeat(depth), "]".repeat(depth));
    format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":[],"x":{before}{after}}}}}"#)
}

/// Answers that are none: not strict JSON, too deep, of another form. One request hears so each time.
#[test]
fn an_answer_that_is_no_message_is_an_error_of_its_request_alone() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    let deep = nested(200);
    let cases = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":["#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":NaN}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":-Infinity}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"\ud800":1}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"a":1,"\u0061":2}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":1e400}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":["content"]}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"both"}}"#,
        r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
        &deep,
    ];
    for (number, line) in (10..).step_by(3).zip(cases) {
        let read = call(&mut client, number, "look", &raw(&[line]));
        let told: Value = serde_json::from_str(&read).unwrap();
        assert_eq!(told["error"]["code"], -32603, "{line}: {read}");
        let written = call(&mut client, number + 1, "act", &raw(&[line]));
        assert_eq!(word(&written), "OUTCOME_UNKNOWN", "{line}: {written}");
        assert_eq!(state(&place, &handle(&written)), "unknown", "{line}");
        let other = call(&mut client, number + 2, "look", &json!({}));
        assert!(other.contains("done"), "{other}");
    }
    assert_eq!(place.notes().len(), cases.len());
    is_sound(&place);
}

/// Whatever is strict JSON passes as it was written, and is kept so.
#[test]
fn odd_answers_pass_and_are_kept_byte_for_byte() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    let deep = nested(126);
    let cases = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"nul":"\u0000","\u0000":"a\u0000b"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":[9007199254740993,18446744073709551616,-9223372036854775809,1e300,0.10,-0.0]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"pair":"\ud83d\ude00","slash":"\/"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}"#,
        &deep,
    ];
    for (number, line) in (10..).step_by(2).zip(cases) {
        let read = call(&mut client, number, "look", &raw(&[line]));
        assert_eq!(read, line.replace("ID", &number.to_string()));
        let written = call(&mut client, number + 1, "act", &raw(&[line]));
        // Too deep for the library that the other tests read with.
        let (_, handle) = written.split_once(r#""status_ref":""#).expect(&written);
        let handle = handle.split('"').next().unwrap();
        assert_eq!(state(&place, handle), "succeeded", "{written}");
        let (_, content) = line.split_once(r#""result":{"#).unwrap();
        assert!(written.ends_with(content), "{written}");
        let shown = asked(&place, &["operations", "show", handle, "--json"]);
        assert_eq!(shown.code, 0, "{shown:?}");
    }
    is_sound(&place);
}

/// The structured content is held against the schema, and nothing else; an error is not.
#[test]
fn a_write_that_its_server_only_began_is_unknown() {
    let task = r#"{"jsonrpc":"2.0","id":ID,"result":{"task":{"taskId":"1","status":"working"}}}"#;
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    let told = call(&mut client, 10, "act", &raw(&[task]));
    assert_eq!(word(&told), "OUTCOME_UNKNOWN", "{told}");
    // A task that is part of what the tool returns is none of the protocol's.
    let own = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"task":{"status":"working"}}}"#;
    let told = call(&mut client, 11, "act", &raw(&[own]));
    assert_eq!(word(&told), "succeeded", "{told}");
    let kind =
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"task","content":[],"taskId":"1"}}"#;
    let place = Workplace::new();
    let mut client = start(&place, OBSERVE, &json!({"stateless": true}));
    let request = json!({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "act", "arguments": raw(&[kind]),
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}});
    client.say(&request.to_string());
    let told = hear(&client, 10);
    assert_eq!(word(&told), "OUTCOME_UNKNOWN", "{told}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn promises_are_held_against_what_was_promised() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    for (number, result, is_kept) in [
        (10, r#"{"content":[],"structuredContent":{"n":1}}"#, true),
        (
            20,
            r#"{"content":[],"structuredContent":{"n":123456789012345678901}}"#,
            true,
        ),
        (
            30,
            r#"{"content":[{"type":"text","text":"m3ssage"}],"isError":true}"#,
            true,
        ),
        (
            40,
            r#"{"content":[{"type":"text","text":"{\"n\":1}"}],"n":1}"#,
            false,
        ),
        (50, r#"{"content":[],"structuredContent":{"n":"1"}}"#, false),
        (60, r#"{"content":[],"structuredContent":null}"#, false),
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#);
        let read = call(&mut client, number, "promised_look", &raw(&[&line]));
        assert_eq!(
            read.contains("OUTPUT_CONTRACT_VIOLATION"),
            !is_kept,
            "{read}"
        );
        assert_eq!(read.contains(result), is_kept, "{read}");
        let written = call(&mut client, number + 1, "promised_act", &raw(&[&line]));
        if is_kept {
            assert_eq!(word(&written), "succeeded", "{written}");
            assert!(
                written.contains(result.trim_start_matches('{')),
                "{written}"
            );
        } else {
            assert!(
                ["OUTPUT_CONTRACT_VIOLATION", "OUTCOME_UNKNOWN"].contains(&word(&written).as_str()),
                "{written}"
            );
            assert_eq!(state(&place, &handle(&written)), "unknown");
        }
    }
}

/// A line without an end costs nobody memory.
fn a_huge_line_is_not_kept(tool: &str) {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    let huge = json!({"how": "huge", "bytes": 1_u64 << 30});
    let answer = call(&mut client, 10, tool, &huge);
    if tool == "look" {
        assert!(answer.contains(r#""error":{"code":-32603"#), "{answer}");
    } else {
        assert_eq!(word(&answer), "OUTCOME_UNKNOWN", "{answer}");
        assert_eq!(state(&place, &handle(&answer)), "unknown");
    }
    assert!(call(&mut client, 11, "look", &json!({})).contains("done"));
    is_small(client.child().id());
}

#[test]
fn a_read_s_answer_of_a_gigabyte_is_refused_and_not_kept() {
    a_huge_line_is_not_kept("look");
}

#[test]
fn a_write_s_answer_of_a_gigabyte_is_unknown_and_not_kept() {
    a_huge_line_is_not_kept("act");
}

/// Answers that never come, or to nobody.
#[test]
fn a_write_without_an_answer_is_unknown_and_holds_nobody_up() {
    let place = Workplace::new();
    let mut client = open(&place, &["--observe", "--call-timeout", "2"]);
    let silent = [
        json!({"how": "hang"}),
        raw(&["hello"]),
        raw(&[r#"{"jsonrpc":"2.0","id":"somebody else's","result":{"content":[]}}"#]),
        raw(&[r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}"#]),
        raw(&[r#"{"jsonrpc":"2.0","id":ID,"id":ID,"result":{"content":[]}}"#]),
    ];
    for (id, arguments) in (10..).zip(&silent) {
        client.say(&request(id, "act", arguments));
    }
    assert!(call(&mut client, 30, "look", &json!({})).contains("done"));
    let mut left: Vec<u32> = (10..15).collect();
    while !left.is_empty() {
        let told = client.hear();
        let told_json: Value = serde_json::from_str(&told).unwrap();
        if let Some(place_of) = left.iter().position(|id| told_json["id"] == *id) {
            left.remove(place_of);
            assert_eq!(word(&told), "OUTCOME_UNKNOWN", "{told}");
            assert_eq!(state(&place, &handle(&told)), "unknown");
        }
    }
    assert_eq!(place.notes().len(), silent.len());
    is_sound(&place);
}

/// A server that reads nothing any more: what has not gone out has not been done, and is said so.
#[test]
fn a_server_that_stops_reading_is_told_from_one_that_stops_answering() {
    let place = Workplace::new();
    let mut client = open(&place, &["--observe", "--call-timeout", "2"]);
    client.say(&request(10, "look", &json!({"how": "freeze"})));
    let filling = "x".repeat(128 * 1024);
    let sent = call(&mut client, 11, "act", &json!({"filling": filling}));
    assert_eq!(word(&sent), "OUTCOME_UNKNOWN", "{sent}");
    let unsent = call(&mut client, 12, "act", &json!({"n": 2}));
    assert_eq!(word(&unsent), "TIMEOUT_BEFORE_EXECUTE", "{unsent}");
    assert_eq!(state(&place, &handle(&unsent)), "failed");
    is_small(client.child().id());
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_a_write_leaves_it_unknown() {
    let place = Workplace::new();
    let mut client = open(&place, SHORT);
    let killed = json!({"how": "kill"});
    let waiting = call(&mut client, 10, "act", &killed);
    client.say(&request(11, "look", &json!({"how": "hang"})));
    decide(&place, "approve", &handle(&waiting));
    client.say(&request(12, "act", &killed));
    assert!(hear(&client, 11).contains("the server ended before it answered"));
    assert_eq!(client.child().wait().unwrap().code(), Some(128 + 9));
    becomes(&place, &handle(&waiting), "unknown");
    assert_eq!(place.notes().len(), 1);
    is_sound(&place);
}

/// A server's own child may live on, with the server's output open: that is no reason to wait for it.
#[test]
fn a_server_that_ends_has_ended_whoever_holds_its_output() {
    let place = Workplace::new();
    let mut client = start(&place, SHORT, &json!({"orphans": true}));
    client.initialize();
    client.say(&request(10, "look", &json!({"how": "hang"})));
    client.say(&request(11, "look", &json!({"how": "exit", "code": 3})));
    assert!(hear(&client, 10).contains("the server ended before it answered"));
    assert!(hear(&client, 11).contains("the server ended before it answered"));
    assert_eq!(client.child().wait().unwrap().code(), Some(3));
}

#[test]
fn a_server_whose_list_never_comes_keeps_nobody_waiting_for_others() {
    let place = Workplace::new();
    let mut client = start(&place, SHORT, &json!({"lists": "loops"}));
    client.initialize();
    for id in 10..20 {
        client.say(&request(id, "look", &json!({})));
    }
    for _ in 10..20 {
        let told = client.hear();
        assert!(
            told.contains("HOST_UNAVAILABLE") && told.contains("pages"),
            "{told}"
        );
    }
    is_small(client.child().id());
}

#[test]
fn a_list_of_ten_thousand_tools_is_refused_and_others_go_on() {
    let place = Workplace::new();
    let mut client = start(&place, SHORT, &json!({"count": 10_000, "page": 100}));
    client.initialize();
    let told = call(&mut client, 10, "tool1", &json!({}));
    assert!(told.contains("more than 4096 tools"), "{told}");
    client.say(r#"{"jsonrpc":"2.0","id":11,"method":"tools/list"}"#);
    let listed: Value = serde_json::from_str(&hear(&client, 11)).unwrap();
    assert_eq!(
        listed["result"]["tools"],
        json!([]),
        "what is not pinned is not shown"
    );
    client.say(r#"{"jsonrpc":"2.0","id":12,"method":"resources/list"}"#);
    assert!(hear(&client, 12).contains("-32601"));
    is_small(client.child().id());
}

/// Descriptions count as well, not only tools.
#[test]
fn a_list_of_endless_descriptions_is_refused_and_others_go_on() {
    let place = Workplace::new();
    let faults = json!({"count": 200, "page": 3, "padding": 1 << 20});
    let mut client = start(&place, SHORT, &faults);
    client.initialize();
    let told = call(&mut client, 10, "tool1", &json!({}));
    assert!(told.contains("HOST_UNAVAILABLE"), "{told}");
    assert!(told.contains("longer than"), "{told}");
    client.say(r#"{"jsonrpc":"2.0","id":12,"method":"resources/list"}"#);
    assert!(hear(&client, 12).contains("-32601"));
}

/// Names that clients take for one another, and the same name twice: none of them is called.
#[test]
fn tools_that_can_be_taken_for_each_other_are_out_of_service() {
    let place = Workplace::new();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools = ["a.b", "a_b", "A-B", "twice", "twice", "alone"].map(tool);
    let mut client = start(&place, OBSERVE, &json!({ "tools": tools }));
    client.initialize();
    for (id, name) in (10..).zip(["a.b", "a_b", "A-B", "twice"]) {
        let told = call(&mut client, id, name, &json!({}));
        assert!(told.contains("out of service"), "{name}: {told}");
    }
    assert_eq!(
        word(&call(&mut client, 20, "alone", &json!({}))),
        "succeeded"
    );
    assert_eq!(place.notes().len(), 1);
    // However often stock is taken anew, what stays wrong is said once.
    for id in (30..36).step_by(2) {
        let same = json!({"how": "relist", "tools": tools});
        call(&mut client, id, "alone", &same);
        call(&mut client, id + 1, "a.b", &json!({}));
    }
    let (_, stderr) = client.end();
    for name in ["A-B", "a.b", "a_b", "twice"] {
        let told = format!("{name}: out of service");
        assert_eq!(stderr.matches(&told).count(), 1, "{stderr}");
    }
}

/// What changes while a call waits: another tool comes, the tool goes, and comes back as it was.
#[test]
fn a_list_that_changes_under_a_waiting_call_decides_what_is_sent() {
    let place = Workplace::new();
    let mut client = open(&place, SHORT);
    let look = json!({"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let act = json!({"name": "act", "inputSchema": {"type": "object"}});
    let sly = json!({"name": "sly", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let waiting = call(&mut client, 10, "act", &json!({"n": 1}));
    call(
        &mut client,
        11,
        "look",
        &json!({"how": "relist", "tools": [look, sly]}),
    );
    let gone = call(&mut client, 12, "act", &json!({"n": 1}));
    assert!(gone.contains("-32602"), "{gone}");
    // It says that it reads; but it came later.
    let late = call(&mut client, 13, "sly", &json!({}));
    assert_eq!(word(&late), "APPROVAL_REQUIRED", "{late}");
    call(
        &mut client,
        14,
        "look",
        &json!({"how": "relist", "tools": [look, sly, act]}),
    );
    decide(&place, "approve", &handle(&waiting));
    let done = call(&mut client, 15, "act", &json!({"n": 1}));
    assert_eq!(word(&done), "succeeded", "{done}");
    assert_eq!(place.notes().len(), 1);
}

/// A server's requests have ids of their own, whatever its client's are.
#[test]
fn a_server_s_request_under_an_id_of_its_client_s_is_answered_late_and_mixed_up_with_nothing() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    let asks = raw(&[r#"{"jsonrpc":"2.0","id":ID,"method":"roots/list"}"#]);
    client.say(&request(10, "look", &asks));
    assert_eq!(
        client.hear(),
        r#"{"jsonrpc":"2.0","id":10,"method":"roots/list"}"#
    );
    // Others go on meanwhile, a write under way and all.
    assert_eq!(word(&call(&mut client, 11, "act", &json!({}))), "succeeded");
    client.say(r#"{"jsonrpc":"2.0","id":10,"result":{"roots":[]}}"#);
    let heard = client.hear_json();
    assert_eq!(heard["method"], "heard");
    assert_eq!(
        heard["params"]["line"],
        r#"{"jsonrpc":"2.0","id":10,"result":{"roots":[]}}"#
    );
    // Its own request is open all the while.
    let answers = raw(&[r#"{"jsonrpc":"2.0","id":UP,"result":{"content":[]}}"#]);
    client.say(&request(12, "look", &json!({})));
    assert!(hear(&client, 12).contains("done"));
    client.say(&request(
        13,
        "look",
        &raw(&[r#"{"jsonrpc":"2.0","id":10,"result":{"content":[]}}"#]),
    ));
    assert_eq!(
        client.hear(),
        r#"{"jsonrpc":"2.0","id":10,"result":{"content":[]}}"#
    );
    // Answered twice, and answered for somebody else: nobody hears that.
    client.say(&request(14, "look", &answers));
    client.say(&request(15, "look", &json!({})));
    assert_eq!(hear_next_id(&client), 13);
    assert_eq!(hear_next_id(&client), 15);
}

fn hear_next_id(client: &crate::mcp_client::Client) -> Value {
    client.hear_json()["id"].clone()
}

#[test]
fn what_a_write_did_is_kept_for_the_next_process_byte_for_byte() {
    let place = Workplace::new();
    let mut client = open(&place, SHORT);
    let line = r#"{"jsonrpc":"2.0","id":ID,"result":{ "nul":"\u0000","n":18446744073709551617,"content":[]}}"#;
    let arguments = json!({"how": "raw", "lines": [line], "filling": "é\u{0}".repeat(12_000)});
    let waiting = call(&mut client, 10, "act", &arguments);
    decide(&place, "approve", &handle(&waiting));
    let done = call(&mut client, 11, "act", &arguments);
    assert_eq!(word(&done), "succeeded", "{done}");
    client.kill();
    let mut client = open(&place, SHORT);
    let again = call(&mut client, 12, "act", &arguments);
    assert_eq!(outcome(&again)["delivery"], "local_replay", "{again}");
    let tail = r#""nul":"\u0000","n":18446744073709551617,"content":[]}}"#;
    assert!(done.ends_with(tail) && again.ends_with(tail), "{again}");
    let notes = place.notes();
    assert_eq!(notes.len(), 1);
    let sent = serde_json::to_string(&arguments).unwrap();
    assert!(sent.len() > 70_000, "{}", sent.len());
    assert!(
        notes[0].ends_with(&format!("\"arguments\":{sent}}}}}")),
        "as it was written"
    );
    is_sound(&place);
}
