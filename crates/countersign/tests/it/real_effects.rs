//! Clients, servers and ourselves, killed right when something has happened and nobody knows yet.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{self, park_timeout};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_client::{Client, decide, outcome as outcome_of};
use crate::real_client::{RealClient, Running};
use crate::real_server::{RealServer, noting, noting_at};
use crate::real_servers::{outcome, waiting_handle};
use crate::real_transport::{Transport, Wrapped};
use crate::workplace::Workplace;

const PATIENCE: Duration = Duration::from_mins(1);

/// All of them are killed at once, and some clients ask again at the same time: it is unknown, for all of them and for good.
#[test]
fn everything_is_killed_at_the_effect() {
    let cases = [
        (RealClient::Node1, Transport::Lines),
        (RealClient::Python, Transport::Http),
        (RealClient::Node2Alone, Transport::Http),
    ];
    for (client, transport) in cases {
        let (place, handle, wrapped, server) = acted_and_held(client, transport);
        wrapped.kill();
        place.release();
        for _ in 0..2 {
            let answers = asked_at_once(client, transport, &place.0, &server);
            for answer in answers {
                assert_eq!(outcome(&answer, "code"), "OUTCOME_UNKNOWN", "{answer}");
                assert_eq!(outcome(&answer, "status_ref"), handle.as_str(), "{answer}");
            }
        }
        assert_eq!(place.count(), 1, "{client:?} {transport:?}");
    }
}

/// Only the client is killed: what it asked for is answered to whoever asks next.
#[test]
fn a_client_is_killed_at_the_effect() {
    for client in [RealClient::Node1, RealClient::PythonAlone] {
        let (place, _, mut wrapped, server) = acted_and_held(client, Transport::Http);
        wrapped.client.take().unwrap().kill();
        place.release();
        for answer in asked_at_once(client, Transport::Http, &place.0, &server) {
            assert_eq!(outcome(&answer, "status"), "succeeded", "{answer}");
            assert_eq!(outcome(&answer, "delivery"), "local_replay", "{answer}");
            assert_eq!(answer["content"][0]["text"], "noted", "{answer}");
        }
        assert_eq!(place.count(), 1, "{client:?}");
    }
}

/// A server at an address: the same through us as without us, and its end in the middle of a write leaves that unknown.
#[test]
fn a_server_at_an_address() {
    let place = Noting::new();
    let port = free_port();
    let remote = Remote::start(&place, port);
    let server = noting_at(port);
    for (client, transport) in [
        (RealClient::Node1, Transport::Lines),
        (RealClient::Python, Transport::Http),
    ] {
        let direct = client.prints(&place.0, &server.reads, &server.command);
        let wrapped = Wrapped::start(transport, &place.0, &server, "0");
        let through = client.prints(&place.0, &server.reads, &wrapped.target);
        assert_eq!(through, direct, "{client:?} {transport:?}");
    }
    let options = ["--approval-wait", "60"];
    let mut client = Client::in_front_of(&place.0, &options, &server.command[0]);
    client.initialize();
    assert!(client.call(1, "count", "{}").contains(r#""result":0"#));
    place.hold();
    client.say_call(2, "note", r#"{"text":"once"}"#);
    let handle = waiting_handle(&place.0);
    decide(&place.0, "approve", &handle);
    place.wait_for_the_effect();
    drop(remote);
    let unknown = client.hear();
    assert_eq!(outcome_of(&unknown)["code"], "OUTCOME_UNKNOWN", "{unknown}");
    place.release();
    // It is there again, and knows nothing of the session.
    let _remote = Remote::start(&place, port);
    let read = client.call(3, "count", "{}");
    assert!(read.contains(r#""result":1"#), "{read}");
    let again = client.call(4, "note", r#"{"text":"once"}"#);
    assert_eq!(outcome_of(&again)["code"], "OUTCOME_UNKNOWN", "{again}");
    assert_eq!(outcome_of(&again)["status_ref"], handle.as_str(), "{again}");
    assert_eq!(place.count(), 1);
}

/// A workplace with the file that is noted into.
struct Noting(Workplace);

impl Noting {
    fn new() -> Self {
        Self(Workplace::new())
    }

    fn hold(&self) {
        self.0.write("root/lines.hold", "");
    }

    fn release(&self) {
        std::fs::remove_file(self.0.path("root/lines.hold")).unwrap();
    }

    fn count(&self) -> usize {
        let lines = std::fs::read_to_string(self.0.path("root/lines"));
        lines.map_or(0, |lines| lines.lines().count())
    }

    #[expect(clippy::disallowed_methods, reason = "a test that waits gives up")]
    fn wait_for_the_effect(&self) {
        let started = Instant::now();
        while self.count() == 0 {
            assert!(started.elapsed() < PATIENCE, "nothing was noted");
            park_timeout(Duration::from_millis(5));
        }
    }
}

/// A client that waits for the answer to a write, and whatever stands between it and the server.
struct Waiting {
    client: Option<Running>,
    wrapped: Wrapped,
}

impl Waiting {
    fn kill(mut self) {
        self.client.take().unwrap().kill();
        drop(self.wrapped);
    }
}

/// A write that has acted, and whose answer is held back by its server.
fn acted_and_held(
    client: RealClient,
    transport: Transport,
) -> (Noting, String, Waiting, RealServer) {
    let place = Noting::new();
    place.hold();
    let server = noting(&place.0);
    let write = server.write.as_ref().unwrap().call.clone();
    let wrapped = Wrapped::start(transport, &place.0, &server, "600");
    let running = client.start(&place.0, &[write], &wrapped.target);
    let handle = waiting_handle(&place.0);
    decide(&place.0, "approve", &handle);
    place.wait_for_the_effect();
    let waiting = Waiting {
        client: Some(running),
        wrapped,
    };
    (place, handle, waiting, server)
}

/// What three clients are answered that ask for the same at the same time, each under another number than the first one.
fn asked_at_once(
    client: RealClient,
    transport: Transport,
    place: &Workplace,
    server: &RealServer,
) -> Vec<Value> {
    let write = server.write.as_ref().unwrap().call.clone();
    let steps = [("tools/list", json!({})), write];
    thread::scope(|scope| {
        let asked: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let wrapped = Wrapped::start(transport, place, server, "3");
                    client.result(place, &steps, &wrapped.target)
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The server, where clients come to over HTTP. It is killed when this goes.
struct Remote(Child);

impl Remote {
    #[expect(clippy::disallowed_methods, reason = "the server is a program")]
    fn start(place: &Noting, port: u16) -> Self {
        let mut command = noting(&place.0).command;
        command.push(port.to_string());
        let child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < PATIENCE, "nobody listens");
            park_timeout(Duration::from_millis(20));
        }
        Self(child)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
