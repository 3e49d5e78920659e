//! What clients do wrong, and how a wrapped server ends: nothing is done twice, nothing that was done is lost.

use std::io::Write as _;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mcp_client::{Client, decide, handle, outcome};
use crate::workplace::Workplace;
use crate::wrap_faults_world::{
    becomes, call, eventually, hear, is_small, is_sound, open, request, start, state, word,
};

const SHORT: &[&str] = &["--approval-wait", "0"];
const LONG: &[&str] = &["--approval-wait", "60"];
const OBSERVE: &[&str] = &["--observe"];
const MANY: u32 = 1000;

fn cancel(client: &mut Client, id: u32) {
    let params = json!({"requestId": id, "reason": "no more"});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.say(&told.to_string());
}

/// A call that tells that it waits.
fn wait_for(client: &mut Client, id: u32, tool: &str, arguments: &Value) -> String {
    let meta = json!({"progressToken": id});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    client.say(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string(),
    );
    client.hear_waiting()
}

fn gated(place: &Workplace) -> Value {
    json!({"how": "gate", "path": place.at("root/gate")})
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn code(client: &mut Client) -> Option<i32> {
    client.child().wait().unwrap().code()
}

/// Nothing is lost on a client that sends and does not read, and nothing is kept without bounds.
#[test]
fn a_client_that_does_not_read_holds_up_itself_and_gets_everything_later() {
    let place = Workplace::new();
    let mut client = start(
        &place,
        &["--approval-wait", "0", "--call-timeout", "1"],
        &json!({}),
    );
    client.initialize();
    let waiting = call(&mut client, 1, "act", &json!({}));
    client.stops_reading();
    let mut input = client.take_input();
    let sender = thread::spawn(move || {
        for id in 10..10 + MANY {
            let line = request(id, "look", &json!({"how": "huge", "bytes": 100_000})) + "\n";
            input.write_all(line.as_bytes()).unwrap();
        }
        input
    });
    decide(&place, "approve", &handle(&waiting));
    // Longer than a server may take: it has answered long since, and is not to blame.
    thread::park_timeout(Duration::from_secs(3));
    assert_ne!(state(&place, &handle(&waiting)), "unknown");
    is_small(client.child().id());
    client.goes_on_reading();
    let mut answered: Vec<u64> = (0..MANY)
        .map(|_| client.hear_json()["id"].as_u64().unwrap())
        .collect();
    answered.sort_unstable();
    assert!(
        answered.iter().copied().eq(10..u64::from(10 + MANY)),
        "{answered:?}"
    );
    is_small(client.child().id());
    becomes(&place, &handle(&waiting), "succeeded");
    assert_eq!(place.notes().len(), 1);
    drop(sender.join().unwrap());
    assert_eq!(code(&mut client), Some(0));
}

#[test]
fn a_client_that_does_not_read_keeps_nobody_from_ending() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    client.stops_reading();
    for id in 10..20 {
        client.say(&request(
            id,
            "look",
            &json!({"how": "huge", "bytes": 4_000_000}),
        ));
    }
    // One is being written, two wait, one is in hand: the server gets no more away.
    let is_stuck = || {
        place.path("root/notes.told").exists()
            && place.read("root/notes.told").matches("huge").count() == 4
    };
    eventually("nobody reads", is_stuck);
    signal(client.child(), Signal::TERM);
    assert_eq!(code(&mut client), Some(128 + 15));
}

#[test]
fn a_client_that_leaves_while_it_waits_leaves_its_request_behind() {
    let place = Workplace::new();
    let mut client = open(&place, LONG);
    let waiting = wait_for(&mut client, 10, "act", &json!({"n": 1}));
    assert_eq!(client.end().0, Some(0));
    assert_eq!(state(&place, &waiting), "awaiting_approval");
    decide(&place, "approve", &waiting);
    let mut client = open(&place, SHORT);
    let done = call(&mut client, 10, "act", &json!({"n": 1}));
    assert_eq!(word(&done), "succeeded", "{done}");
    assert_eq!(handle(&done), waiting);
    assert_eq!(place.notes().len(), 1);
    is_sound(&place);
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_write_finds_its_answer_later() {
    let place = Workplace::new();
    let mut client = open(&place, LONG);
    let arguments = gated(&place);
    let waiting = wait_for(&mut client, 10, "act", &arguments);
    decide(&place, "approve", &waiting);
    eventually("sent", || place.notes().len() == 1);
    let ending = thread::spawn(move || client.end());
    assert_eq!(state(&place, &waiting), "executing");
    place.write("root/gate", "");
    assert_eq!(ending.join().unwrap().0, Some(0));
    assert_eq!(state(&place, &waiting), "succeeded");
    let mut client = open(&place, SHORT);
    let again = call(&mut client, 10, "act", &arguments);
    assert_eq!(outcome(&again)["delivery"], "local_replay", "{again}");
    assert_eq!(place.notes().len(), 1);
    is_sound(&place);
}

#[test]
fn a_waiting_write_that_is_cancelled_is_not_sent_and_can_still_be_approved() {
    let place = Workplace::new();
    let mut client = open(&place, LONG);
    let waiting = wait_for(&mut client, 10, "act", &json!({"n": 1}));
    cancel(&mut client, 10);
    assert!(call(&mut client, 11, "look", &json!({})).contains("done"));
    assert_eq!(state(&place, &waiting), "awaiting_approval");
    assert_eq!(place.notes().len(), 0);
    decide(&place, "approve", &waiting);
    becomes(&place, &waiting, "succeeded");
    let again = call(&mut client, 12, "act", &json!({"n": 1}));
    assert_eq!(outcome(&again)["delivery"], "local_replay", "{again}");
    assert_eq!(handle(&again), waiting);
    assert_eq!(place.notes().len(), 1);
    // Its server never heard of that request, nor of its end.
    assert!(
        !place.path("root/notes.told").exists()
            || !place.read("root/notes.told").contains("cancelled")
    );
}

#[test]
fn a_write_that_is_cancelled_under_way_is_not_undone_and_joined_on_repeat() {
    let place = Workplace::new();
    let mut client = open(&place, LONG);
    let arguments = gated(&place);
    let waiting = wait_for(&mut client, 10, "act", &arguments);
    decide(&place, "approve", &waiting);
    eventually("sent", || place.notes().len() == 1);
    cancel(&mut client, 10);
    client.say(&request(11, "act", &arguments));
    assert!(call(&mut client, 12, "look", &json!({})).contains("done"));
    place.write("root/gate", "");
    let again = hear(&client, 11);
    assert_eq!(word(&again), "succeeded", "{again}");
    assert_eq!(handle(&again), waiting);
    assert_eq!(place.notes().len(), 1);
    assert!(
        !place.path("root/notes.told").exists()
            || !place.read("root/notes.told").contains("cancelled")
    );
    is_sound(&place);
}

/// A read's cancellation is its server's to follow; whatever it answers then is for nobody.
#[test]
fn a_read_that_is_cancelled_is_answered_no_more_and_its_server_hears_so() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    call(&mut client, 9, "look", &json!({}));
    client.say(&request(10, "look", &json!({"how": "hang"})));
    cancel(&mut client, 10);
    let late = json!({"how": "raw", "lines": [r#"{"jsonrpc":"2.0","id":UP,"result":{"content":[]}}"#, r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}"#]});
    client.say(&request(11, "look", &late));
    assert_eq!(client.hear_json()["id"], 11);
    assert!(place.read("root/notes.told").contains(r#""requestId":10"#));
}

#[test]
fn two_requests_under_one_id_do_not_get_each_other_s_answers() {
    let place = Workplace::new();
    let mut client = open(&place, LONG);
    client.say(&request(10, "look", &json!({"how": "hang"})));
    let refused = |client: &mut Client, id: u32, tool: &str| {
        client.say(&request(id, tool, &json!({"n": 2})));
        let told = client.hear();
        assert!(
            told.contains(r#""id":null,"error":{"code":-32600"#),
            "{told}"
        );
    };
    refused(&mut client, 10, "look");
    refused(&mut client, 10, "act");
    let waiting = wait_for(&mut client, 20, "act", &json!({"n": 1}));
    refused(&mut client, 20, "act");
    refused(&mut client, 20, "look");
    decide(&place, "approve", &waiting);
    let done = hear(&client, 20);
    assert_eq!(handle(&done), waiting);
    // A text is another id than the number.
    client.say(&request(10, "look", &json!({})).replace(r#""id":10"#, r#""id":"10""#));
    assert_eq!(client.hear_json()["id"], "10");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn long_calls_that_wait_take_bounded_room_and_give_it_back() {
    let place = Workplace::new();
    let mut client = open(&place, LONG);
    let long = "x".repeat(3 << 20);
    let mut ids = 100..;
    let mut is_refused = |client: &mut Client| {
        let id = ids.next().unwrap();
        client.say(&request(id, "act", &json!({"n": id, "x": long})));
        client.say(&request(id + 1000, "look", &json!({})));
        let heard = client.hear();
        let is_refused = heard.contains("too many calls wait");
        assert!(is_refused || heard.contains("done"), "{heard}");
        if is_refused {
            hear(client, id + 1000);
        }
        (id, is_refused)
    };
    let asked: Vec<_> = (0..12).map(|_| is_refused(&mut client)).collect();
    let (waiting, refused): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(_, refused)| !refused);
    assert_eq!((waiting.len(), refused.len()), (10, 2));
    for (id, _) in waiting {
        cancel(&mut client, id);
    }
    eventually("there is room again", || !is_refused(&mut client).1);
    client.end();
    assert!(place.notes().is_empty());
}

#[test]
fn more_requests_than_can_wait_are_refused_under_their_own_ids() {
    let place = Workplace::new();
    let mut client = open(&place, OBSERVE);
    call(&mut client, 1, "look", &json!({}));
    for id in 10..10 + 4096 + 5 {
        client.say(&request(id, "look", &json!({"how": "hang"})));
        if id % 64 == 0 {
            // The server keeps up.
            client.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
            let told = client.hear();
            assert!(told.contains("-32601"), "{told}");
        }
    }
    for id in 10 + 4096..10 + 4096 + 5 {
        let told = client.hear();
        assert!(told.contains("too many requests are under way"), "{told}");
        assert!(told.contains(&format!(r#""id":{id},"#)), "{told}");
    }
    is_small(client.child().id());
}

/// A stateless client is asked for something in the middle of a write, and goes away.
#[test]
fn a_client_that_leaves_when_it_is_asked_for_something_keeps_nobody_waiting() {
    let place = Workplace::new();
    let mut client = Client::start_stateless(&place, OBSERVE);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let params = json!({"name": "asks", "arguments": {}, "_meta": meta});
    client.say(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string(),
    );
    assert_eq!(client.hear_json()["result"]["resultType"], "input_required");
    assert_eq!(client.end().0, Some(0));
    let listed = crate::wrap_faults_world::asked(&place, &["operations", "list", "--json"]);
    assert!(listed.stdout.contains(r#""unknown""#), "{listed:?}");
    assert_eq!(place.notes().len(), 0);
}

#[test]
fn signals_are_the_server_s_and_its_end_is_ours() {
    for (sent, expected) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let place = Workplace::new();
        let mut client = start(&place, OBSERVE, &json!({"stderr": "words of the server"}));
        client.initialize();
        call(&mut client, 10, "look", &json!({}));
        signal(client.child(), sent);
        assert_eq!(code(&mut client), Some(expected));
        let (_, stderr) = client.end();
        assert!(stderr.contains("words of the server\n"), "{stderr}");
    }
}

#[test]
fn a_server_that_does_not_end_with_its_input_is_ended() {
    thread::scope(|scope| {
        for (ignores, expected) in [(json!(["end"]), 143), (json!(["end", "TERM"]), 137)] {
            scope.spawn(move || {
                let place = Workplace::new();
                let mut client = start(&place, OBSERVE, &json!({"ignores": ignores}));
                client.initialize();
                call(&mut client, 10, "look", &json!({}));
                assert_eq!(client.end().0, Some(expected));
            });
        }
    });
}
