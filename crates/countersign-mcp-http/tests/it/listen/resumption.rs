use std::sync::mpsc::channel;
use std::time::Duration;

use countersign_mcp::{RequestId, write};
use countersign_mcp_http::listen::Options;

use super::client::{Client, event};
use super::host::{Host, SOON};

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn host() -> Host {
    let options = Options::default().with_json_wait(Duration::from_millis(20));
    Host::start(options, |_, _| {})
}

fn note(number: u32) -> String {
    write::notification("note", &format!("{{\"n\":{number}}}"))
}

fn get(host: &Host, session: &str, last: Option<&str>) -> Client {
    let mut client = Client::new(host.address);
    let mut headers = vec![("Accept", "text/event-stream"), ("Mcp-Session-Id", session)];
    headers.extend(last.map(|last| ("Last-Event-ID", last)));
    client.send("GET", &headers, b"");
    client
}

/// Everything that a stream still has, without comments.
fn rest(mut client: Client) -> String {
    assert_eq!(client.head().status, 200);
    std::iter::from_fn(|| client.event()).collect()
}

#[test]
fn a_broken_stream_is_read_on_with_its_answer() {
    let host = host();
    let mut client = Client::new(host.address);
    let session = client.initialize("2025-11-25");
    let (link, id) = (host.link(0), RequestId::Integer("1".into()));
    client.begin(&[("Mcp-Session-Id", &session)], ASK);
    host.next_message();
    client.head();
    client.event().unwrap();
    link.notify(Some(&id), "note", "{\"n\":1}");
    assert_eq!(client.event().unwrap(), event("2-1", &note(1)));
    drop(client);
    // It is no cancellation: what comes meanwhile waits.
    link.notify(Some(&id), "note", "{\"n\":2}");
    let (told, hear) = channel();
    let on_written = move || told.send(()).unwrap();
    link.send(
        write::result(&id, "{}"),
        Some(&id),
        Some(Box::new(on_written)),
    );
    let body = rest(get(&host, &session, Some("2-1")));
    assert_eq!(body, event("2-2", &note(2)) + &event("2-3", ANSWER));
    hear.recv_timeout(SOON).unwrap();
    // And once more, as long as it is kept.
    let body = rest(get(&host, &session, Some("2-2")));
    assert_eq!(body, event("2-3", ANSWER));
    let body = rest(get(&host, &session, Some("2-0")));
    assert_eq!(
        body,
        event("2-1", &note(1)) + &event("2-2", &note(2)) + &event("2-3", ANSWER)
    );
    // The id is free again.
    let mut client = Client::new(host.address);
    client.begin(&[("Mcp-Session-Id", &session)], ASK);
    host.next_message();
    link.answer(&id, "{}");
    assert_eq!(client.answer().0.status, 200);
}

#[test]
fn the_general_stream_goes_on_where_it_broke() {
    let host = host();
    let session = Client::new(host.address).initialize("2025-06-18");
    let link = host.link(0);
    let mut first = get(&host, &session, None);
    assert_eq!(first.head().status, 200);
    link.notify(None, "note", "{\"n\":1}");
    assert_eq!(first.event().unwrap(), event("0-1", &note(1)));
    // The connection is dead, and nobody knows it yet: who resumes takes the stream over.
    let mut second = get(&host, &session, Some("0-0"));
    assert_eq!(second.head().status, 200);
    assert_eq!(second.event().unwrap(), event("0-1", &note(1)));
    link.notify(None, "note", "{\"n\":2}");
    assert_eq!(second.event().unwrap(), event("0-2", &note(2)));
    assert!(first.is_closed());
}

#[test]
fn no_session_gets_what_another_one_was_sent() {
    let host = host();
    let mut client = Client::new(host.address);
    let (mine, other) = (
        client.initialize("2025-11-25"),
        client.initialize("2025-11-25"),
    );
    client.begin(&[("Mcp-Session-Id", &mine)], ASK);
    host.next_message();
    client.head();
    drop(client);
    host.link(0)
        .answer(&RequestId::Integer("1".into()), "{\"secret\":1}");
    for (session, last, status) in [
        (&other, "2-0", 400),
        (&mine, "3-0", 400),
        (&mine, "x", 400),
        (&mine, "", 400),
        (&mine, "2-0", 200),
    ] {
        let (head, body) = get(&host, session, Some(last)).answer();
        assert_eq!(head.status, status, "{last}");
        assert_eq!(body.contains("secret"), status == 200);
    }
    let (head, _) = get(&host, "00", Some("2-0")).answer();
    assert_eq!(head.status, 404);
}
