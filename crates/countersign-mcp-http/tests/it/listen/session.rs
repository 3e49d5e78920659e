use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_mcp::Opening;
use countersign_mcp::port::Refused;
use countersign_mcp_http::listen::{BindError, Options, bind};

use super::client::{Client, SESSION_HEADERS, event};
use super::host::{Host, SOON, Seen, echo, request};

const LATEST: &str = "2025-11-25";

fn ping(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")
}

#[test]
fn a_session_opens_answers_and_ends() {
    let host = Host::start(Options::default(), echo);
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(host.next(), Seen::Opened(0, Opening::Handshake));
    let Seen::Message(0, first) = host.next() else {
        panic!()
    };
    assert!(first.contains("\"initialize\""));
    let session = [
        ("Mcp-Session-Id", id.as_str()),
        ("MCP-Protocol-Version", LATEST),
    ];
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let (head, body) = client.post(&session, initialized);
    assert_eq!((head.status, body.as_str()), (202, ""));
    assert_eq!(host.next(), Seen::Message(0, initialized.to_owned()));
    // Every byte passes: white space, big numbers, escapes.
    let call = "{ \"jsonrpc\":\"2.0\",\n\"id\": 123456789012345678901 ,\"method\":\"tools/call\",\"params\":{\"a\":1.0,\"b\":\"\\u0041\"}}";
    let (head, body) = client.post(&session, call);
    assert_eq!(head.status, 200);
    assert_eq!(head.header("content-type"), Some("application/json"));
    assert_eq!(
        body,
        r#"{"jsonrpc":"2.0","id":123456789012345678901,"result":{"echo":{"a":1.0,"b":"\u0041"}}}"#
    );
    assert_eq!(host.next(), Seen::Message(0, call.to_owned()));
    let answer = r#"{"jsonrpc":"2.0","id":"s","result":{}}"#;
    assert_eq!(client.post(&session, answer).0.status, 202);
    assert_eq!(host.next(), Seen::Message(0, answer.to_owned()));
    client.send("DELETE", &session, b"");
    assert_eq!(client.answer().0.status, 204);
    assert_eq!(host.next(), Seen::Closed(0));
    assert_eq!(client.post(&session, &ping("1")).0.status, 404);
}

#[test]
fn what_is_no_message_of_the_protocol_is_refused_with_the_status_that_says_why() {
    let host = Host::start(Options::default(), echo);
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    let session = ("Mcp-Session-Id", id.as_str());
    let [accept, json] = SESSION_HEADERS;
    let body = ping("7");
    let body = body.as_str();
    let batch = format!("[{body}]");
    for (headers, body, status) in [
        (vec![accept, json, session], body, 200),
        (vec![json, session], body, 406),
        (
            vec![("Accept", "application/json"), json, session],
            body,
            406,
        ),
        (vec![accept, session], body, 415),
        (
            vec![accept, ("Content-Type", "text/plain"), session],
            body,
            415,
        ),
        (vec![accept, json], body, 400),
        (vec![accept, json, ("Mcp-Session-Id", "00")], body, 404),
        (vec![accept, json, session, session], body, 400),
        (
            vec![
                accept,
                json,
                session,
                ("MCP-Protocol-Version", "1999-01-01"),
            ],
            body,
            400,
        ),
        (
            vec![
                accept,
                json,
                session,
                ("MCP-Protocol-Version", "2025-03-26"),
            ],
            body,
            200,
        ),
        (vec![accept, json, session], batch.as_str(), 400),
        (vec![accept, json, session], "{", 400),
        (vec![accept, json, session], "", 400),
        (
            vec![accept, json, session],
            r#"{"id":7,"method":"ping"}"#,
            400,
        ),
        (
            vec![accept, json, session],
            r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"ping"}"#,
            400,
        ),
        (
            vec![accept, json, session, ("Host", "evil.example")],
            body,
            403,
        ),
        (
            vec![accept, json, session, ("Origin", "https://evil.example")],
            body,
            403,
        ),
        (vec![accept, json, session, ("Origin", "null")], body, 403),
        (
            vec![accept, json, session, ("Origin", "http://localhost:5173")],
            body,
            200,
        ),
    ] {
        client.send("POST", &headers, body.as_bytes());
        let (head, answer) = client.answer();
        assert_eq!(head.status, status, "{headers:?} {body} {answer}");
        assert_eq!(head.header("access-control-allow-origin"), None);
        if status != 200 {
            assert!(answer.contains(r#""error":{"code":-32"#), "{answer}");
            client = Client::new(host.address);
        }
    }
}

#[test]
fn one_path_is_served_with_three_methods() {
    let host = Host::start(Options::default(), echo);
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    let session = ("Mcp-Session-Id", id.as_str());
    let [accept, _] = SESSION_HEADERS;
    for (method, path, status) in [
        ("PUT", "/mcp", 405),
        ("OPTIONS", "/mcp", 405),
        ("GET", "/", 404),
        ("POST", "/mcp/", 404),
        ("GET", "/mcp", 400),
        ("DELETE", "/mcp", 400),
    ] {
        client.send_to(path, method, &[accept], b"");
        assert_eq!(client.answer().0.status, status, "{method} {path}");
        client = Client::new(host.address);
    }
    client.send("GET", &[("Accept", "application/json"), session], b"");
    assert_eq!(client.answer().0.status, 406);
    let modern = [accept, session, ("MCP-Protocol-Version", "2026-07-28")];
    client.send("GET", &modern, b"");
    assert_eq!(client.answer().0.status, 405);
}

#[test]
fn an_error_names_the_request_that_could_still_be_read() {
    let host = Host::start(Options::default(), echo);
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    let session = [("Mcp-Session-Id", id.as_str())];
    let (head, body) = client.post(
        &session,
        r#"{"jsonrpc":"2.0","id":"x","method":"a","params":{"n":NaN}}"#,
    );
    assert_eq!(head.status, 400);
    assert!(
        body.starts_with(r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32700,"#),
        "{body}"
    );
    // Whoever waits for an answer that cannot be read hears that it came.
    let (head, _) = client.post(
        &session,
        r#"{"jsonrpc":"2.0","id":"asked","result":{"n":NaN}}"#,
    );
    assert_eq!(head.status, 400);
    let message = host.next_message();
    assert!(
        message.starts_with(r#"{"jsonrpc":"2.0","id":"asked","error":"#),
        "{message}"
    );
}

#[test]
fn there_is_a_session_only_where_one_was_agreed_on() {
    let host = Host::refusing(Refused::Unavailable);
    let initialize = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#;
    let (head, body) = Client::new(host.address).post(&[], initialize);
    assert_eq!((head.status, head.header("mcp-session-id")), (503, None));
    assert!(
        body.contains(r#""id":"i","error":{"code":-32603"#),
        "{body}"
    );
    let options = Options::default().with_max_sessions(1);
    let host = Host::start(options, echo);
    let mut client = Client::new(host.address);
    let first = client.initialize(LATEST);
    let (head, _) = client.post(&[], initialize);
    assert_eq!(head.status, 503);
    client.send("DELETE", &[("Mcp-Session-Id", &first)], b"");
    assert_eq!(client.answer().0.status, 204);
    assert_ne!(client.initialize(LATEST), first);
}

#[test]
fn messages_go_to_the_stream_that_they_belong_to() {
    let host = Host::start(Options::default(), |link, message| {
        let Some((id, method)) = request(message) else {
            return;
        };
        match method.as_str() {
            "own" => link.notify(Some(&id), "own", "{}"),
            "loose" => link.notify(None, "loose", "{}"),
            _ => {}
        }
        link.answer(&id, "{}");
    });
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    let session = [("Mcp-Session-Id", id.as_str())];
    let ask = |method: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"{method}\"}}");
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{}}"#;
    let own = r#"{"jsonrpc":"2.0","method":"own","params":{}}"#;
    let loose = r#"{"jsonrpc":"2.0","method":"loose","params":{}}"#;
    // Before anybody asks, there is nowhere to go: it waits for the general stream.
    host.link(0).notify(None, "early", "{}");
    let (head, body) = client.post(&session, &ask("own"));
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(body, event("2-1", own) + &event("2-2", answer));
    let (_, body) = client.post(&session, &ask("loose"));
    assert_eq!(body, event("3-1", loose) + &event("3-2", answer));
    let mut general = Client::new(host.address);
    let headers = [("Accept", "text/event-stream"), session[0]];
    general.send("GET", &headers, b"");
    assert_eq!(general.head().status, 200);
    let early = r#"{"jsonrpc":"2.0","method":"early","params":{}}"#;
    assert_eq!(general.event().unwrap(), event("0-1", early));
    let (head, body) = client.post(&session, &ask("loose"));
    assert_eq!(head.header("content-type"), Some("application/json"));
    assert_eq!(body, answer);
    assert_eq!(general.event().unwrap(), event("0-2", loose));
    client.send("GET", &headers, b"");
    assert_eq!(client.answer().0.status, 409);
}

#[test]
fn an_answer_that_takes_longer_comes_on_a_stream_that_can_be_resumed_from_its_beginning() {
    let options = Options::default()
        .with_json_wait(Duration::from_millis(20))
        .with_keep_alive(Duration::from_millis(20));
    let host = Host::start(options, |_, _| {});
    let sessions = [
        ("2025-11-25", "id: 2-0\nretry: 1000\ndata: \n\n"),
        ("2025-06-18", ":\n\n"),
    ];
    for (number, (version, beginning)) in sessions.into_iter().enumerate() {
        let mut client = Client::new(host.address);
        let id = client.initialize(version);
        client.begin(&[("Mcp-Session-Id", &id)], &ping("1"));
        let head = client.head();
        assert_eq!(head.status, 200);
        assert_eq!(head.header("x-accel-buffering"), Some("no"));
        assert_eq!(client.chunk().unwrap(), beginning.as_bytes());
        // A stream that is quiet says from time to time that it is there.
        assert_eq!(client.chunk().unwrap(), b":\n\n");
        let link = host.link(number);
        link.answer(&countersign_mcp::RequestId::Integer("1".into()), "{}");
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert_eq!(client.event().unwrap(), event("2-1", answer));
        assert_eq!(client.event(), None);
    }
}

#[test]
fn what_a_client_gives_up_gets_no_answer() {
    let host = Host::start(Options::default(), |_, _| {});
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    let session = [("Mcp-Session-Id", id.as_str())];
    client.begin(&session, &ping("1"));
    host.next_message();
    let mut other = Client::new(host.address);
    // Nobody else may use the id meanwhile.
    assert_eq!(other.post(&session, &ping("1")).0.status, 400);
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(other.post(&session, cancelled).0.status, 202);
    assert_eq!(host.next_message(), cancelled);
    let link = host.link(0);
    link.answer(&countersign_mcp::RequestId::Integer("1".into()), "{}");
    let (_, body) = client.answer();
    assert!(!body.contains("result"), "{body}");
}

#[test]
fn that_an_answer_is_out_is_told_once() {
    let (told, hear) = channel();
    let told = Arc::new(Mutex::new(told));
    let host = Host::start(Options::default(), move |link, message| {
        let Some((id, method)) = request(message) else {
            return;
        };
        let told = Arc::clone(&told);
        if method == "stream" {
            link.notify(Some(&id), "first", "{}");
        }
        let text = countersign_mcp::write::result(&id, "{}");
        let on_written = move || told.lock().unwrap().send(method).unwrap();
        link.send(text, Some(&id), Some(Box::new(on_written)));
    });
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    for method in ["json", "stream"] {
        let ask = format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"{method}\"}}");
        client.post(&[("Mcp-Session-Id", &id)], &ask);
        assert_eq!(hear.recv_timeout(SOON).unwrap(), method);
    }
    assert!(hear.try_recv().is_err());
}

#[test]
fn two_sessions_share_nothing() {
    let host = Host::start(Options::default(), |link, message| {
        if let Some((id, _)) = request(message) {
            link.answer(&id, &format!("{{\"link\":{}}}", link.number));
        }
    });
    let mut client = Client::new(host.address);
    let (first, second) = (client.initialize(LATEST), client.initialize(LATEST));
    for (id, number) in [(&first, 0), (&second, 1)] {
        let (_, body) = client.post(&[("Mcp-Session-Id", id)], &ping("1"));
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"link\":{number}}}}}");
        assert_eq!(body, expected);
    }
    client.send("DELETE", &[("Mcp-Session-Id", &first)], b"");
    assert_eq!(client.answer().0.status, 204);
    assert_eq!(
        client
            .post(&[("Mcp-Session-Id", &second)], &ping("1"))
            .0
            .status,
        200
    );
}

#[test]
fn a_session_that_nobody_uses_or_whose_server_has_ended_is_over() {
    let options = Options::default().with_idle_limit(Duration::from_millis(50));
    let host = Host::start(options, echo);
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    loop {
        match host.next() {
            Seen::Closed(0) => break,
            Seen::Closed(_) | Seen::Opened(..) | Seen::Message(..) => {}
        }
    }
    assert_eq!(
        client.post(&[("Mcp-Session-Id", &id)], &ping("1")).0.status,
        404
    );
    let host = Host::start(Options::default(), echo);
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    host.link(0).is_over();
    assert_eq!(
        client.post(&[("Mcp-Session-Id", &id)], &ping("1")).0.status,
        404
    );
}

#[test]
fn the_end_lets_answers_go_out_and_closes_every_connection() {
    let host = Host::start(Options::default(), |_, _| {});
    let mut host = host;
    let mut client = Client::new(host.address);
    let id = client.initialize(LATEST);
    let session = [("Mcp-Session-Id", id.as_str())];
    let mut general = Client::new(host.address);
    general.send("GET", &[("Accept", "text/event-stream"), session[0]], b"");
    assert_eq!(general.head().status, 200);
    client.begin(&session, &ping("1"));
    host.next_message();
    let link = host.link(0);
    host.stop();
    // The stream that belongs to no request ends at once.
    assert_eq!(general.event(), None);
    link.answer(&countersign_mcp::RequestId::Integer("1".into()), "{}");
    let (head, body) = client.answer();
    assert_eq!(head.status, 200);
    assert!(body.contains("\"result\":{}"), "{body}");
    host.end();
    assert!(host.seen.iter().any(|seen| seen == Seen::Closed(0)));
    assert!(std::net::TcpStream::connect(host.address).is_err());
}

#[test]
fn other_machines_are_served_only_where_that_was_allowed() {
    let any = "0.0.0.0:0".parse().unwrap();
    let refused = bind(any, Options::default());
    assert!(matches!(refused, Err(BindError::BeyondLoopback)));
    assert!(bind(any, Options::default().beyond_loopback()).is_ok());
    let held = bind("127.0.0.1:0".parse().unwrap(), Options::default()).unwrap();
    assert!(matches!(
        bind(held.address(), Options::default()),
        Err(BindError::Refused(_))
    ));
}
