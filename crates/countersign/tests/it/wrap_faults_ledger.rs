//! Several wrapped servers on one ledger, and a ledger that does not answer.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp_client::{Client, decide, handle, outcome};
use crate::terminal::Session;
use crate::workplace::Workplace;
use crate::wrap_faults_world::{asked, becomes, call, is_sound, open, state, word};

const SHORT: &[&str] = &["--approval-wait", "0"];
const PROCESSES: u32 = 6;
const WRITES: u32 = 8;

/// A person lets every call of the write pass.
fn grant_all(place: &Workplace, client: &mut Client) {
    let waiting = handle(&call(client, 1, "act", &json!({"n": 0})));
    let ledger = place.ledger();
    let granted = Session::new(&[
        "grants", "create", &waiting, "--as", "operator", "--ledger", &ledger, "--for", "1h",
        "--uses", "100", "--any", "n",
    ])
    .answering("yes\n")
    .run();
    assert_eq!(granted.code, 0, "{granted:?}");
    becomes(place, &waiting, "succeeded");
}

#[test]
fn six_servers_write_at_once_into_one_ledger_and_nothing_is_done_twice_or_lost() {
    let place = Workplace::new();
    let mut first = open(&place, SHORT);
    grant_all(&place, &mut first);
    let (place, barrier) = (&place, &Barrier::new(usize::try_from(PROCESSES).unwrap()));
    let handles: Vec<Vec<String>> = thread::scope(|scope| {
        let running: Vec<_> = (0..PROCESSES)
            .map(|process| {
                scope.spawn(move || {
                    let mut client = open(place, &["--approval-wait", "60"]);
                    call(&mut client, 9, "look", &json!({}));
                    barrier.wait();
                    // The very same call by all of them: one does it, and all hear of it.
                    let same = call(&mut client, 10, "act", &json!({"n": -1}));
                    assert_eq!(word(&same), "succeeded", "{same}");
                    barrier.wait();
                    let mut handles = vec![handle(&same)];
                    for number in 0..WRITES {
                        let done = call(
                            &mut client,
                            20 + number,
                            "act",
                            &json!({"n": 100 * process + number + 1}),
                        );
                        assert_eq!(outcome(&done)["delivery"], "fresh", "{done}");
                        handles.push(handle(&done));
                    }
                    assert_eq!(client.end().0, Some(0));
                    handles
                })
            })
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let distinct: BTreeSet<&String> = handles.iter().flatten().collect();
    let wanted = usize::try_from(PROCESSES * WRITES + 1).unwrap();
    assert_eq!(distinct.len(), wanted);
    let notes = place.notes();
    let done: BTreeSet<String> = notes
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["params"]["arguments"].to_string())
        .collect();
    assert_eq!(
        (done.len(), notes.len()),
        (wanted + 1, wanted + 1),
        "each once"
    );
    for handle in distinct {
        assert_eq!(state(place, handle), "succeeded");
    }
    is_sound(place);
}

/// The answer comes, and cannot be recorded: nobody may say that nothing was carried out.
#[test]
fn a_ledger_that_is_held_when_the_answer_comes_leaves_the_write_unknown() {
    let place = Workplace::new();
    let mut client = open(&place, &["--observe"]);
    let until = place.at("root/until");
    let holds = json!({"how": "lock", "path": place.at("ledger.db"), "until": until});
    let told = call(&mut client, 10, "act", &holds);
    assert_eq!(word(&told), "OUTCOME_UNKNOWN", "{told}");
    assert!(!told.contains("nothing was carried out"), "{told}");
    assert!(call(&mut client, 11, "look", &json!({})).contains("done"));
    // Held still: what has not begun says so.
    let busy = call(&mut client, 12, "act", &json!({"n": 2}));
    assert!(
        busy.contains("HOST_UNAVAILABLE: nothing was sent"),
        "{busy}"
    );
    place.write("root/until", "");
    let mut done = call(&mut client, 13, "act", &json!({"n": 3}));
    for id in 14..100 {
        if !done.contains("HOST_UNAVAILABLE") {
            break;
        }
        done = call(&mut client, id, "act", &json!({"n": 3}));
    }
    assert_eq!(word(&done), "succeeded", "{done}");
    assert!(["unknown", "executing"].contains(&state(&place, &handle(&told)).as_str()));
    client.end();
    assert_eq!(place.notes().len(), 2);
    is_sound(&place);
    let listed = asked(&place, &["operations", "list"]);
    assert!(listed.stdout.contains(&handle(&told)), "{listed:?}");
}

/// It was carried out while nobody waited for it: a host that cannot look has no say in that.
#[test]
fn a_ledger_that_is_held_says_nothing_of_what_was_done_before() {
    let place = Workplace::new();
    let mut client = open(&place, SHORT);
    let waiting = handle(&call(&mut client, 10, "act", &json!({"n": 1})));
    decide(&place, "approve", &waiting);
    becomes(&place, &waiting, "succeeded");
    let until = place.at("root/until");
    let holds = json!({"how": "lock", "path": place.at("ledger.db"), "until": until});
    call(&mut client, 11, "look", &holds);
    let busy = call(&mut client, 12, "act", &json!({"n": 1}));
    assert!(
        busy.contains("HOST_UNAVAILABLE: nothing was sent"),
        "{busy}"
    );
    assert!(busy.contains("not known here what became of it"), "{busy}");
    place.write("root/until", "");
    client.end();
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn a_ledger_that_is_gone_lets_nothing_be_done_and_is_told_of_once() {
    let place = Workplace::new();
    let mut client = open(&place, SHORT);
    for number in 1..4 {
        call(&mut client, number, "act", &json!({"n": number}));
    }
    fs::remove_file(place.path("ledger.db")).unwrap();
    // Longer than it takes to look after what waits, and again.
    thread::park_timeout(Duration::from_secs(4));
    let refused = call(&mut client, 9, "act", &json!({"n": 1}));
    assert!(refused.contains("HOST_UNAVAILABLE"), "{refused}");
    let (_, stderr) = client.end();
    assert_eq!(stderr.matches("deleted or replaced").count(), 2, "{stderr}");
    assert!(place.notes().is_empty());
}
