use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use countersign_mcp::{MESSAGE_LIMITS, RequestId};
use countersign_mcp_http::listen::Options;

use super::client::{Client, SESSION_HEADERS};
use super::host::{Host, SOON, echo, request};

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn headers_that_are_too_long_or_too_many_are_refused() {
    let host = Host::start(Options::default(), echo);
    let long = "x".repeat(1024 * 1024);
    let many: Vec<_> = (0..100).map(|number| format!("x-{number}")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), "1")).collect();
    for headers in [vec![("x", long.as_str())], many] {
        let mut client = Client::new(host.address);
        client.send("GET", &headers, b"");
        assert_eq!(client.head().status, 431);
    }
    assert_eq!(Client::new(host.address).initialize("2025-11-25").len(), 64);
}

#[test]
fn who_takes_too_long_to_ask_is_not_waited_for() {
    let options = Options::default()
        .with_header_limit(Duration::from_millis(200))
        .with_keep_alive(Duration::from_millis(100));
    let host = Host::start(options, echo);
    let beginnings = [
        "",
        "POST /mcp HTTP/1.1\r\nHost: ",
        "POST /mcp HTTP/1.1\r\nX: y\r\n",
    ];
    for beginning in beginnings {
        let mut client = Client::new(host.address);
        client.raw(beginning.as_bytes());
        assert!(client.is_closed(), "{beginning}");
    }
    // Between two requests too.
    let mut client = Client::new(host.address);
    client.initialize("2025-11-25");
    assert!(client.is_closed());
    // Who waits for an answer is not one of them.
    let mut client = Client::new(host.address);
    let session = client.initialize("2025-11-25");
    let headers = [
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", session.as_str()),
    ];
    client.send("GET", &headers, b"");
    client.head();
    for _ in 0..8 {
        assert_eq!(client.chunk().unwrap(), b":\n\n");
    }
    // And within a body.
    let mut client = Client::new(host.address);
    let [(accept, both), (content, json)] = SESSION_HEADERS;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{accept}: {both}\r\n{content}: {json}\r\nContent-Length: 9\r\n\r\n{{",
        host.address
    );
    client.raw(head.as_bytes());
    assert_eq!(client.head().status, 408);
}

#[test]
fn bodies_are_bounded_and_read_strictly() {
    let host = Host::start(Options::default(), echo);
    let session = Client::new(host.address).initialize("2025-11-25");
    let [accept, json] = SESSION_HEADERS;
    let headers = [accept, json, ("Mcp-Session-Id", session.as_str())];
    let padded = |length: usize| {
        let end = "\"}}";
        let mut body = r#"{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":""#.to_owned();
        body.push_str(&"x".repeat(length - body.len() - end.len()));
        body + end
    };
    let longest = MESSAGE_LIMITS.bytes;
    for (length, status) in [
        (4 * 1024 * 1024, 200),
        (longest + 1, 413),
        (2 * longest, 413),
    ] {
        let mut client = Client::new(host.address);
        client.send("POST", &headers, padded(length).as_bytes());
        let (head, body) = client.answer();
        assert_eq!(head.status, status, "{length}");
        assert!(body.starts_with(r#"{"jsonrpc":"2.0","id":"big","#));
    }
    let mut client = Client::new(host.address);
    client.send(
        "POST",
        &headers,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
    );
    let (head, body) = client.answer();
    assert_eq!(head.status, 400);
    assert!(body.contains(r#""id":1,"error":{"code":-32700"#), "{body}");
    // In pieces it is the same message.
    let mut client = Client::new(host.address);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{}: {}\r\n{}: {}\r\nMcp-Session-Id: {session}\r\nTransfer-Encoding: chunked\r\n\r\n",
        host.address, accept.0, accept.1, json.0, json.1
    );
    let (first, second) = ASK.split_at(9);
    let chunks = format!(
        "{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    client.raw((head.clone() + &chunks).as_bytes());
    assert_eq!(client.answer().0.status, 200);
    // Two requests at once are answered one after the other.
    client.raw((head.clone() + &chunks + &head + &chunks).as_bytes());
    assert_eq!(client.answer().0.status, 200);
    assert_eq!(client.answer().0.status, 200);
}

#[test]
fn a_client_that_does_not_read_is_cut_and_holds_up_nobody() {
    let host = Host::start(Options::default(), |link, message| {
        let Some((id, method)) = request(message) else {
            return;
        };
        if method == "ping" {
            link.answer(&id, "{}");
        }
    });
    let mut slow = Client::new(host.address);
    let session = slow.initialize("2025-11-25");
    let headers = [("Mcp-Session-Id", session.as_str())];
    slow.begin(&headers, r#"{"jsonrpc":"2.0","id":"slow","method":"much"}"#);
    host.next_message();
    let (link, id) = (host.link(0), RequestId::Text("slow".into()));
    let (done, is_done) = channel();
    let sender = thread::spawn(move || {
        let text = format!("{{\"text\":\"{}\"}}", "x".repeat(64 * 1024));
        for _ in 0..400 {
            link.notify(Some(&id), "much", &text);
        }
        link.answer(&id, "{\"end\":true}");
        done.send(()).unwrap();
    });
    let mut other = Client::new(host.address);
    let other_session = other.initialize("2025-11-25");
    for _ in 0..20 {
        let (head, _) = other.post(&[("Mcp-Session-Id", &other_session)], ASK);
        assert_eq!(head.status, 200);
    }
    // It is waited for once, and not for each message.
    is_done.recv_timeout(SOON).unwrap();
    sender.join().unwrap();
    let head = slow.head();
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    let mut read = Vec::new();
    let _ = std::io::Read::read_to_end(&mut slow.stream, &mut read);
    assert!(!read.ends_with(b"0\r\n\r\n"));
    assert!(!String::from_utf8_lossy(&read).contains("\"end\":true"));
    // What is left of it can be fetched.
    let mut again = Client::new(host.address);
    let headers = [
        ("Accept", "text/event-stream"),
        headers[0],
        ("Last-Event-ID", "2-0"),
    ];
    again.send("GET", &headers, b"");
    let (_, body) = again.answer();
    assert!(body.contains(
        "id: 2-401\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"slow\",\"result\":{\"end\":true}}\n\n"
    ));
    assert!(body.len() < 2 * 1024 * 1024, "{}", body.len());
}

#[test]
fn a_connection_whose_client_takes_nothing_is_closed() {
    let options = Options::default().with_write_limit(Duration::from_millis(200));
    let host = Host::start(options, echo);
    let session = Client::new(host.address).initialize("2025-11-25");
    let big = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}",
        "x".repeat(4_000_000)
    );
    let mut client = Client::new(host.address);
    let stream = client.stream.get_ref().try_clone().unwrap();
    let writer = thread::spawn(move || {
        let [accept, json] = SESSION_HEADERS;
        for _ in 0..16 {
            let headers = [accept, json, ("Mcp-Session-Id", session.as_str())];
            client.send("POST", &headers, big.as_bytes());
        }
        // Nothing of the answers was read until here, so that they filled every buffer.
        client
    });
    let client = writer.join().unwrap();
    drop((client, stream));
    let mut other = Client::new(host.address);
    assert_eq!(other.initialize("2025-11-25").len(), 64);
    other.stream.get_mut().flush().unwrap();
}
