//! Requests that get their answers, however the server gives them.

use std::collections::BTreeSet;
use std::sync::Barrier;

use countersign_mcp::port::{Ticket, ToServer};

use super::listener::{Heard, Line, number};
use super::stub::{Stub, events, json, until_closed};

fn request(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}")
}

fn result(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{ \"big\":123456789012345678901.50 }}}}")
}

fn message(text: &str, about: u32) -> Heard {
    Heard::Message(text.to_owned(), Some(number(about)))
}

#[test]
fn an_answer_passes_byte_for_byte() {
    let stub = Stub::start(|_, stream| json(stream, &result(1)));
    let line = Line::open(&stub.url());
    line.remote.send(request(1), None).unwrap();
    assert_eq!(line.hear(), message(&result(1), 1));
    let seen = stub.next();
    assert_eq!(seen.body, request(1));
    for (name, value) in [
        ("authorization", "Bearer key"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        assert_eq!(seen.header(name), Some(value));
    }
    for name in [
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "accept-encoding",
    ] {
        assert_eq!(seen.header(name), None);
    }
}

#[test]
fn a_stream_gives_every_message_and_ends_with_the_answer() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":{}}";
    let stub = Stub::start(move |_, stream| {
        let foreign = result(2);
        let text = format!(
            ": hello\r\n\r\nid: 1\r\ndata:\r\n\r\ndata: {progress}\r\n\r\nevent: ping\r\ndata: {ask}\r\n\r\n\
             event: message\ndata:{ask}\n\ndata: {foreign}\n\n\
             data: {{\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{{}}}}\n\ndata: behind\n\n"
        );
        events(stream, &text);
        false
    });
    let line = Line::open(&stub.url());
    line.remote.send(request(1), None).unwrap();
    assert_eq!(line.hear(), message(progress, 1));
    assert_eq!(line.hear(), message(ask, 1));
    assert_eq!(line.hear(), message(answer, 1));
    assert_eq!(line.hear(), message("behind", 1));
    assert!(line.problems.try_recv().is_err());
}

#[test]
fn requests_go_side_by_side_and_each_gets_its_own_answer() {
    const COUNT: u32 = 64;
    let all_are_there = Barrier::new(COUNT as usize);
    let stub = Stub::start(move |seen, stream| {
        all_are_there.wait();
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}",
            seen.id()
        );
        if seen.id().ends_with('3') {
            events(stream, &format!("data: {answer}\n\n"));
            return false;
        }
        json(stream, &answer)
    });
    let line = Line::open(&stub.url());
    for id in 0..COUNT {
        line.remote.send(request(id), None).unwrap();
    }
    let mut answered = BTreeSet::new();
    for _ in 0..COUNT {
        let Heard::Message(text, Some(about)) = line.hear() else {
            panic!("an answer");
        };
        assert!(
            text.contains(&format!("\"id\":{},", about.to_json())),
            "{text}"
        );
        answered.insert(about);
    }
    assert_eq!(answered.len(), COUNT as usize);
}

#[test]
fn what_may_go_out_once_has_a_connection_of_its_own() {
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
    let mut connections = Vec::new();
    for id in 0..6 {
        let ticket = (id >= 3).then(Ticket::default);
        line.remote.send(request(id), ticket).unwrap();
        assert!(matches!(line.hear(), Heard::Message(_, Some(_))));
        connections.push(stub.next().connection);
    }
    assert_eq!(connections[..3], [0, 0, 0]);
    let others: BTreeSet<_> = connections[3..].iter().collect();
    assert_eq!(others.len(), 3);
    assert!(!others.contains(&0));
}

#[test]
fn an_answer_does_not_wait_for_the_end_of_its_stream() {
    let stub = Stub::start(|_, stream| {
        events(stream, &format!("data: {}\n\n", result(1)));
        until_closed(stream);
        false
    });
    let line = Line::open(&stub.url());
    line.remote.send(request(1), None).unwrap();
    assert_eq!(line.hear(), message(&result(1), 1));
}
