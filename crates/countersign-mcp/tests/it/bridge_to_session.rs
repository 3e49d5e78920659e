//! Clients of 2026-07-28 in front of servers that speak sessions.

use countersign_mcp::bridge::{Bridge as _, Step, ToSession};
use countersign_mcp::stateless::{ClientCapabilities, RequestMeta};
use countersign_mcp::{RequestId, Version};

use crate::bridge::{Between, message, shown, to_session};

const STATE_1: &str = "countersign-1-01010101010101010101010101010101";
const STATE_2: &str = "countersign-1-02020202020202020202020202020202";

/// A request of a client that can do everything.
fn request(id: u32, method: &str, members: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}},"url":{{}}}},"sampling":{{}},"roots":{{}}}}}}}}}}"#
    )
}

const INITIALIZE: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const OPENED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"2"}}}"#;
const INITIALIZED: &str = r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const INFO: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}"#;

/// A bridge with an open session; its next id is 2.
fn open(is_shared: bool) -> Between<ToSession> {
    let mut between = to_session(is_shared);
    assert_eq!(
        between.client(&request(900, "server/discover", "")),
        [INITIALIZE]
    );
    let steps = between.server(OPENED);
    assert_eq!(steps.len(), 2);
    between
}

#[test]
fn the_session_is_opened_once_and_requests_wait_for_it() {
    let mut between = to_session(false);
    assert_eq!(
        between.client(&request(1, "server/discover", "")),
        [INITIALIZE]
    );
    assert!(between.client(&request(2, "tools/list", "")).is_empty());
    assert!(between.bridge.server().is_none());
    assert_eq!(
        between.server(OPENED),
        [
            INITIALIZED.to_owned(),
            format!(
                r#"< {{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","cacheScope":"private","ttlMs":0,{INFO},"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{"listChanged":true}},"logging":{{}},"resources":{{"subscribe":true}}}}}}}}"#
            ),
            r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{}}}"#.to_owned(),
        ]
    );
    let (_, version) = between.bridge.server().unwrap();
    assert_eq!(version, Version::V2025_06_18);
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":2,"result":{ "tools" : [{"name":"a","n":1.0}]}}"#),
        [format!(
            r#"< {{"jsonrpc":"2.0","id":2,"result":{{"resultType":"complete","cacheScope":"private","ttlMs":0,{INFO}, "tools" : [{{"name":"a","n":1.0}}]}}}}"#
        )]
    );
}

#[test]
fn a_server_that_opens_no_session_leaves_nobody_waiting() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2099-01-01","capabilities":{}}}"#,
    ] {
        let mut between = to_session(false);
        between.client(&request(7, "tools/list", ""));
        assert_eq!(
            between.server(answer),
            [
                r#"< {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the server has not opened a session"}}"#
            ],
            "{answer}"
        );
        // The next request tries again.
        assert_eq!(between.client(&request(8, "tools/list", "")).len(), 1);
    }
    let mut between = to_session(false);
    between.client(&request(7, "tools/list", ""));
    let steps = between.bridge.unanswered(&RequestId::Integer("1".into()));
    assert_eq!(shown(steps), ["! 7"]);
}

#[test]
fn a_question_of_the_server_becomes_a_result_and_the_second_attempt_its_answer() {
    let mut between = open(false);
    let call = r#""name":"x","arguments":{"big":123456789012345678901},"#;
    assert_eq!(
        between.client(&request(1, "tools/call", call)),
        [
            r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"big":123456789012345678901},"_meta":{}}}"#
        ]
    );
    let asked = r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?" ,"requestedSchema":{}}}"#;
    assert_eq!(
        between.server(asked),
        [format!(
            r#"< {{"jsonrpc":"2.0","id":1,"result":{{"resultType":"input_required","inputRequests":{{"1":{{"method":"elicitation/create","params":{{"message":"?" ,"requestedSchema":{{}}}}}}}},"requestState":"{STATE_1}"}}}}"#
        )]
    );
    // Another question, while the client is away.
    let asked = r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#;
    assert!(between.server(asked).is_empty());

    // Whoever does not know the state, or brings it for something else, gets nothing.
    let refused = r#"< {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"the request state is not one that was given for this request"}}"#;
    let answer = r#""inputResponses":{"1":{"action":"accept","content":{"n":1.0}}},"#;
    for (call, state) in [
        (call, STATE_2),
        (call, ""),
        (r#""name":"x","arguments":{},"#, STATE_1),
        (
            r#""name":"y","arguments":{"big":123456789012345678901},"#,
            STATE_1,
        ),
    ] {
        let again = format!(r#"{call}{answer}"requestState":"{state}","#);
        assert_eq!(between.client(&request(2, "tools/call", &again)), [refused]);
    }
    let again = format!(r#"{call}{answer}"requestState":"{STATE_1}","#);
    assert_eq!(
        between.client(&request(2, "tools/call", &again)),
        [
            r#"> {"jsonrpc":"2.0","id":"e","result":{"action":"accept","content":{"n":1.0}}}"#
                .to_owned(),
            format!(
                r#"< {{"jsonrpc":"2.0","id":2,"result":{{"resultType":"input_required","inputRequests":{{"2":{{"method":"roots/list"}}}},"requestState":"{STATE_2}"}}}}"#
            ),
        ]
    );
    // A state counts once.
    assert_eq!(
        between.client(&request(3, "tools/call", &again)),
        [refused.replace("\"id\":2", "\"id\":3")]
    );
    let again = format!(
        r#"{call}"inputResponses":{{"2":{{"roots":[]}},"9":{{}}}},"requestState":"{STATE_2}","#
    );
    assert_eq!(
        between.client(&request(1, "tools/call", &again)),
        [r#"> {"jsonrpc":"2.0","id":5,"result":{"roots":[]}}"#]
    );
    assert_eq!(
        between.server(
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"a": 1e1}}}"#
        ),
        [format!(
            r#"< {{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete",{INFO},"content":[],"structuredContent":{{"a": 1e1}}}}}}"#
        )]
    );
}

#[test]
fn an_answer_that_comes_while_the_client_is_away_waits_for_it() {
    let mut between = open(false);
    between.client(&request(1, "tools/call", r#""name":"x","#));
    between.server(r#"{"jsonrpc":"2.0","id":"e","method":"roots/list"}"#);
    assert!(
        between
            .server(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"late"}}"#)
            .is_empty()
    );
    let again = format!(r#""name":"x","requestState":"{STATE_1}","#);
    assert_eq!(
        between.client(&request(2, "tools/call", &again)),
        [
            r#"> {"jsonrpc":"2.0","id":"e","error":{"code":-32603,"message":"the client has not answered"}}"#,
            r#"< {"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"late"}}"#
        ]
    );
}

#[test]
fn a_client_that_does_not_come_again_is_given_up() {
    let mut between = open(false);
    between.client(&request(1, "tools/call", r#""name":"x","#));
    between.server(
        r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"?"}}"#,
    );
    assert!(between.bridge.expire().is_empty());
    assert_eq!(
        shown(between.bridge.expire()),
        [
            r#"> {"jsonrpc":"2.0","id":9,"result":{"action":"cancel"}}"#,
            r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#
        ]
    );
    assert!(
        between
            .server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#)
            .is_empty()
    );
}

#[test]
fn a_question_outside_of_requests_is_answered_before_the_next_request_goes_out() {
    let mut between = open(false);
    let asked = r#"{"jsonrpc":"2.0","id":0,"method":"roots/list","params":{}}"#;
    assert!(between.server(asked).is_empty());
    // Lists cannot ask back.
    assert_eq!(between.client(&request(1, "tools/list", "")).len(), 1);
    assert_eq!(
        between.client(&request(2, "tools/call", r#""name":"x","#)),
        [format!(
            r#"< {{"jsonrpc":"2.0","id":2,"result":{{"resultType":"input_required","inputRequests":{{"1":{{"method":"roots/list","params":{{}}}}}},"requestState":"{STATE_1}"}}}}"#
        )]
    );
    let again = format!(
        r#""name":"x","inputResponses":{{"1":{{"roots":[{{"uri":"file:///a"}}]}}}},"requestState":"{STATE_1}","#
    );
    assert_eq!(
        between.client(&request(3, "tools/call", &again)),
        [
            r#"> {"jsonrpc":"2.0","id":0,"result":{"roots":[{"uri":"file:///a"}]}}"#,
            r#"> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","_meta":{}}}"#
        ]
    );
}

#[test]
fn nobody_is_asked_who_cannot_answer_or_may_be_somebody_else() {
    let asked = r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    let refused = r#"> {"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"no client can be asked for this now"}}"#;
    let mut between = open(false);
    let unable = request(1, "tools/call", r#""name":"x","#).replace("\"sampling\":{},", "");
    between.client(&unable);
    assert_eq!(between.server(asked), [refused]);

    let mut between = open(true);
    between.client(&request(1, "tools/call", r#""name":"x","#));
    between.client(&request(2, "tools/call", r#""name":"y","#));
    assert_eq!(between.server(asked), [refused]);
    let steps = between.server_about(asked, 2);
    assert!(
        steps.len() == 1
            && steps[0].starts_with(
                r#"< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required""#
            )
    );
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#),
        [r#"> {"jsonrpc":"2.0","id":3,"result":{}}"#]
    );
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{}}"#),
        [
            r#"> {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no client can be asked for this"}}"#
        ]
    );
}

#[test]
fn codes_of_earlier_versions_become_those_of_this_one() {
    let mut between = open(false);
    let no_page = |text: String| text.replace(",\"url\":{}", "");
    for (id, method, request_text, error, after) in [
        (
            2,
            "resources/read",
            request(1, "resources/read", r#""uri":"a","#),
            r#"{"code":-32002,"message":"none" ,"data":{"uri":"a"}}"#,
            r#"{"code":-32602,"message":"none" ,"data":{"uri":"a"}}"#,
        ),
        (
            3,
            "tools/call",
            request(1, "tools/call", r#""name":"x","#),
            r#"{"code":-32002,"message":"m"}"#,
            r#"{"code":-32002,"message":"m"}"#,
        ),
        (
            4,
            "tools/call",
            request(1, "tools/call", r#""name":"x","#),
            r#"{"code":-32022,"message":"m"}"#,
            r#"{"code":-32603,"message":"m"}"#,
        ),
        (
            5,
            "tools/call",
            no_page(request(1, "tools/call", r#""name":"x","#)),
            r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"https://a","message":"?","elicitationId":"1"}]}}"#,
            r#"{"code":-32021,"message":"the server wants a page to be opened first","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}"#,
        ),
    ] {
        between.client(&request_text);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        assert_eq!(
            between.server(&answer),
            [format!(r#"< {{"jsonrpc":"2.0","id":1,"error":{after}}}"#)],
            "{method}"
        );
    }
    // A page that has to be opened first is asked for, and the call goes out anew.
    between.client(&request(1, "tools/call", r#""name":"x","#));
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"https://a","message":"?","elicitationId":"1"}]}}}"#),
        [format!(
            r#"< {{"jsonrpc":"2.0","id":1,"result":{{"resultType":"input_required","inputRequests":{{"1":{{"method":"elicitation/create","params":{{"mode":"url","url":"https://a","message":"?","elicitationId":"1"}}}}}},"requestState":"{STATE_1}"}}}}"#
        )]
    );
    let again = format!(
        r#""name":"x","inputResponses":{{"1":{{"action":"accept"}}}},"requestState":"{STATE_1}","#
    );
    assert_eq!(
        between.client(&request(2, "tools/call", &again)),
        [r#"> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","_meta":{}}}"#]
    );
}

#[test]
fn progress_and_log_messages_find_the_request_that_wants_them() {
    let mut between = open(false);
    let call = request(1, "tools/call", r#""name":"x","#).replace(
        "\"_meta\":{",
        "\"_meta\":{\"progressToken\":\"p\",\"io.modelcontextprotocol/logLevel\":\"warning\",",
    );
    assert_eq!(
        between.client(&call),
        [
            r#"> {"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}"#,
            r#"> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":3}}}"#
        ]
    );
    assert!(
        between
            .server(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)
            .is_empty()
    );
    let progress = |token| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":0.50}}}}"#
        )
    };
    assert_eq!(
        between.server(&progress("3")),
        [format!("< {}", progress("\"p\""))]
    );
    assert!(between.server(&progress("\"p\"")).is_empty());
    assert!(between.server(&progress("4")).is_empty());
    let log = |level| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":1.0}}}}"#
        )
    };
    assert_eq!(
        between.server(&log("error")),
        [format!("< {}", log("error"))]
    );
    assert!(between.server(&log("info")).is_empty());
    // It goes on under the second attempt's token.
    between.server(r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
    assert!(between.server(&progress("3")).is_empty());
    let again = format!(
        r#""name":"x","inputResponses":{{"1":{{"roots":[]}}}},"requestState":"{STATE_1}","#
    );
    let again =
        request(2, "tools/call", &again).replace("\"_meta\":{", "\"_meta\":{\"progressToken\":8,");
    assert_eq!(between.client(&again).len(), 1);
    assert_eq!(
        between.server(&progress("3")),
        [format!("< {}", progress("8"))]
    );
}

#[test]
fn streams_get_what_they_want_and_the_server_allows() {
    let mut between = open(false);
    let wanted = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///a","file:///b"]},"#;
    assert_eq!(
        between.client(&request(1, "subscriptions/listen", wanted)),
        [
            r#"> {"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
            r#"> {"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"file:///b"}}"#
        ]
    );
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    // Nothing comes before it has been said what will.
    assert!(between.server(changed).is_empty());
    assert!(
        between
            .server(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)
            .is_empty()
    );
    assert_eq!(
        between.server(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"none"}}"#),
        [
            r#"< {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}}}"#
        ]
    );
    let other = r#""notifications":{"resourceSubscriptions":["file:///a"]},"#;
    assert_eq!(
        between
            .client(&request(2, "subscriptions/listen", other))
            .len(),
        1
    );
    assert_eq!(
        between.server(changed),
        [
            r#"< {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#
        ]
    );
    let updated = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a/c","_meta":{"a":1.0}}}"#;
    assert_eq!(
        between.server(updated),
        [
            r#"< {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a/c","_meta":{"io.modelcontextprotocol/subscriptionId":1,"a":1.0}}}"#,
            r#"< {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a/c","_meta":{"io.modelcontextprotocol/subscriptionId":2,"a":1.0}}}"#
        ]
    );
    let cancel = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    assert!(between.client(&cancel(2)).is_empty());
    assert_eq!(
        between.client(&cancel(1)),
        [
            r#"> {"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"file:///a"}}"#
        ]
    );
    assert!(between.server(updated).is_empty());
    between.client(&request(
        5,
        "subscriptions/listen",
        r#""notifications":{},"#,
    ));
    assert_eq!(
        shown(between.bridge.gone()),
        [
            r#"< {"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"},"io.modelcontextprotocol/subscriptionId":5}}}"#
        ]
    );
}

#[test]
fn what_has_not_gone_out_waits_for_nothing() {
    let mut between = to_session(false);
    between.client(&request(1, "tools/list", ""));
    let initialize = INITIALIZE.trim_start_matches("> ");
    assert_eq!(shown(between.bridge.not_sent(initialize)), ["! 1"]);
    let mut between = open(false);
    let steps = between.client(&request(1, "tools/list", ""));
    let text = steps[0].trim_start_matches("> ");
    assert_eq!(shown(between.bridge.not_sent(text)), ["! 1"]);
    assert!(between.bridge.not_sent(text).is_empty());
    assert_eq!(between.client(&request(1, "tools/list", "")).len(), 1);
}

#[test]
fn cancelling_reaches_the_server_under_its_id() {
    let mut between = open(false);
    between.client(&request(1, "tools/call", r#""name":"x","#));
    assert_eq!(
        between.client(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#),
        [r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}"#]
    );
    assert!(
        between
            .server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#)
            .is_empty()
    );
    for text in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    ] {
        assert!(between.client(text).is_empty(), "{text}");
    }
}

#[test]
fn what_earlier_versions_had_is_not_served() {
    let mut between = open(false);
    for method in ["initialize", "ping", "resources/subscribe", "tasks/get"] {
        assert_eq!(
            between.client(&request(1, method, "")),
            [
                r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"2026-07-28 has no such method"}}"#
            ]
        );
    }
    assert_eq!(
        between.client(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
        [
            r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the request has to say its protocol version and its client's capabilities in \"_meta\""}}"#
        ]
    );
    between.client(&request(1, "tools/list", ""));
    assert_eq!(
        between.client(&request(1, "tools/list", "")),
        [
            r#"< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this request's id is in use"}}"#
        ]
    );
}

#[test]
fn the_caller_s_own_requests_need_not_say_who_they_are() {
    let mut between = open(false);
    let own = message(
        r#"{"jsonrpc":"2.0","id":"own-1","method":"tools/call","params":{"name":"x","arguments":{ }}}"#,
    );
    let sender = RequestMeta::new(
        None,
        ClientCapabilities::read(r#"{"elicitation":{}}"#).unwrap(),
    );
    let steps = between.bridge.host_sent(&own, Some(&sender));
    assert_eq!(
        steps,
        [Step::ToServer {
            text: r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{ }}}"#
                .to_owned(),
            carries: Some(RequestId::Text("own-1".into())),
        }]
    );
    let steps = between.server(
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#,
    );
    assert!(
        steps[0].starts_with(
            r#"< {"jsonrpc":"2.0","id":"own-1","result":{"resultType":"input_required""#
        )
    );
    let steps = between.bridge.unanswered(&RequestId::Integer("2".into()));
    assert!(steps.is_empty());
    let again = message(&format!(
        r#"{{"jsonrpc":"2.0","id":"own-2","method":"tools/call","params":{{"name":"x","arguments":{{}},"requestState":"{STATE_1}"}}}}"#
    ));
    let steps = shown(between.bridge.host_sent(&again, Some(&sender)));
    assert_eq!(
        steps[1],
        r#"< {"jsonrpc":"2.0","id":"own-2","error":{"code":-32603,"message":"the server has not answered"}}"#
    );
    between.bridge.host_sent(&own, None);
    assert_eq!(shown(between.bridge.gone()), [r#"! "own-1""#]);
}
