//! Clients that speak sessions in front of servers of 2026-07-28.

use countersign_mcp::bridge::{Bridge as _, MAX_ROUNDS, ToStateless};
use countersign_mcp::stateless::Introduction;
use countersign_mcp::{RequestId, Version};

use crate::bridge::{Between, message, shown};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"tasks":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const SENDER: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"roots":{}}}"#;
const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}},"instructions":"i","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}}}"#;

fn closed() -> Between<ToStateless> {
    Between {
        bridge: ToStateless::new(None),
    }
}

/// A bridge with an open session; its next id is 2.
fn open() -> Between<ToStateless> {
    let mut between = closed();
    assert_eq!(
        between.client(INITIALIZE),
        [format!(
            r#"> {{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{SENDER}}}}}"#
        )]
    );
    assert_eq!(
        between.server(DISCOVERED),
        [
            r#"< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"2"},"instructions":"i"}}"#
        ]
    );
    between
}

#[test]
fn a_session_is_opened_from_what_the_server_says_of_itself() {
    let between = open();
    let (introduction, version) = between.bridge.server().unwrap();
    assert_eq!(version, Version::V2026_07_28);
    assert_eq!(
        introduction.server_info(),
        Some(r#"{"name":"s","version":"2"}"#)
    );

    // Where that is known before, nobody is asked.
    let answer = message(DISCOVERED);
    let introduction = Introduction::of_discover(&answer.result().unwrap());
    let mut between = Between {
        bridge: ToStateless::new(introduction),
    };
    let older = INITIALIZE.replace("2025-11-25", "2024-11-05");
    let steps = between.client(&older);
    assert_eq!(steps.len(), 1);
    assert!(
        steps[0]
            .starts_with(r#"< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","#)
    );
    assert_eq!(
        between.client(INITIALIZE),
        [
            r#"< {"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"the session has been initialized already"}}"#
        ]
    );
}

#[test]
fn a_server_that_cannot_be_understood_opens_no_session() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2099-01-01"],"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#,
    ] {
        let mut between = closed();
        between.client(INITIALIZE);
        assert_eq!(
            between.server(answer),
            [
                r#"< {"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"the server does not serve a protocol version that is understood"}}"#
            ]
        );
        assert_eq!(between.client(INITIALIZE).len(), 1);
    }
    let mut between = closed();
    assert_eq!(
        between.client(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#),
        [
            r#"< {"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"the session is not open: initialize it first"}}"#
        ]
    );
    assert_eq!(
        between.client(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#),
        [r#"< {"jsonrpc":"2.0","id":"p","result":{}}"#]
    );
}

#[test]
fn requests_say_who_sends_them_and_results_pass_as_they_are() {
    let mut between = open();
    assert_eq!(
        between.client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{ "name":"x","arguments":{"big":123456789012345678901},"requestState":"mine","_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"1"}}}"#),
        [format!(
            r#"> {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"x","arguments":{{"big":123456789012345678901}},{}"progressToken":"p"}}}}}}"#,
            SENDER.trim_end_matches('}').to_owned() + "}},"
        )]
    );
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0}}"#;
    assert_eq!(between.server(progress), [format!("< {progress}")]);
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"structuredContent":{"n": 1e1}}}"#),
        [r#"< {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"structuredContent":{"n": 1e1}}}"#]
    );
    assert!(between.server(progress).is_empty());
    // An unknown kind of result is none, nor is one that asks back where nothing may.
    for (method, result) in [
        ("tools/call", r#"{"resultType":"task","taskId":"1"}"#),
        (
            "tools/list",
            r#"{"resultType":"input_required","requestState":"s"}"#,
        ),
        ("tools/call", r#"{"resultType":"input_required"}"#),
    ] {
        let mut between = open();
        between.client(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#
        ));
        let steps = between.server(&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#));
        assert_eq!(steps.len(), 1);
        assert!(
            steps[0].starts_with(r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#),
            "{steps:?}"
        );
    }
}

#[test]
fn what_the_server_asks_becomes_requests_and_their_answers_the_request_once_more() {
    let mut between = open();
    between.client(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{ }}}"#,
    );
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?" ,"requestedSchema":{}}},"b":{"method":"elicitation/create","params":{"mode":"url","url":"https://a","message":"!"}},"c":{"method":"roots/list"}},"requestState":"s\u0000"}}"#),
        [
            r#"< {"jsonrpc":"2.0","id":"countersign-ask-4","method":"elicitation/create","params":{"message":"?" ,"requestedSchema":{}}}"#,
            r#"< {"jsonrpc":"2.0","id":"countersign-ask-5","method":"elicitation/create","params":{"elicitationId":"countersign-ask-5","mode":"url","url":"https://a","message":"!"}}"#,
            r#"< {"jsonrpc":"2.0","id":"countersign-ask-6","method":"roots/list","params":{}}"#,
        ]
    );
    for answer in [
        r#"{"jsonrpc":"2.0","id":"countersign-ask-5","error":{"code":-1,"message":"closed"}}"#,
        r#"{"jsonrpc":"2.0","id":"countersign-ask-9","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"countersign-ask-6","result":{"roots":[ ]}}"#,
    ] {
        assert!(between.client(answer).is_empty());
    }
    assert_eq!(
        between.client(
            r#"{"jsonrpc":"2.0","id":"countersign-ask-4","result":{"action":"accept","content":{"n":1.0}}}"#
        ),
        [format!(
            r#"> {{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"inputResponses":{{"b":{{"action":"cancel"}},"c":{{"roots":[ ]}},"a":{{"action":"accept","content":{{"n":1.0}}}}}},"requestState":"s\u0000",{SENDER},"name":"x","arguments":{{ }}}}}}"#
        )]
    );
    // It asks again, without any question: the request goes out at once.
    let state = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","requestState":"t"}}}}"#
        )
    };
    let steps = between.server(&state(7));
    assert_eq!(
        steps,
        [format!(
            r#"> {{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"requestState":"t",{SENDER},"name":"x","arguments":{{ }}}}}}"#
        )]
    );
    // But not for ever.
    let mut id = 9;
    for _ in 3..MAX_ROUNDS {
        let steps = between.server(&state(id));
        id += 2;
        assert!(steps[0].starts_with(&format!(r#"> {{"jsonrpc":"2.0","id":{id},"#)));
    }
    assert_eq!(
        between.server(&state(id)),
        [
            r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server has asked back too often"}}"#
        ]
    );
}

#[test]
fn a_client_is_not_asked_for_what_it_does_not_offer() {
    let asks = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}}"#;
    let mut between = open();
    between.client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
    assert_eq!(
        between.server(asks),
        [
            r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server has asked for something that the client does not offer"}}"#
        ]
    );
    // What it has offered it may fail to give.
    let asks = asks.replace(
        r#""sampling/createMessage","params":{"messages":[],"maxTokens":1}"#,
        r#""roots/list"},"b":{"method":"elicitation/create","params":{}"#,
    );
    between.client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
    assert_eq!(
        between.server(&asks.replace("\"id\":2", "\"id\":3")).len(),
        2
    );
    assert_eq!(
        between.client(
            r#"{"jsonrpc":"2.0","id":"countersign-ask-5","error":{"code":-32603,"message":"none"}}"#
        ),
        [
            r#"< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"countersign-ask-6"}}"#,
            r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the client has not given what the server asked for"}}"#
        ]
    );
}

#[test]
fn a_cancelled_request_is_cancelled_wherever_it_is() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}"#;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    let mut between = open();
    between.client(call);
    assert_eq!(
        between.client(cancel),
        [
            r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}"#
        ]
    );
    assert!(between.client(cancel).is_empty());
    between.client(call);
    between.server(r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#);
    assert_eq!(
        between.client(cancel),
        [
            r#"< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"countersign-ask-5"}}"#
        ]
    );
    assert!(
        between
            .client(r#"{"jsonrpc":"2.0","id":"countersign-ask-5","result":{"roots":[]}}"#)
            .is_empty()
    );
}

#[test]
fn subscriptions_share_one_stream() {
    let listen = |id, filter: &str| {
        format!(
            r#"> {{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{{SENDER},"notifications":{filter}}}}}"#
        )
    };
    let acknowledged = |id, filter: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{filter}}}}}"#
        )
    };
    let changed = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    let subscribe = |id, address| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/subscribe","params":{{"uri":"{address}"}}}}"#
        )
    };
    let mut between = open();
    let tools = r#"{"toolsListChanged":true}"#;
    assert_eq!(
        between.client(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        [listen(2, tools)]
    );
    assert!(between.server(&changed(2)).is_empty());
    assert!(between.server(&acknowledged(2, tools)).is_empty());
    assert_eq!(between.server(&changed(2)), [format!("< {}", changed(2))]);
    assert!(between.server(&changed(7)).is_empty());

    let a = r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
    assert_eq!(between.client(&subscribe(1, "file:///a")), [listen(3, a)]);
    // Until the second stream stands, the first one serves; a third wish waits.
    assert_eq!(between.server(&changed(2)).len(), 1);
    assert!(between.client(&subscribe(2, "file:///b")).is_empty());
    let both = r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a","file:///b"]}"#;
    assert_eq!(
        between.server(&acknowledged(3, a)),
        [
            r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#
                .to_owned(),
            listen(4, both),
            r#"< {"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        ]
    );
    assert_eq!(
        between.server(&acknowledged(4, a)),
        [
            r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
            r#"< {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"the server does not tell about this resource"}}"#,
        ]
    );
    assert_eq!(
        between.client(&subscribe(3, "file:///a")),
        [r#"< {"jsonrpc":"2.0","id":3,"result":{}}"#]
    );
    // A stream that the server ends is begun again, but not at once.
    assert!(between.bridge.expire().is_empty());
    assert!(
        between
            .server(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#
            )
            .is_empty()
    );
    assert_eq!(shown(between.bridge.expire()), [listen(5, a)]);
    assert!(
        between
            .server(r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no"}}"#)
            .is_empty()
    );
    assert_eq!(between.client(&subscribe(4, "file:///a")), [listen(6, a)]);
    assert_eq!(
        shown(between.bridge.unanswered(&RequestId::Integer("6".into()))),
        [
            r#"< {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"the server does not tell about this resource"}}"#
        ]
    );
}

#[test]
fn a_session_s_log_level_goes_with_its_later_requests() {
    let mut between = open();
    assert_eq!(
        between.client(
            r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}"#
        ),
        [
            r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"there is no such log level"}}"#
        ]
    );
    assert_eq!(
        between.client(
            r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"notice"}}"#
        ),
        [r#"< {"jsonrpc":"2.0","id":1,"result":{}}"#]
    );
    let steps = between.client(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert!(steps[0].contains(r#""io.modelcontextprotocol/logLevel":"notice""#));
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1.0}}"#;
    assert_eq!(between.server_about(log, 2), [format!("< {log}")]);
}

#[test]
fn a_server_that_is_gone_leaves_nobody_waiting_and_the_session_open() {
    let mut between = open();
    between.client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    between.client(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#);
    between.server(r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#);
    assert_eq!(
        shown(between.bridge.gone()),
        [
            r#"< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"countersign-ask-5"}}"#,
            "! 1",
            "! 2"
        ]
    );
    assert_eq!(
        between
            .client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .len(),
        1
    );
}

#[test]
fn the_caller_s_own_requests_go_out_before_any_session_is_open() {
    let mut between = closed();
    let own = message(r#"{"jsonrpc":"2.0","id":"own","method":"tools/list","params":{}}"#);
    assert_eq!(
        shown(between.bridge.host_sent(&own, None)),
        [
            r#"> {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#
        ]
    );
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#),
        [r#"< {"jsonrpc":"2.0","id":"own","result":{"tools":[]}}"#]
    );
}
