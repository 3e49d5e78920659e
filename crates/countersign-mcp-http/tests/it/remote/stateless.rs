//! Requests that stand alone (2026-07-28).

use std::time::Duration;

use countersign_mcp::port::{NotSent, Ticket, ToServer, Unanswered};

use super::listener::{Heard, Line, number};
use super::stub::{Stub, events, json, until_closed};

fn request(id: u32, method: &str, params: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{params}\"_meta\":{{\
         \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}}}}"
    )
}

fn cancelled(id: u32) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
    )
}

#[test]
fn headers_say_what_the_message_says() {
    let stub = Stub::start(|seen, stream| {
        json(
            stream,
            &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}",
                seen.id()
            ),
        )
    });
    let line = Line::open(&stub.url());
    for (method, params, name) in [
        ("server/discover", "", None),
        (
            "tools/call",
            "\"name\":\"get_weather\",",
            Some("get_weather"),
        ),
        (
            "prompts/get",
            "\"name\":\"\u{4e16}\",",
            Some("=?base64?5LiW?="),
        ),
        (
            "resources/read",
            "\"uri\":\"a:b\\r\\nc\",",
            Some("=?base64?YTpiDQpj?="),
        ),
    ] {
        let text = request(1, method, params);
        line.remote.send(text.clone(), None).unwrap();
        assert!(matches!(line.hear(), Heard::Message(_, Some(_))));
        let seen = stub.next();
        assert_eq!(seen.body, text);
        assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(seen.header("mcp-method"), Some(method));
        assert_eq!(seen.header("mcp-name"), name);
        assert_eq!(seen.header("mcp-session-id"), None);
    }
    let long = format!("\"name\":\"{}\",", "x".repeat(5000));
    let refused = line.remote.send(request(1, "tools/call", &long), None);
    assert_eq!(refused, Err(NotSent::Unreachable));
}

#[test]
fn a_cancelled_request_ends_its_stream_and_nothing_is_sent() {
    let stub = Stub::start(|seen, stream| {
        if seen.has("subscriptions/listen") {
            events(stream, "data: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n");
        }
        until_closed(stream);
        false
    });
    let line = Line::open(&stub.url());
    line.remote
        .send(request(1, "subscriptions/listen", ""), None)
        .unwrap();
    assert!(matches!(line.hear(), Heard::Message(_, Some(_))));
    let ticket = Some(Ticket::default());
    line.remote
        .send(request(2, "tools/call", "\"name\":\"t\","), ticket)
        .unwrap();
    stub.next();
    assert_eq!(stub.next().header("mcp-name"), Some("t"));
    for id in [1, 2] {
        line.remote.send(cancelled(id), None).unwrap();
        assert_eq!(line.hear(), Heard::Unanswered(number(id), Unanswered::Lost));
    }
    line.remote.send(cancelled(3), None).unwrap();
    line.remote.close();
    assert_eq!(line.hear(), Heard::Gone);
    assert!(stub.rest().is_empty());
}

#[test]
fn a_broken_stream_is_not_taken_up_again() {
    let stub = Stub::start(|_, stream| {
        events(
            stream,
            "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n",
        );
        false
    });
    let line = Line::open(&stub.url());
    line.remote
        .send(request(1, "tools/list", ""), None)
        .unwrap();
    assert!(matches!(line.hear(), Heard::Message(_, Some(_))));
    assert_eq!(line.hear(), Heard::Unanswered(number(1), Unanswered::Lost));
    assert_eq!(stub.next().method, "POST");
    assert!(stub.rest().is_empty());
}

#[test]
fn arguments_go_into_headers_as_the_list_of_tools_says() {
    let stub = Stub::start(|seen, stream| {
        let result = if seen.has("tools/list") {
            r#"{"tools":[{"name":"t","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}"#
        } else {
            "{}"
        };
        json(
            stream,
            &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
                seen.id()
            ),
        )
    });
    let line = Line::open(&stub.url());
    let call = "\"name\":\"t\",\"arguments\":{\"region\":\"us-west1\"},";
    for (method, params, expected) in [
        ("tools/call", call, None),
        ("tools/list", "", None),
        ("tools/call", call, Some("us-west1")),
    ] {
        line.remote.send(request(1, method, params), None).unwrap();
        assert!(matches!(line.hear(), Heard::Message(_, Some(_))));
        assert_eq!(stub.next().header("mcp-param-region"), expected);
    }
}

#[test]
fn listening_does_not_hold_up_the_end() {
    let stub = Stub::start(|_, stream| {
        events(stream, ": listening\n\n");
        until_closed(stream);
        false
    });
    let line = Line::open(&stub.url());
    line.remote
        .send(request(1, "subscriptions/listen", ""), None)
        .unwrap();
    stub.next();
    line.remote.close();
    // What waits for answers is waited for longer.
    let heard = line.heard.recv_timeout(Duration::from_secs(4)).unwrap();
    assert_eq!(heard, Heard::Unanswered(number(1), Unanswered::Lost));
    assert_eq!(line.hear(), Heard::Gone);
}

#[test]
fn what_is_cancelled_behind_its_answer_is_not_lost_besides() {
    let stub = Stub::start(|_, stream| {
        events(
            stream,
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
        );
        until_closed(stream);
        false
    });
    let line = Line::open(&stub.url());
    line.remote
        .send(request(1, "tools/list", ""), None)
        .unwrap();
    assert!(matches!(line.hear(), Heard::Message(_, Some(_))));
    line.remote.send(cancelled(1), None).unwrap();
    line.remote.close();
    assert_eq!(line.hear(), Heard::Gone);
}
