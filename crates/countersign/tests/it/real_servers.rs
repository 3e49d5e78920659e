//! Servers and clients that people use, with us in between and without.

use std::thread::park_timeout;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_client::decide;
use crate::program::countersign;
use crate::real_client::{CLIENTS, RealClient, Step};
use crate::real_server::{self, RealServer, Write};
use crate::workplace::Workplace;

const PATIENCE: Duration = Duration::from_mins(5);

#[test]
fn a_filesystem_server() {
    is_the_same_and_writes_once(real_server::filesystem, RealClient::Node1);
}

#[test]
fn a_memory_server() {
    is_the_same_and_writes_once(real_server::memory, RealClient::Node2);
}

#[test]
fn a_git_server() {
    is_the_same_and_writes_once(real_server::git, RealClient::Python);
}

#[test]
fn a_sqlite_server() {
    is_the_same_and_writes_once(real_server::sqlite, RealClient::Inspector);
}

#[test]
fn a_time_server() {
    is_the_same(real_server::time);
}

#[test]
fn a_server_of_everything() {
    is_the_same(real_server::everything);
}

/// Every client sees of a server, through us, exactly what it sees of it alone. One of them writes.
fn is_the_same_and_writes_once(server: fn(&Workplace) -> RealServer, client: RealClient) {
    is_the_same(server);
    let place = Workplace::new();
    let server = server(&place);
    let write = server.write.as_ref().unwrap();
    writes_once(client, &place, &server, write);
}

fn is_the_same(server: fn(&Workplace) -> RealServer) {
    for client in CLIENTS {
        let place = Workplace::new();
        let server = server(&place);
        let direct = client.prints(&place, &server.reads, &server.command);
        let wrapped = server.wrapped(&place, &["--approval-wait", "0"]);
        assert_eq!(
            client.prints(&place, &server.reads, &wrapped),
            direct,
            "{client:?}"
        );
    }
}

/// A client that is killed while it waits, one that asks while nobody has decided, one that gets the answer, and one
/// that asks again: all of them ask for the same, and it is done once.
fn writes_once(client: RealClient, place: &Workplace, server: &RealServer, write: &Write) {
    let call = |wait: &str, steps: &[Step]| {
        let wrapped = server.wrapped(place, &["--approval-wait", wait]);
        client.result(place, steps, &wrapped)
    };
    let first = std::slice::from_ref(&write.call);
    // Each has another number in its session than the one before. The list comes first, since a client that asks for it
    // after the answer has gone on.
    let list = || ("tools/list", json!({}));
    let second = [list(), write.call.clone()];
    let third = [list(), list(), write.call.clone()];
    let killed = client.start(
        place,
        first,
        &server.wrapped(place, &["--approval-wait", "600"]),
    );
    let handle = waiting_handle(place);
    killed.kill();
    let waiting = call("0", &third);
    assert_eq!(outcome(&waiting, "code"), "APPROVAL_REQUIRED", "{waiting}");
    assert_eq!(
        outcome(&waiting, "status_ref"),
        handle.as_str(),
        "{client:?}"
    );
    assert_eq!((write.count)(place), 0, "{client:?}");
    decide(place, "approve", &handle);
    let done = call("60", &second);
    assert_eq!(outcome(&done, "status"), "succeeded", "{done}");
    assert_eq!((write.count)(place), 1, "{client:?}");
    (write.undo)(place);
    let count = (write.count)(place);
    let again = call("0", &third);
    assert_eq!(outcome(&again, "delivery"), "local_replay", "{again}");
    assert_eq!(again["content"], done["content"], "{client:?}");
    assert_eq!((write.count)(place), count, "{client:?}");
}

/// The handle of the one write that waits, as soon as it does.
#[expect(
    clippy::disallowed_methods,
    reason = "a test that waits for a process gives up"
)]
fn waiting_handle(place: &Workplace) -> String {
    let ledger = place.ledger();
    let started = Instant::now();
    loop {
        if place.path("ledger.db").exists() {
            let listed = countersign(&["approvals", "list", "--json", "--ledger", &ledger]);
            let listed: Value = serde_json::from_str(&listed.stdout).expect(&listed.stderr);
            if let Some(handle) = listed["operations"][0]["status_ref"].as_str() {
                return handle.to_owned();
            }
        }
        assert!(started.elapsed() < PATIENCE, "nothing waits");
        park_timeout(Duration::from_millis(50));
    }
}

fn outcome<'r>(result: &'r Value, name: &str) -> &'r Value {
    &result["_meta"]["countersign/outcome"][name]
}
