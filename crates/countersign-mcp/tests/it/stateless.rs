//! What 2026-07-28 added, read and written.

use countersign_mcp::stateless::{
    self, Ask, ClientCapabilities, InputRequest, InputRequired, InputResponses, Introduction,
    LogLevel, MetaError, RequestMeta, ResultType, RoundError,
};
use countersign_mcp::{Message, Opening, RequestId, Version, write};

fn message(text: &str) -> Message {
    Message::read(text.as_bytes()).unwrap()
}

fn request(params: &str) -> Message {
    message(&write::request(
        &RequestId::Integer("1".into()),
        "tools/call",
        params,
    ))
}

const SENDER: &str = r#"{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c" ,"version":"1"},
    "io.modelcontextprotocol/clientCapabilities":{ "elicitation":{} },
    "io.modelcontextprotocol/logLevel":"warning","progressToken":7}}"#;

#[test]
fn a_request_says_who_sends_it() {
    let message = request(SENDER);
    let meta = RequestMeta::read(message.params().as_ref()).unwrap();
    assert_eq!(meta.client_info(), Some(r#"{"name":"c" ,"version":"1"}"#));
    assert_eq!(meta.capabilities().text(), r#"{ "elicitation":{} }"#);
    assert_eq!(meta.log_level(), Some(LogLevel::Warning));
    let written = meta
        .with_log_level(None)
        .written_into(r#"{"n":1.0 ,"_meta":{"io.modelcontextprotocol/logLevel":"debug","a":2}}"#);
    assert_eq!(
        written,
        concat!(
            r#"{"n":1.0 ,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"c" ,"version":"1"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{ "elicitation":{} },"a":2}}"#
        )
    );
}

#[test]
fn a_request_that_says_too_little_or_something_else_is_refused_with_the_code_for_it() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    for (meta, code) in [
        (String::new(), Some(-32602)),
        (version.to_owned(), Some(-32602)),
        (capabilities.to_owned(), Some(-32602)),
        (format!("{version},{capabilities}"), None),
        (
            format!("{capabilities},{}", version.replace("2026", "2025")),
            Some(-32022),
        ),
        (
            format!("{version},{}", capabilities.replace("{}", "[]")),
            Some(-32602),
        ),
        (
            format!(
                "{version},{capabilities},\"io.modelcontextprotocol/clientInfo\":{{\"name\":\"x\"}}"
            ),
            Some(-32602),
        ),
        (
            format!("{version},{capabilities},\"io.modelcontextprotocol/logLevel\":\"loud\""),
            Some(-32602),
        ),
        (
            format!(
                "{version},{capabilities},\"long\":\"{}\"",
                "x".repeat(stateless::MAX_META_BYTES)
            ),
            Some(-32602),
        ),
    ] {
        let message = request(&format!("{{\"_meta\":{{{meta}}}}}"));
        let read = RequestMeta::read(message.params().as_ref());
        let id = RequestId::Integer("1".into());
        let answer = read
            .err()
            .map(|error| self::message(&error.answer(&id, &[Version::V2026_07_28])));
        let found = answer.map(|answer| {
            answer
                .error()
                .unwrap()
                .value()
                .get("code")
                .unwrap()
                .as_i64()
                .unwrap()
        });
        assert_eq!(found, code, "{meta}");
    }
    assert_eq!(RequestMeta::read(None), Err(MetaError::Missing));
}

#[test]
fn the_codes_come_with_their_data() {
    let id = RequestId::Text("a".into());
    assert_eq!(
        stateless::unsupported_version(
            Some(&id),
            "1900-01-01",
            &[Version::V2026_07_28, Version::V2025_11_25]
        ),
        concat!(
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32022,"message":"unsupported protocol version","#,
            r#""data":{"supported":["2026-07-28","2025-11-25"],"requested":"1900-01-01"}}}"#
        )
    );
    assert!(
        stateless::unsupported_version(None, "<script>", &[])
            .contains(r#""data":{"supported":[],"requested":""}"#)
    );
    let missing = message(&stateless::missing_capability(Some(&id), Ask::Url.needs()));
    let error = missing.error().unwrap();
    assert_eq!(
        error
            .value()
            .get("code")
            .and_then(countersign_canonical::Value::as_i64),
        Some(-32021)
    );
    assert_eq!(
        error.member("data").unwrap().text(),
        r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#
    );
    let mismatch = message(&stateless::header_mismatch(None, "the header differs"));
    assert!(mismatch.text().contains("\"code\":-32020"));
}

#[test]
fn the_first_message_says_how_its_client_speaks() {
    for (text, opening) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
            Some(Opening::Handshake),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
            Some(Opening::EachRequest),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}"#,
            Some(Opening::EachRequest),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":1}}}"#,
            None,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
    ] {
        assert_eq!(stateless::opening(&message(text)), opening, "{text}");
    }
}

#[test]
fn results_get_what_the_version_requires_and_keep_the_rest() {
    let info = r#"{"name":"s","version":"1"}"#;
    for (method, server_info, before, after) in [
        (
            "tools/call",
            None,
            r#"{ "content":[],"n":1e0}"#,
            r#"{"resultType":"complete", "content":[],"n":1e0}"#,
        ),
        (
            "tools/list",
            None,
            r#"{"tools":[]}"#,
            r#"{"resultType":"complete","cacheScope":"private","ttlMs":0,"tools":[]}"#,
        ),
        (
            "resources/read",
            Some(info),
            r#"{"ttlMs":5,"cacheScope":"public","resultType":"complete","contents":[],"_meta":{"a":1}}"#,
            r#"{"ttlMs":5,"cacheScope":"public","resultType":"complete","contents":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"a":1}}"#,
        ),
        // What looks like asking back in a version without it does not ask back.
        (
            "tools/call",
            None,
            r#"{"resultType":"input_required","requestState":"forged"}"#,
            r#"{"resultType":"complete","requestState":"forged"}"#,
        ),
        (
            "prompts/list",
            None,
            r#"{"ttlMs":-1,"cacheScope":7}"#,
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#,
        ),
    ] {
        let done = stateless::complete(method, before, server_info);
        assert_eq!(done, after, "{before}");
        assert_eq!(stateless::complete(method, &done, server_info), done);
    }
}

#[test]
fn earlier_versions_get_objects_or_nothing() {
    for (method, before, after) in [
        (
            "tools/list",
            r#"{"tools":[ {"name":"a","outputSchema":{"type":"array"},"n":1.0} , {"name":"b","outputSchema":{ "type":"object"}}, {"name":"c"}],"nextCursor":"x"}"#,
            r#"{"tools":[ {"name":"a","n":1.0} , {"name":"b","outputSchema":{ "type":"object"}}, {"name":"c"}],"nextCursor":"x"}"#,
        ),
        ("tools/list", r#"{"tools":7}"#, r#"{"tools":7}"#),
        (
            "tools/call",
            r#"{"content":[ ],"structuredContent":[1.0],"isError":false}"#,
            r#"{"content":[ ],"isError":false}"#,
        ),
        (
            "tools/call",
            r#"{ "content":[],"structuredContent":{"a":[1.0]}}"#,
            r#"{ "content":[],"structuredContent":{"a":[1.0]}}"#,
        ),
        (
            "prompts/get",
            r#"{"structuredContent":1}"#,
            r#"{"structuredContent":1}"#,
        ),
    ] {
        assert_eq!(stateless::for_earlier_versions(method, before), after);
    }
}

#[test]
fn asking_back_is_read_and_written() {
    let asked = InputRequired {
        requests: vec![
            InputRequest {
                key: "a\"b".to_owned(),
                ask: Ask::Form,
                method: "elicitation/create".to_owned(),
                params: Some(r#"{"message":"?" ,"requestedSchema":{}}"#.to_owned()),
            },
            InputRequest {
                key: "r".to_owned(),
                ask: Ask::Roots,
                method: "roots/list".to_owned(),
                params: None,
            },
        ],
        state: Some("s\u{0}".to_owned()),
    };
    let text = asked.to_result();
    assert_eq!(
        text,
        concat!(
            r#"{"resultType":"input_required","inputRequests":{"a\"b":{"method":"elicitation/create","#,
            r#""params":{"message":"?" ,"requestedSchema":{}}},"r":{"method":"roots/list"}},"requestState":"s\u0000"}"#
        )
    );
    let answer = message(&write::result(&RequestId::Integer("1".into()), &text));
    let result = answer.result().unwrap();
    assert_eq!(ResultType::of(result.value()), ResultType::InputRequired);
    assert_eq!(InputRequired::read(&result).unwrap(), asked);

    let again = request(
        r#"{"name":"x","inputResponses":{"a\"b":{"action":"accept" }},"requestState":"s"}"#,
    );
    let brought = InputResponses::read(&again.params().unwrap())
        .unwrap()
        .unwrap();
    assert_eq!(
        brought.responses,
        [("a\"b".to_owned(), r#"{"action":"accept" }"#.to_owned())]
    );
    assert_eq!(brought.state.as_deref(), Some("s"));
    assert_eq!(brought.to_json(), r#"{"a\"b":{"action":"accept" }}"#);
    let plain = request(r#"{"name":"x"}"#);
    assert_eq!(InputResponses::read(&plain.params().unwrap()), Ok(None));
}

#[test]
fn asking_back_that_is_none_is_refused() {
    let many: Vec<_> = (0..=stateless::MAX_INPUT_REQUESTS)
        .map(|number| format!("\"{number}\":{{\"method\":\"roots/list\"}}"))
        .collect();
    for (text, error) in [
        ("{}".to_owned(), RoundError::Malformed),
        (r#"{"requestState":1}"#.to_owned(), RoundError::Malformed),
        (r#"{"inputRequests":[]}"#.to_owned(), RoundError::Malformed),
        (
            r#"{"inputRequests":{"a":{"method":"tools/call"}}}"#.to_owned(),
            RoundError::Malformed,
        ),
        (
            format!("{{\"inputRequests\":{{{}}}}}", many.join(",")),
            RoundError::TooMuch,
        ),
        (
            format!(
                "{{\"requestState\":\"{}\"}}",
                "x".repeat(stateless::MAX_REQUEST_STATE_BYTES + 1)
            ),
            RoundError::TooMuch,
        ),
    ] {
        let answer = message(&write::result(&RequestId::Integer("1".into()), &text));
        assert_eq!(
            InputRequired::read(&answer.result().unwrap()),
            Err(error),
            "{text:.80}"
        );
    }
}

#[test]
fn capabilities_offer_what_they_say() {
    let form = Ask::Form;
    let sampling = Ask::Sampling { with_tools: false };
    let tools = Ask::Sampling { with_tools: true };
    for (text, offered) in [
        ("{}", vec![]),
        (r#"{"elicitation":{}}"#, vec![form]),
        (r#"{"elicitation":{"url":{}}}"#, vec![Ask::Url]),
        (
            r#"{"elicitation":{"url":{},"form":{}}}"#,
            vec![form, Ask::Url],
        ),
        (r#"{"sampling":{},"roots":{}}"#, vec![sampling, Ask::Roots]),
        (r#"{"sampling":{"tools":{}}}"#, vec![sampling, tools]),
    ] {
        let capabilities = ClientCapabilities::read(text).unwrap();
        let found: Vec<_> = [form, Ask::Url, sampling, tools, Ask::Roots]
            .into_iter()
            .filter(|ask| capabilities.offers(*ask))
            .collect();
        assert_eq!(found, offered, "{text}");
    }
    let capabilities = ClientCapabilities::read(
        r#"{ "roots":{"listChanged":true},"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{"x":1.0}}}"#,
    );
    assert_eq!(
        capabilities.unwrap().across_versions(),
        r#"{"roots":{},"extensions":{"a/b":{"x":1.0}}}"#
    );
}

#[test]
fn a_server_introduces_itself_to_both_kinds_of_clients() {
    let answer = message(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{ "tools":{"listChanged":true},"tasks":{}},"serverInfo":{"name":"s","version":"1"},"instructions":"Do\n"}}"#,
    );
    let introduction = Introduction::of_initialize(&answer.result().unwrap()).unwrap();
    assert!(introduction.has_part("tools", "listChanged") && !introduction.has("prompts"));
    let discovered = introduction.to_discover(&[Version::V2026_07_28]);
    assert_eq!(
        discovered,
        concat!(
            r#"{"resultType":"complete","cacheScope":"private","ttlMs":0,"#,
            r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},"#,
            r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"Do\n"}"#
        )
    );
    let answer = message(&write::result(&RequestId::Integer("2".into()), &discovered));
    let again = Introduction::of_discover(&answer.result().unwrap()).unwrap();
    assert_eq!(
        again.to_initialize(Version::V2025_03_26),
        concat!(
            r#"{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":true}},"#,
            r#""serverInfo":{"name":"s","version":"1"},"instructions":"Do\n"}"#
        )
    );
}

#[test]
fn a_session_s_version_is_the_one_asked_for_or_the_newest() {
    assert_eq!(Version::for_session("2024-11-05"), Version::V2024_11_05);
    assert_eq!(Version::for_session("2026-07-28"), Version::V2025_11_25);
    assert_eq!(Version::for_session("2199-01-01"), Version::V2025_11_25);
    assert_eq!(
        write::with_protocol_version(
            r#"{ "protocolVersion" : "2025-11-25","capabilities":{}}"#,
            Version::V2025_03_26
        ),
        r#"{ "protocolVersion" : "2025-03-26","capabilities":{}}"#
    );
}
