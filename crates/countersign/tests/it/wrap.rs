//! A wrapped server: what passes, what waits, what is never done twice, and what becomes of faults.

use serde_json::Value;

use crate::mcp_client::{Client, decide, handle, outcome};
use crate::program::{countersign, countersign_with};
use crate::real_servers::waiting_handle;
use crate::terminal::Session;
use crate::workplace::Workplace;

const SHORT: &[&str] = &["--approval-wait", "0"];

fn state(place: &Workplace, handle: &str) -> String {
    let ledger = place.ledger();
    let ended = Session::new(&["operations", "show", handle, "--json", "--ledger", &ledger])
        .without_terminal()
        .run();
    let shown: Value = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
    shown["state"]
        .as_str()
        .unwrap_or_else(|| panic!("{shown}"))
        .to_owned()
}

#[test]
fn what_is_not_a_write_passes_byte_for_byte() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.say(r#"{"id" : "x\u0031", "method":"no/such",   "jsonrpc":"2.0"}"#);
    assert_eq!(
        client.hear(),
        r#"{"jsonrpc":"2.0","id":"x1","result":{"method" : "no/such"}}"#
    );
    let sent = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"k":1.0},"name":"look","arguments":{ "id":18446744073709551617 }}}"#;
    client.say(sent);
    let heard = client.hear();
    let quoted = serde_json::to_string(sent).unwrap();
    assert_eq!(
        heard,
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{ "content":[{{"type":"new","n":18446744073709551617,"f":1.0}}],"heard":{quoted} }}}}"#
        )
    );
    // What the server asks its client, and what that one answers.
    client.say(r#"{"jsonrpc":"2.0","id":3,"method":"ask_me"}"#);
    assert_eq!(
        client.hear(),
        r#"{"jsonrpc":"2.0","id":"theirs","method":"roots/list"}"#
    );
    let reply = r#"{"jsonrpc":"2.0", "id":"theirs","result":{"roots":[]}}"#;
    client.say(reply);
    assert_eq!(client.hear_json()["result"]["heard"], reply);
    client.say(r#"{"jsonrpc":"2.0","id":4,"method":"stderr"}"#);
    client.hear();
    let (code, stderr) = client.end();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("from the server\n"), "{stderr}");
    assert_eq!(place.notes(), Vec::<String>::new());
}

#[test]
fn a_machine_without_certificates_reaches_itself_and_nobody_over_https() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("none")).unwrap();
    std::fs::write(place.path("none/file"), "").unwrap();
    let (file, directory) = (place.at("none/file"), place.at("none"));
    let environment = [("SSL_CERT_FILE", &*file), ("SSL_CERT_DIR", &*directory)];
    let (ledger, pins) = (place.ledger(), place.at("pins"));
    let reached = |url: &str| {
        let arguments = ["wrap", "--ledger", &ledger, "--pins", &pins, "--url", url];
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        countersign_with(&arguments, request.as_bytes(), &environment)
    };
    // Nobody listens there.
    let here = reached("http://127.0.0.1:1/mcp");
    assert!(here.stdout.contains(r#""id":1,"error""#), "{here:?}");
    let far = reached("https://127.0.0.1:1/mcp");
    assert_eq!((far.code, &*far.stdout), (2, ""), "{far:?}");
    assert!(
        far.stderr.contains("certificates of this machine"),
        "{far:?}"
    );
}

#[test]
fn a_write_waits_is_approved_and_runs_once() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let arguments = r#"{ "n":123456789012345678901, "text":"\u0000", "deep":[[[[1.0]]]] }"#;
    let waiting = client.call(1, "note", arguments);
    assert_eq!(outcome(&waiting)["code"], "APPROVAL_REQUIRED");
    assert!(
        waiting.contains("again with exactly the same arguments"),
        "{waiting}"
    );
    assert_eq!(place.notes().len(), 0);
    // Asking again joins, however the same arguments are written.
    let joined = client.call(
        2,
        "note",
        r#"{"text":"\u0000","deep":[[[[1.0]]]],"n":123456789012345678901}"#,
    );
    assert_eq!(handle(&joined), handle(&waiting));
    let shown = decide(&place, "approve", &handle(&waiting));
    assert!(shown.contains("123456789012345678901"), "{shown}");
    let done = client.call(3, "note", arguments);
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    assert!(
        done.ends_with(
            r#""content":[{"type":"text","text":"noted"}], "big":123456789012345678901}}"#
        ),
        "{done}"
    );
    let notes = place.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    // The server got the arguments as they were first written, and nothing else of the client's.
    assert!(
        notes[0].ends_with(&format!(
            r#""params":{{"name":"note","arguments":{arguments}}}}}"#
        )),
        "{notes:?}"
    );
    assert_eq!(state(&place, &handle(&done)), "succeeded");
    // The client goes on, so that the same again is a new request with an approval of its own.
    let again = client.call(4, "note", arguments);
    assert_eq!(outcome(&again)["code"], "APPROVAL_REQUIRED");
    assert_ne!(handle(&again), handle(&done));
}

#[test]
fn a_call_that_waits_is_woken_by_its_approval() {
    let place = Workplace::new();
    let mut client = Client::open(&place, &["--approval-wait", "60"]);
    client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{},"_meta":{"progressToken":"p"}}}"#);
    // Reads go on meanwhile.
    assert!(client.call(2, "look", "{}").contains("\"id\":2"));
    decide(&place, "approve", &client.hear_waiting());
    let done = std::iter::repeat_with(|| client.hear())
        .find(|line| line.contains("\"id\":1"))
        .unwrap();
    assert_eq!(outcome(&done)["delivery"], "fresh", "{done}");
    assert_eq!(place.notes().len(), 1);
}

/// Several calls wait in one session: each is told what was decided about it, whatever becomes of the others.
#[test]
fn no_call_waits_for_the_decision_about_another() {
    let place = Workplace::new();
    let mut client = Client::open(&place, &["--approval-wait", "600"]);
    let ledger = place.ledger();
    let mut handles: Vec<String> = Vec::new();
    for id in 1..=3 {
        client.say_call(id, "note", &format!(r#"{{"n":{id}}}"#));
        let listed = || {
            let listed = countersign(&["approvals", "list", "--json", "--ledger", &ledger]);
            let listed: Value = serde_json::from_str(&listed.stdout).expect(&listed.stderr);
            let mut waiting = listed["operations"].as_array().unwrap().iter();
            waiting.find_map(|waits| {
                let handle = waits["status_ref"].as_str()?.to_owned();
                (!handles.contains(&handle)).then_some(handle)
            })
        };
        let fresh = std::iter::repeat_with(listed).flatten().next().unwrap();
        handles.push(fresh);
    }
    decide(&place, "deny", &handles[2]);
    let denied = client.hear();
    assert!(denied.contains(r#""id":3,"#), "{denied}");
    assert_eq!(outcome(&denied)["code"], "APPROVAL_INVALID", "{denied}");
    decide(&place, "approve", &handles[1]);
    let done = client.hear();
    assert!(done.contains(r#""id":2,"#), "{done}");
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    assert_eq!(state(&place, &handles[0]), "awaiting_approval");
    assert_eq!(place.notes().len(), 1);
}

/// What a person takes longer for than a call may take is carried out all the same.
#[test]
fn the_time_that_a_person_takes_counts_against_no_timeout() {
    let place = Workplace::new();
    let mut client = Client::open(&place, &["--approval-wait", "60", "--call-timeout", "1"]);
    client.say_call(1, "note", "{}");
    let waiting = waiting_handle(&place);
    std::thread::park_timeout(std::time::Duration::from_millis(2500));
    decide(&place, "approve", &waiting);
    let done = client.hear();
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn what_is_approved_while_nobody_waits_is_performed_and_its_answer_kept() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let waiting = client.call(1, "note", "{}");
    decide(&place, "approve", &handle(&waiting));
    for _ in 0..600 {
        if place.notes().len() == 1 {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    let mut done = client.call(2, "note", "{}");
    for id in 3..20 {
        if outcome(&done)["status"] == "succeeded" {
            break;
        }
        done = client.call(id, "note", "{}");
    }
    assert_eq!(outcome(&done)["delivery"], "local_replay", "{done}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn a_denied_write_is_told_so() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let waiting = client.call(1, "note", "{}");
    decide(&place, "deny", &handle(&waiting));
    let denied = client.call(2, "note", "{}");
    assert_eq!(outcome(&denied)["code"], "APPROVAL_INVALID", "{denied}");
    assert_eq!(place.notes().len(), 0);
    let waiting = client.call(3, "note", r#"{"n": 1}"#);
    let (ledger, handle) = (place.ledger(), handle(&waiting));
    let reason = "not on a Friday\u{202e}";
    let fixed = ["--as", "operator", "--ledger", &ledger, "--reason", reason];
    let ended = Session::new(&[&["approvals", "deny", &handle], &fixed[..]].concat())
        .answering("yes\n")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    let denied = client.call(4, "note", r#"{"n": 1}"#);
    assert_eq!(outcome(&denied)["reason"], reason, "{denied}");
    assert!(
        denied.contains(r"and why: not on a Friday\\u{202e}"),
        "{denied}"
    );
}

#[test]
fn a_client_that_is_killed_and_asks_again_never_writes_twice() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let waiting = client.call(1, "note", "{}");
    decide(&place, "approve", &handle(&waiting));
    let done = client.call(2, "note", "{}");
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    client.kill();
    let mut client = Client::open(&place, SHORT);
    let again = client.call(77, "note", "{}");
    assert_eq!(outcome(&again)["delivery"], "local_replay", "{again}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn faults_of_the_server_are_unknown_and_others_go_on() {
    for tool in ["nan", "wrong_id", "hangs", "broken"] {
        let place = Workplace::new();
        let mut client = Client::open(&place, &["--approval-wait", "60", "--call-timeout", "2"]);
        client.say(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":1}}}}}}"#
        ));
        let handle = client.hear_waiting();
        decide(&place, "approve", &handle);
        client.say_call(2, "look", "{}");
        let mut answers = Vec::new();
        while answers.len() < 2 {
            let heard = client.hear();
            if !heard.contains("notifications/progress") {
                answers.push(heard);
            }
        }
        answers.sort_by_key(|answer| answer.contains("\"id\":2"));
        assert!(answers[1].contains("\"id\":2"), "{tool}: {answers:?}");
        let answer = &answers[0];
        assert_eq!(
            outcome(answer)["code"],
            "OUTCOME_UNKNOWN",
            "{tool}: {answer}"
        );
        assert_eq!(state(&place, &handle), "unknown", "{tool}");
        let again = client.call(3, tool, "{}");
        assert_eq!(outcome(&again)["code"], "OUTCOME_UNKNOWN", "{tool}");
        assert_eq!(place.notes().len(), 1, "{tool}");
    }
}

#[test]
fn a_server_that_dies_leaves_its_write_unknown_and_its_code_is_ours() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let waiting = client.call(1, "dies", "{}");
    decide(&place, "approve", &handle(&waiting));
    client.say_call(2, "dies", "{}");
    let status = client.child().wait().unwrap();
    assert_eq!(status.code(), Some(7));
    assert_eq!(state(&place, &handle(&waiting)), "unknown");
    let mut client = Client::open(&place, SHORT);
    let again = client.call(1, "dies", "{}");
    assert_eq!(outcome(&again)["code"], "OUTCOME_UNKNOWN", "{again}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn errors_that_are_answers_pass() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    for (id, tool, needle) in [
        (1, "fails", "no room"),
        (10, "refuses", r#""error":{"code":-32602,"message":"no"}"#),
    ] {
        let waiting = client.call(id, tool, "{}");
        decide(&place, "approve", &handle(&waiting));
        let answer = client.call(id + 1, tool, "{}");
        assert!(answer.contains(needle), "{answer}");
    }
    assert_eq!(place.notes().len(), 2);
}

#[test]
fn a_read_that_is_broken_says_so() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    assert!(
        client
            .call(1, "look_broken", "{}")
            .contains("OUTPUT_CONTRACT_VIOLATION")
    );
    assert!(client.call(2, "look_nan", "{}").contains("-32603"));
    assert!(client.call(3, "no_such_tool", "{}").contains("-32602"));
    assert!(client.call(4, "look", "[]").contains("-32602"));
    for (line, needle) in [
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"look","arguments":{"a":NaN}}}"#,
            "\"id\":5,\"error\":{\"code\":-32700",
        ),
        (
            r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"a":1,"a":2}}"#,
            "\"id\":6,\"error\":{\"code\":-32700",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"note","arguments":{},"task":{}}}"#,
            "\"id\":7,\"error\":{\"code\":-32601",
        ),
        (
            r#"[{"jsonrpc":"2.0","id":8,"method":"m"}]"#,
            "\"id\":null,\"error\":{\"code\":-32600",
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"server/discover"}"#,
            "\"id\":9,\"error\":{\"code\":-32601",
        ),
    ] {
        client.say(line);
        let heard = client.hear();
        assert!(heard.contains(needle), "{heard}");
    }
    assert!(client.call(10, "look", "{}").contains("\"id\":10"));
}

fn all_names(client: &mut Client) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), "{}".to_owned());
    loop {
        client.say(&format!(
            r#"{{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{cursor}}}"#
        ));
        let page = std::iter::repeat_with(|| client.hear_json())
            .find(|message| message["id"] == "list")
            .unwrap();
        let tools = page["result"]["tools"].as_array().unwrap();
        names.extend(
            tools
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        match page["result"]["nextCursor"].as_str() {
            Some(next) => cursor = format!(r#"{{"cursor":"{next}"}}"#),
            None => return names,
        }
    }
}

#[test]
fn a_tool_that_changes_is_out_of_service_until_somebody_accepts_it() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let names = all_names(&mut client);
    assert!(
        names.contains(&"note".to_owned()) && names.len() == 15,
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.starts_with("foo")),
        "{names:?}"
    );
    let waiting = client.call(1, "note", "{}");
    client.say_call(2, "change", "{}");
    assert!(client.hear().contains("list_changed"));
    client.hear();
    assert!(!all_names(&mut client).contains(&"note".to_owned()));
    assert!(client.call(3, "note", "{}").contains("out of service"));
    // An approval of the tool as it was does not begin what it is now.
    decide(&place, "approve", &handle(&waiting));
    for _ in 0..200 {
        if state(&place, &handle(&waiting)) == "blocked" {
            break;
        }
    }
    assert_eq!(state(&place, &handle(&waiting)), "blocked");
    assert_eq!(place.notes().len(), 0);
    let pins = place.at("pins");
    let listed = Session::new(&["tools", "list", "scripted", "--pins", &pins])
        .without_terminal()
        .run();
    assert!(
        listed
            .stdout
            .contains(r#"text /description: was "Adds a note.""#),
        "{listed:?}"
    );
    assert!(!listed.stdout.contains('\u{1b}'));
    let accepted = Session::new(&["tools", "accept", "scripted", "note", "--pins", &pins])
        .without_terminal()
        .run();
    assert_eq!(accepted.code, 2);
    let accepted = Session::new(&["tools", "accept", "scripted", "note", "--pins", &pins])
        .answering("yes\n")
        .run();
    assert_eq!(accepted.code, 0, "{accepted:?}");
}

/// Many ask for the same, in two processes: one approval wakes all of them, one of them acts, and all are told at once.
#[test]
fn whoever_joins_a_call_hears_what_became_of_it() {
    let place = Workplace::new();
    // Nobody's patience lasts as long as this.
    let wait = ["--approval-wait", "600"];
    let mut clients = [Client::open(&place, &wait), Client::open(&place, &wait)];
    for client in &mut clients {
        for id in 1..=16 {
            client.say_call(id, "note", "{}");
        }
    }
    let waiting = waiting_handle(&place);
    decide(&place, "approve", &waiting);
    for client in &clients {
        for _ in 1..=16 {
            let answer = client.hear();
            assert_eq!(outcome(&answer)["status"], "succeeded", "{answer}");
            assert_eq!(handle(&answer), waiting);
        }
    }
    assert_eq!(place.notes().len(), 1);
}

/// What a person says of a tool holds at once, also for a server that runs already.
#[test]
fn a_tool_that_is_classified_as_a_write_waits_from_then_on() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    assert!(client.call(1, "look", "{}").contains("heard"));
    let pins = place.at("pins");
    let classify = |class: &str| {
        let arguments = [
            "tools", "classify", "scripted", "look", class, "--pins", &pins,
        ];
        let classified = Session::new(&arguments).answering("yes\n").run();
        assert_eq!(classified.code, 0, "{classified:?}");
    };
    classify("write");
    let waits = client.call(2, "look", "{}");
    assert_eq!(outcome(&waits)["code"], "APPROVAL_REQUIRED", "{waits}");
    classify("read");
    assert!(client.call(3, "look", "{}").contains("heard"));
}

/// Whoever decides is told what has become of the tool since a call of it was last let through.
#[test]
fn what_has_changed_of_a_tool_is_told_with_the_next_call_of_it() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let shown = |handle: &str| {
        let ledger = place.ledger();
        let shown = Session::new(&["approvals", "show", handle, "--ledger", &ledger])
            .without_terminal()
            .run();
        shown.stdout
    };
    let first = handle(&client.call(1, "note", r#"{"n":1}"#));
    assert!(shown(&first).contains("no call of this tool was let through before"));
    decide(&place, "approve", &first);
    let done = client.call(2, "note", r#"{"n":1}"#);
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    let second = handle(&client.call(3, "note", r#"{"n":2}"#));
    let told = shown(&second);
    assert!(told.contains(&format!("as it was for {first}")), "{told}");
    client.say_call(4, "change", "{}");
    assert!(client.hear().contains("list_changed"));
    client.hear();
    let pins = place.at("pins");
    all_names(&mut client);
    let accepted = Session::new(&["tools", "accept", "scripted", "note", "--pins", &pins])
        .answering("yes\n")
        .run();
    assert_eq!(accepted.code, 0, "{accepted:?}");
    all_names(&mut client);
    let third = handle(&client.call(5, "note", r#"{"n":3}"#));
    let told = shown(&third);
    assert!(told.contains("CHANGED"), "{told}");
    assert!(told.contains("what it says of itself"), "{told}");
    let asked = decide(&place, "approve", &third);
    assert!(asked.contains("CHANGED"), "{asked}");
}

#[test]
fn observing_blocks_nothing_and_records_everything() {
    let place = Workplace::new();
    let mut client = Client::open(&place, &["--observe"]);
    for id in [1, 2] {
        let done = client.call(id, "note", "{}");
        assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
        assert_eq!(state(&place, &handle(&done)), "succeeded");
    }
    assert_eq!(place.notes().len(), 2);
    let (_, stderr) = client.end();
    assert!(
        stderr.starts_with("countersign: observing only"),
        "{stderr}"
    );
}

#[test]
fn what_a_write_tells_of_its_progress_reaches_its_client() {
    let place = Workplace::new();
    let mut client = Client::open(&place, &["--approval-wait", "60"]);
    client.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progresses","arguments":{},"_meta":{"progressToken":"\u0061"}}}"#);
    decide(&place, "approve", &client.hear_waiting());
    let told = std::iter::repeat_with(|| client.hear())
        .find(|told| !told.contains("waiting for approval"))
        .unwrap();
    assert_eq!(
        told,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{ "progress":0.5,"progressToken":"\u0061"}}"#
    );
    assert_eq!(outcome(&client.hear())["status"], "succeeded");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn another_command_under_the_same_name_is_refused() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    client.call(1, "look", "{}");
    client.end();
    let client = Client::wrap(&place, SHORT, &["cat"]);
    let (code, stderr) = client.end();
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("first seen with another command"),
        "{stderr}"
    );
}
