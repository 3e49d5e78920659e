//! Requests that stand alone (2026-07-28).

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
