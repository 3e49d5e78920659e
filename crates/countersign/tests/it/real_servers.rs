//! Servers and clients that people use, with us in between and without.

use std::thread::park_timeout;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_client::decide;
use crate::program::countersign;
use crate::real_client::{ALONE, CLIENTS, RealClient, Step};
use crate::real_server::{self, RealServer, Write};
use crate::real_transport::{Transport, Wrapped};
use crate::workplace::Workplace;

const PATIENCE: Duration = Duration::from_mins(5);

#[test]
fn a_filesystem_server() {
    is_the_same(real_server::filesystem);
    writes_once(real_server::filesystem, RealClient::Node1, Transport::Lines);
    writes_once(
        real_server::filesystem,
        RealClient::Inspector,
        Transport::Http,
    );
}

#[test]
fn a_memory_server() {
    is_the_same(real_server::memory);
    writes_once(real_server::memory, RealClient::Node2, Transport::Lines);
    writes_once(real_server::memory, RealClient::Node2Alone, Transport::Http);
}

#[test]
fn a_git_server() {
    is_the_same(real_server::git);
    writes_once(real_server::git, RealClient::Python, Transport::Http);
    writes_once(real_server::git, RealClient::Node2Alone, Transport::Lines);
}

#[test]
fn a_sqlite_server() {
    is_the_same(real_server::sqlite);
    writes_once(real_server::sqlite, RealClient::Inspector, Transport::Lines);
    writes_once(
        real_server::sqlite,
        RealClient::PythonAlone,
        Transport::Http,
    );
}

#[test]
fn a_time_server() {
    is_the_same(real_server::time);
}

#[test]
fn a_server_of_everything() {
    is_the_same(real_server::everything);
}

/// Every client sees of a server, through us, exactly what it sees of it alone, whether it starts us or comes over HTTP.
fn is_the_same(server: fn(&Workplace) -> RealServer) {
    let place = Workplace::new();
    let server = server(&place);
    let wrapped = [Transport::Lines, Transport::Http]
        .map(|transport| (transport, Wrapped::start(transport, &place, &server, "0")));
    for client in CLIENTS {
        let direct = client.prints(&place, &server.reads, &server.command);
        for (transport, wrapped) in &wrapped {
            assert_eq!(
                client.prints(&place, &server.reads, &wrapped.target),
                direct,
                "{client:?} {transport:?}"
            );
        }
    }
    for (client, in_session) in ALONE {
        let direct = results(in_session, &place, &server.reads, &server.command);
        for (transport, wrapped) in &wrapped {
            let through = results(client, &place, &server.reads, &wrapped.target);
            assert_eq!(through, direct, "{client:?} {transport:?}");
        }
    }
}

/// What came of each request, without what one kind of version has and the other has not.
fn results(client: RealClient, place: &Workplace, steps: &[Step], target: &[String]) -> Vec<Value> {
    let printed = client.prints(place, steps, target).remove(0);
    let mut seen: Value = serde_json::from_str(&printed).unwrap();
    let mut results = std::mem::take(seen["results"].as_array_mut().unwrap());
    for result in &mut results {
        let result = result.as_object_mut().unwrap();
        for name in ["resultType", "ttlMs", "cacheScope"] {
            result.remove(name);
        }
        if let Some(meta) = result.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.remove("io.modelcontextprotocol/serverInfo");
        }
        if result
            .get("_meta")
            .is_some_and(|meta| meta.is_null() || *meta == json!({}))
        {
            result.remove("_meta");
        }
        for tool in result
            .get_mut("tools")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            tool.as_object_mut().unwrap().remove("execution");
        }
    }
    results
}

/// A client that is killed while it waits, one that asks while nobody has decided, one that gets the answer, and one
/// that asks again: all of them ask for the same, and it is done once.
fn writes_once(server: fn(&Workplace) -> RealServer, client: RealClient, transport: Transport) {
    let place = &Workplace::new();
    let server = server(place);
    let write: &Write = server.write.as_ref().unwrap();
    let call = |wait: &str, steps: &[Step]| {
        let wrapped = Wrapped::start(transport, place, &server, wait);
        client.result(place, steps, &wrapped.target)
    };
    let first = std::slice::from_ref(&write.call);
    // Each has another number in its session than the one before. The list comes first, since a client that asks for it
    // after the answer has gone on.
    let list = || ("tools/list", json!({}));
    let second = [list(), write.call.clone()];
    let third = [list(), list(), write.call.clone()];
    let waits = Wrapped::start(transport, place, &server, "600");
    let killed = client.start(place, first, &waits.target);
    let handle = waiting_handle(place);
    killed.kill();
    drop(waits);
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
pub(crate) fn waiting_handle(place: &Workplace) -> String {
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

pub(crate) fn outcome<'r>(result: &'r Value, name: &str) -> &'r Value {
    &result["_meta"]["countersign/outcome"][name]
}
