//! Servers that fail, lie or attack: everything ends, and nothing is claimed that is not known.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use countersign_mcp::port::{NotSent, Ticket, ToServer, Unanswered};
use countersign_mcp::{MESSAGE_LIMITS, RequestId, salvage};
use countersign_mcp_http::remote::{MAX_QUEUED, MAX_REQUESTS, Problem};

use super::listener::{Heard, Line, number};
use super::stub::{PATIENCE, Stub, events, json, reply, until_closed};

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
const JSON: &str = "Content-Type: application/json\r\n";

fn lost(id: u32) -> Heard {
    Heard::Unanswered(number(id), Unanswered::Lost)
}

fn unsent(why: NotSent) -> Heard {
    Heard::Unanswered(number(1), Unanswered::NotSent(why))
}

type Answer = fn(&mut TcpStream) -> bool;

#[test]
fn what_is_no_answer_is_lost() {
    let cases: [(&str, Option<Problem>, Answer); 15] = [
        ("reset", None, |_| false),
        ("half a head", None, |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-").unwrap();
            false
        }),
        ("garbage", None, |stream| {
            stream.write_all(b"\x00\xff\r\n\r\n").unwrap();
            false
        }),
        ("half a body", None, |stream| {
            let head = format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: 99\r\n\r\n{{\"id\":1,");
            stream.write_all(head.as_bytes()).unwrap();
            false
        }),
        ("no content", Some(Problem::Status(202)), |stream| {
            reply(stream, 202, "", "")
        }),
        ("a page", Some(Problem::NotMcp), |stream| {
            reply(stream, 200, "Content-Type: text/html\r\n", "<html>")
        }),
        ("no type", Some(Problem::NotMcp), |stream| {
            reply(stream, 200, "", "{}")
        }),
        ("another's answer", None, |stream| {
            json(stream, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#)
        }),
        ("no message", None, |stream| json(stream, "true")),
        ("a batch", None, |stream| {
            json(stream, r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#)
        }),
        ("an empty stream", None, |stream| {
            events(stream, "");
            false
        }),
        ("a stream that breaks", None, |stream| {
            events(
                stream,
                "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
            );
            false
        }),
        ("an error of HTTP", Some(Problem::Status(503)), |stream| {
            reply(stream, 503, "", "try later")
        }),
        ("too many", Some(Problem::Status(429)), |stream| {
            reply(stream, 429, "Retry-After: 0\r\n", "")
        }),
        ("elsewhere", Some(Problem::Moved(307)), |stream| {
            reply(stream, 307, "Location: http://127.0.0.1:1/\r\n", "")
        }),
    ];
    for (name, problem, answer) in cases {
        for ticket in [None, Some(Ticket::default())] {
            let stub = Stub::start(move |_, stream| answer(stream));
            let line = Line::open(&stub.url());
            line.remote.send(REQUEST.to_owned(), ticket).unwrap();
            assert_eq!(line.hear(), lost(1), "{name}");
            assert_eq!(line.problems.try_recv().ok(), problem, "{name}");
            assert_eq!(stub.next().method, "POST");
            assert!(stub.rest().is_empty(), "{name}");
        }
    }
}

#[test]
fn only_what_could_not_connect_is_not_sent() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let line = Line::open(&format!("http://127.0.0.1:{port}/"));
    for ticket in [None, Some(Ticket::default())] {
        line.remote.send(REQUEST.to_owned(), ticket).unwrap();
        assert_eq!(line.hear(), unsent(NotSent::Unreachable));
    }
    assert_eq!(line.problem(), Problem::NoConnection);

    // A server that ends the handshake has seen nothing of the request.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = Line::open(&format!("https://127.0.0.1:{port}/"));
    let ticket = Some(Ticket::default());
    line.remote.send(REQUEST.to_owned(), ticket).unwrap();
    drop(listener.accept().unwrap());
    assert_eq!(line.hear(), unsent(NotSent::Unreachable));
    assert_eq!(line.problem(), Problem::NoConnection);
}

#[test]
fn what_was_given_up_does_not_go_out() {
    let stub = Stub::start(|_, stream| json(stream, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    let line = Line::open(&stub.url());
    let ticket = Ticket::default();
    assert!(ticket.give_up());
    line.remote.send(REQUEST.to_owned(), Some(ticket)).unwrap();
    assert_eq!(line.hear(), unsent(NotSent::GivenUp));
    assert!(stub.rest().is_empty());

    let ticket = Ticket::default();
    line.remote
        .send(REQUEST.to_owned(), Some(ticket.clone()))
        .unwrap();
    assert!(matches!(line.hear(), Heard::Message(..)));
    assert!(!ticket.give_up());
}

#[test]
fn refused_credentials_are_said_in_our_words() {
    for status in [401, 403] {
        let stub = Stub::start(move |_, stream| {
            reply(
                stream,
                status,
                JSON,
                r#"{"jsonrpc":"2.0","id":1,"result":{"hidden":1}}"#,
            )
        });
        let line = Line::open(&stub.url());
        line.remote.send(REQUEST.to_owned(), None).unwrap();
        let Heard::Message(text, Some(about)) = line.hear() else {
            panic!("an error");
        };
        assert_eq!(about, number(1));
        assert!(
            text.contains("--header-env Authorization=VARIABLE"),
            "{text}"
        );
        assert!(
            text.contains("-32603") && !text.contains("hidden"),
            "{text}"
        );
        line.remote
            .send(REQUEST.to_owned(), Some(Ticket::default()))
            .unwrap();
        assert_eq!(line.hear(), lost(1));
        assert_eq!(line.problem(), Problem::Refused(status));
        assert!(line.problems.try_recv().is_err());
    }
}

#[test]
fn an_error_of_the_protocol_is_an_answer_whatever_its_status() {
    for status in [400, 404, 500] {
        let answer = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}"#;
        let stub = Stub::start(move |_, stream| reply(stream, status, JSON, answer));
        let line = Line::open(&stub.url());
        for ticket in [None, Some(Ticket::default())] {
            line.remote.send(REQUEST.to_owned(), ticket).unwrap();
            assert_eq!(
                line.hear(),
                Heard::Message(answer.to_owned(), Some(number(1)))
            );
        }
        assert!(line.problems.try_recv().is_err());
    }
}

#[test]
fn an_error_without_an_id_answers_what_may_be_asked_again() {
    let stub = Stub::start(|_, stream| {
        let answer =
            r#"{"jsonrpc":"2.0","error":{"code":-32000, "message":"m","data":1.50},"id":null}"#;
        reply(stream, 400, JSON, answer)
    });
    let line = Line::open(&stub.url());
    line.remote.send(REQUEST.to_owned(), None).unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000, "message":"m","data":1.50}}"#;
    assert_eq!(
        line.hear(),
        Heard::Message(answer.to_owned(), Some(number(1)))
    );
    line.remote
        .send(REQUEST.to_owned(), Some(Ticket::default()))
        .unwrap();
    assert_eq!(line.hear(), lost(1));
}

/// Writes the same piece again and again, until the other side has enough.
fn flood(stream: &mut TcpStream, piece: &str) {
    let block = piece.repeat((256 * 1024 / piece.len()).max(1));
    for _ in 0..16 * 1024 {
        if stream.write_all(block.as_bytes()).is_err() {
            return;
        }
    }
    panic!("four gigabytes were read");
}

#[test]
fn endless_answers_are_cut_and_others_go_on() {
    let stub = Stub::start(|seen, stream| {
        let id = seen.id();
        let begun = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"x\":\"");
        match id.as_str() {
            "1" => {
                let head = format!("HTTP/1.1 200 OK\r\n{JSON}\r\n{begun}");
                stream.write_all(head.as_bytes()).unwrap();
                flood(stream, "x");
            }
            "2" => {
                let head = format!("HTTP/1.1 200 OK\r\n{JSON}\r\n");
                stream.write_all(head.as_bytes()).unwrap();
                flood(stream, " ");
            }
            "3" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n").unwrap();
                flood(stream, "a: b\r\n");
            }
            "4" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\na: ").unwrap();
                flood(stream, "x");
            }
            "5" => {
                let long = "x".repeat(MESSAGE_LIMITS.bytes * 2);
                events(stream, &format!("data: {begun}{long}\n\n"));
            }
            _ => {
                return json(
                    stream,
                    &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"),
                );
            }
        }
        false
    });
    let line = Line::open(&stub.url());
    for id in 1..=6 {
        let request = REQUEST.replace("\"id\":1", &format!("\"id\":{id}"));
        line.remote.send(request, None).unwrap();
    }
    for _ in 1..=6 {
        match line.hear() {
            Heard::Message(text, Some(about)) => {
                assert_eq!(salvage(text.as_bytes()).unwrap().id, about);
                if about == number(6) {
                    assert_eq!(text, r#"{"jsonrpc":"2.0","id":6,"result":{}}"#);
                } else {
                    assert!([1, 5].map(number).contains(&about));
                    assert_eq!(text.len(), MESSAGE_LIMITS.bytes + 1);
                }
            }
            Heard::Unanswered(id, Unanswered::Lost) => {
                assert!([2, 3, 4].map(number).contains(&id));
            }
            other @ (Heard::Message(..) | Heard::Unanswered(..) | Heard::Gone) => {
                panic!("{other:?}")
            }
        }
    }
}

#[test]
fn a_server_that_hangs_takes_so_many_and_no_more() {
    let stub = Stub::start(|seen, stream| {
        if seen.has("\"method\"") {
            until_closed(stream);
            return false;
        }
        reply(stream, 202, "", "")
    });
    let line = Line::open(&stub.url());
    let request = |id: usize| REQUEST.replace("\"id\":1", &format!("\"id\":{id}"));
    for id in 0..MAX_REQUESTS {
        line.remote.send(request(id), None).unwrap();
    }
    assert_eq!(
        line.remote.send(request(MAX_REQUESTS), None),
        Err(NotSent::Busy)
    );
    // What a server waits for itself still goes out, in order.
    while stub.next().id() != "0" {}
    stub.rest();
    for id in 0..10 {
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
        line.remote.send(answer, None).unwrap();
    }
    let mut answers = std::iter::repeat_with(|| stub.next()).filter(|seen| seen.has("result"));
    for id in 0..10 {
        let seen = answers.next().unwrap();
        assert!(seen.has(&format!("\"id\":{id},")), "{}", seen.body);
    }
    line.remote.close();
    assert_eq!(
        line.remote.send(request(1), None),
        Err(NotSent::Unreachable)
    );
    for _ in 0..MAX_REQUESTS {
        assert!(matches!(
            line.hear(),
            Heard::Unanswered(_, Unanswered::Lost)
        ));
    }
    assert_eq!(line.hear(), Heard::Gone);
}

#[test]
fn notifications_wait_in_bounds() {
    let stub = Stub::start(|_, stream| {
        until_closed(stream);
        false
    });
    let line = Line::open(&stub.url());
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    for _ in 0..MAX_QUEUED {
        line.remote.send(notification.to_owned(), None).unwrap();
    }
    let busy = line.remote.send(notification.to_owned(), None);
    assert_eq!(busy, Err(NotSent::Busy));
    let id = RequestId::Integer("1".into());
    line.remote.send(REQUEST.to_owned(), None).unwrap();
    line.remote.close();
    assert_eq!(line.hear(), Heard::Unanswered(id, Unanswered::Lost));
    assert_eq!(line.hear(), Heard::Gone);
}

#[test]
fn who_takes_nothing_is_sent_no_more() {
    const EVENTS: usize = 16 * 1024;
    let (sender, written) = std::sync::mpsc::channel();
    let stub = Stub::start(move |seen, stream| {
        if seen.has("ping") {
            return json(stream, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        }
        events(stream, "");
        // What goes on to be written after this long has been read.
        let patience = Some(std::time::Duration::from_secs(2));
        stream.set_write_timeout(patience).unwrap();
        let event = format!("data: {}\n\n", "x".repeat(64 * 1024));
        let is_written = |_: &usize| stream.write_all(event.as_bytes()).is_ok();
        sender
            .send((0..EVENTS).take_while(is_written).count())
            .unwrap();
        false
    });
    let line = Line::open(&stub.url());
    let others = Line::open(&stub.url());
    let deaf = line.deafen();
    line.remote.send(REQUEST.to_owned(), None).unwrap();
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    others.remote.send(ping.to_owned(), None).unwrap();
    assert!(matches!(others.hear(), Heard::Message(..)));
    let events = written.recv_timeout(PATIENCE).unwrap();
    assert!(events < 512, "{events} events of 64 KiB were read");
    drop(deaf);
    assert!(matches!(line.hear(), Heard::Message(..)));
}
