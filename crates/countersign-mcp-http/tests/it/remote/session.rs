//! Sessions: how they begin, break, end and begin anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use countersign_mcp::port::{NotSent, Ticket, ToServer, Unanswered};
use countersign_mcp_http::remote::Problem;

use super::listener::{Heard, Line, number};
use super::stub::{Seen, Stub, events, json, reply, until_closed};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"x":1.50}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn request(id: u32, method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{}}}}")
}

fn result(seen: &Seen) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}",
        seen.id()
    )
}

fn agreed(seen: &Seen) -> String {
    let id = seen.id();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocolVersion\":\"2025-06-18\"}}}}")
}

/// Answers what opens a session, with the name that it gets; nothing for everything else.
fn opens(seen: &Seen, stream: &mut std::net::TcpStream, name: &str) -> Option<bool> {
    let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: {name}\r\n");
    if seen.has("\"initialize\"") {
        Some(reply(stream, 200, &headers, &agreed(seen)))
    } else if seen.has("notifications/") {
        Some(reply(stream, 202, "", ""))
    } else {
        None
    }
}

fn open(stub: &Stub) -> Line {
    let line = Line::open(&stub.url());
    line.remote.send(INITIALIZE.to_owned(), None).unwrap();
    line.remote.send(INITIALIZED.to_owned(), None).unwrap();
    assert!(matches!(line.hear(), Heard::Message(_, Some(id)) if id == number(0)));
    line
}

/// The next request that is none for the server's own messages.
fn next(stub: &Stub) -> Seen {
    loop {
        let seen = stub.next();
        if seen.method != "GET" {
            return seen;
        }
    }
}

#[test]
fn what_opens_a_session_goes_first_and_the_session_is_named_afterwards() {
    let stub = Stub::start(|seen, stream| match seen.method.as_str() {
        "POST" => opens(seen, stream, "one").unwrap_or_else(|| json(stream, &result(seen))),
        "GET" => reply(stream, 405, "", ""),
        _ => reply(stream, 200, "", ""),
    });
    let line = Line::open(&stub.url());
    line.remote.send(INITIALIZE.to_owned(), None).unwrap();
    line.remote.send(INITIALIZED.to_owned(), None).unwrap();
    for id in 1..=8 {
        line.remote.send(request(id, "tools/list"), None).unwrap();
    }
    for _ in 0..=8 {
        assert!(matches!(line.hear(), Heard::Message(..)));
    }
    let first = next(&stub);
    assert_eq!(first.body, INITIALIZE);
    assert_eq!(first.header("mcp-session-id"), None);
    assert_eq!(first.header("mcp-protocol-version"), None);
    let second = next(&stub);
    assert_eq!(second.body, INITIALIZED);
    for seen in [second, next(&stub), next(&stub)] {
        assert_eq!(seen.header("mcp-session-id"), Some("one"));
        assert_eq!(seen.header("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(seen.header("mcp-method"), None);
    }
    line.remote.close();
    assert_eq!(line.hear(), Heard::Gone);
    let last = stub.rest().pop().unwrap();
    assert_eq!(last.method, "DELETE");
    assert_eq!(last.header("mcp-session-id"), Some("one"));
}

#[test]
fn a_broken_stream_goes_on_where_it_broke_and_is_not_asked_for_twice() {
    let stub = Stub::start(|seen, stream| {
        match (seen.method.as_str(), seen.header("last-event-id")) {
            ("POST", _) => {
                return opens(seen, stream, "one").unwrap_or_else(|| {
                    events(stream, "retry: 1\nid: a 1\ndata:\n\ndata: {\"half");
                    false
                });
            }
            ("GET", Some("a 1")) => {
                events(
                    stream,
                    "id: a2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n",
                );
            }
            ("GET", Some("a2")) => return reply(stream, 503, "", ""),
            _ => return reply(stream, 405, "", ""),
        }
        false
    });
    let line = open(&stub);
    line.remote
        .send(request(1, "tools/call"), Some(Ticket::default()))
        .unwrap();
    assert!(
        matches!(line.hear(), Heard::Message(text, Some(about)) if about == number(1) && text.contains("\"m\""))
    );
    let posts = |stub: &Stub| -> usize {
        stub.rest()
            .iter()
            .filter(|seen| seen.has("tools/call"))
            .count()
    };
    // The second place is never served: after a bounded number of attempts it is given up.
    line.remote.close();
    assert_eq!(line.hear(), Heard::Unanswered(number(1), Unanswered::Lost));
    assert_eq!(posts(&stub), 1);
}

#[test]
fn a_resumed_stream_brings_the_answer() {
    let stub =
        Stub::start(
            |seen, stream| match (seen.method.as_str(), seen.header("last-event-id")) {
                ("POST", _) => opens(seen, stream, "one").unwrap_or_else(|| {
                    events(stream, "retry: 1\nid: 7\ndata:\n\n");
                    false
                }),
                ("GET", Some("7")) => {
                    assert_eq!(seen.header("mcp-session-id"), Some("one"));
                    assert_eq!(seen.header("accept"), Some("text/event-stream"));
                    events(
                        stream,
                        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
                    );
                    false
                }
                _ => reply(stream, 405, "", ""),
            },
        );
    let line = open(&stub);
    line.remote
        .send(request(1, "tools/call"), Some(Ticket::default()))
        .unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned();
    assert_eq!(line.hear(), Heard::Message(answer, Some(number(1))));
    let calls = stub
        .rest()
        .into_iter()
        .filter(|seen| seen.has("tools/call"));
    assert_eq!(calls.count(), 1);
}

/// A server whose sessions end whenever a call asks for it.
fn forgetful(status: u16, refusal: &'static str) -> (Stub, Arc<AtomicU32>) {
    let current = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&current);
    let stub = Stub::start(move |seen, stream| {
        if seen.method != "POST" {
            return reply(stream, 405, "", "session id");
        }
        if seen.has("\"initialize\"") {
            count.fetch_add(1, Ordering::SeqCst);
        }
        let name = format!("session-{}", count.load(Ordering::SeqCst));
        if let Some(is_going_on) = opens(seen, stream, &name) {
            return is_going_on;
        }
        if seen.header("mcp-session-id") != Some(&name) {
            return reply(
                stream,
                status,
                "Content-Type: application/json\r\n",
                refusal,
            );
        }
        json(stream, &result(seen))
    });
    (stub, current)
}

#[test]
fn a_read_that_meets_the_end_of_its_session_is_asked_again_in_a_new_one() {
    let unknown = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
    for (status, refusal) in [(404, ""), (404, unknown), (400, unknown)] {
        asked_again(status, refusal);
    }
}

fn asked_again(status: u16, refusal: &'static str) {
    let (stub, current) = forgetful(status, refusal);
    let line = open(&stub);
    current.fetch_add(10, Ordering::SeqCst);
    for id in 1..=4 {
        line.remote.send(request(id, "tools/list"), None).unwrap();
    }
    for _ in 1..=4 {
        assert!(matches!(line.hear(), Heard::Message(text, Some(_)) if text.contains("result")));
    }
    assert_eq!(line.problem(), Problem::SessionRenewed);
    assert_eq!(current.load(Ordering::SeqCst), 12);
    let seen = stub.rest();
    let openings: Vec<_> = seen
        .iter()
        .filter(|seen| seen.has("\"initialize\""))
        .collect();
    assert_eq!(openings.len(), 2);
    assert_eq!(openings[1].header("mcp-session-id"), None);
    let params = INITIALIZE.split("\"params\":").nth(1).unwrap();
    assert!(openings[1].body.ends_with(params));
    assert_ne!(openings[1].id(), "0");
    let readies: Vec<_> = seen
        .iter()
        .filter(|seen| seen.body == INITIALIZED)
        .collect();
    assert_eq!(readies[1].header("mcp-session-id"), Some("session-12"));
}

/// What a client had set in the old session holds in the new one, before anything else is asked in it.
#[test]
fn what_was_set_in_a_session_is_set_again_in_the_next() {
    let (stub, current) = forgetful(404, "");
    let line = open(&stub);
    let ask = |id: u32, method: &str, params: &str| {
        let text = request(id, method).replace("{}", params);
        line.remote.send(text, None).unwrap();
        assert!(matches!(line.hear(), Heard::Message(_, Some(heard)) if heard == number(id)));
    };
    ask(1, "logging/setLevel", r#"{"level":"debug"}"#);
    ask(2, "resources/subscribe", r#"{"uri":"file:///a"}"#);
    ask(3, "resources/subscribe", r#"{"uri":"file:///b"}"#);
    ask(4, "resources/unsubscribe", r#"{"uri":"file:///a"}"#);
    stub.rest();
    current.fetch_add(10, Ordering::SeqCst);
    ask(5, "tools/list", "{}");
    assert_eq!(line.problem(), Problem::SessionRenewed);
    let seen = stub.rest();
    let asked: Vec<_> = seen
        .iter()
        .filter(|seen| seen.header("mcp-session-id") == Some("session-12"))
        .filter_map(|seen| {
            let body: Vec<_> = seen.body.split(r#""method":"#).collect();
            seen.has(r#""id""#).then(|| body[1].to_owned())
        })
        .collect();
    assert_eq!(
        asked,
        [
            r#""logging/setLevel","params":{"level":"debug"}}"#,
            r#""resources/subscribe","params":{"uri":"file:///b"}}"#,
            r#""tools/list","params":{}}"#,
        ]
    );
    // Nobody hears of the answers to what nobody asked.
    assert!(line.heard.try_recv().is_err());
    assert!(line.problems.try_recv().is_err());
}

#[test]
fn a_write_that_meets_the_end_of_its_session_is_lost_and_the_next_finds_a_new_one() {
    let (stub, current) = forgetful(404, "hidden");
    let line = open(&stub);
    current.fetch_add(10, Ordering::SeqCst);
    line.remote
        .send(request(1, "tools/call"), Some(Ticket::default()))
        .unwrap();
    assert_eq!(line.hear(), Heard::Unanswered(number(1), Unanswered::Lost));
    line.remote
        .send(request(2, "tools/call"), Some(Ticket::default()))
        .unwrap();
    assert!(matches!(line.hear(), Heard::Message(_, Some(id)) if id == number(2)));
    let calls: Vec<_> = stub
        .rest()
        .into_iter()
        .filter(|seen| seen.has("tools/call"))
        .collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].header("mcp-session-id"), Some("session-12"));
}

#[test]
fn a_session_that_cannot_be_opened_anew_takes_nothing() {
    let openings = AtomicU32::new(0);
    let stub = Stub::start(move |seen, stream| {
        if seen.has("\"initialize\"") && openings.fetch_add(1, Ordering::SeqCst) > 0 {
            return json(stream, &agreed(seen).replace("2025-06-18", "2025-03-26"));
        }
        let status = if seen.method == "GET" { 405 } else { 404 };
        opens(seen, stream, "one").unwrap_or_else(|| reply(stream, status, "", ""))
    });
    let line = open(&stub);
    line.remote.send(request(1, "tools/list"), None).unwrap();
    assert_eq!(line.hear(), Heard::Unanswered(number(1), Unanswered::Lost));
    assert_eq!(line.problem(), Problem::SessionLost);
    line.remote
        .send(request(2, "tools/call"), Some(Ticket::default()))
        .unwrap();
    let why = Unanswered::NotSent(NotSent::Unreachable);
    assert_eq!(line.hear(), Heard::Unanswered(number(2), why));
    assert!(!stub.rest().iter().any(|seen| seen.has("tools/call")));
}

#[test]
fn what_the_server_says_by_itself_comes_on_a_stream_of_its_own() {
    let stub =
        Stub::start(
            |seen, stream| match (seen.method.as_str(), seen.header("last-event-id")) {
                ("GET", None) => {
                    let ask = r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#;
                    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{}}"#;
                    events(
                        stream,
                        &format!("retry: 1\nid: 1\ndata: {ask}\n\ndata: {answer}\n\n"),
                    );
                    false
                }
                ("GET", Some(_)) => {
                    events(stream, "data: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n");
                    until_closed(stream);
                    false
                }
                ("POST", _) => {
                    opens(seen, stream, "one").unwrap_or_else(|| reply(stream, 202, "", ""))
                }
                _ => reply(stream, 200, "", ""),
            },
        );
    let line = open(&stub);
    let message = |text: &str| Heard::Message(text.to_owned(), None);
    assert_eq!(
        line.hear(),
        message(r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#)
    );
    assert_eq!(line.hear(), message(r#"{"jsonrpc":"2.0","method":"m"}"#));
    let gets: Vec<_> = stub
        .rest()
        .into_iter()
        .filter(|seen| seen.method == "GET")
        .collect();
    assert_eq!(gets[0].header("mcp-session-id"), Some("one"));
    assert_eq!(gets[1].header("last-event-id"), Some("1"));
    line.remote.close();
    assert_eq!(line.hear(), Heard::Gone);
}

#[test]
fn a_cancellation_goes_out_in_a_session() {
    let stub = Stub::start(|seen, stream| match seen.method.as_str() {
        "POST" => opens(seen, stream, "one").unwrap_or_else(|| {
            until_closed(stream);
            false
        }),
        _ => reply(stream, 405, "", ""),
    });
    let line = open(&stub);
    line.remote.send(request(1, "tools/list"), None).unwrap();
    while !next(&stub).has("tools/list") {}
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    line.remote.send(cancelled.to_owned(), None).unwrap();
    while next(&stub).body != cancelled {}
    assert!(line.heard.try_recv().is_err());
}

#[test]
fn an_opening_that_hangs_does_not_hold_up_the_end() {
    let stub = Stub::start(|_, stream| {
        until_closed(stream);
        false
    });
    let line = Line::open(&stub.url());
    line.remote.send(INITIALIZE.to_owned(), None).unwrap();
    line.remote.send(request(1, "tools/list"), None).unwrap();
    stub.next();
    line.remote.close();
    assert_eq!(line.hear(), Heard::Unanswered(number(0), Unanswered::Lost));
    assert_eq!(line.hear(), Heard::Unanswered(number(1), Unanswered::Lost));
    assert_eq!(line.hear(), Heard::Gone);
}

#[test]
fn whatever_says_that_the_session_is_gone_says_it_before_a_write_goes_out() {
    for notices in ["GET", "notifications/roots/list_changed"] {
        let openings = AtomicU32::new(0);
        let stub = Stub::start(move |seen, stream| {
            if seen.has("\"initialize\"") {
                openings.fetch_add(1, Ordering::SeqCst);
            }
            let is_first = openings.load(Ordering::SeqCst) == 1;
            if is_first && (seen.method == notices || seen.has(notices)) {
                return reply(stream, 400, "", "Bad Request: unknown Session ID");
            }
            match seen.method.as_str() {
                "POST" => opens(seen, stream, if is_first { "one" } else { "two" })
                    .unwrap_or_else(|| json(stream, &result(seen))),
                _ => reply(stream, 405, "", ""),
            }
        });
        let line = open(&stub);
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
        line.remote.send(notification.to_owned(), None).unwrap();
        while !stub.next().has("list_changed") {}
        // Its answer is read at some moment after this; reads are asked until one has met the new session.
        while line.problems.try_recv() != Ok(Problem::SessionRenewed) {
            line.remote.send(request(1, "tools/list"), None).unwrap();
            assert!(matches!(line.hear(), Heard::Message(..)));
        }
        let write = request(2, "tools/call");
        line.remote.send(write, Some(Ticket::default())).unwrap();
        assert!(matches!(line.hear(), Heard::Message(_, Some(id)) if id == number(2)));
        let calls = stub
            .rest()
            .into_iter()
            .filter(|seen| seen.has("tools/call"));
        let sessions: Vec<_> = calls
            .map(|seen| seen.headers["mcp-session-id"].clone())
            .collect();
        assert_eq!(sessions, ["two"], "{notices}");
    }
}
