//! Standing approvals: what they cover, and that they end.

use serde_json::Value;

use crate::mcp_client::{Client, decide, handle, outcome};
use crate::program::countersign;
use crate::terminal::{Ended, Session};
use crate::workplace::Workplace;

const SHORT: &[&str] = &["--approval-wait", "0"];
const NOTHING: &[&str] = &[];

fn create(place: &Workplace, handle: &str, options: &[&str]) -> Ended {
    let ledger = place.ledger();
    let fixed = [
        "grants", "create", handle, "--as", "operator", "--ledger", &ledger, "--for", "1h",
    ];
    Session::new(&[&fixed, options].concat())
        .answering("yes\n")
        .run()
}

fn grants(place: &Workplace, command: &[&str]) -> Ended {
    let ledger = place.ledger();
    Session::new(&[&["grants"], command, &["--ledger", &ledger]].concat())
        .without_terminal()
        .run()
}

fn code(answer: &str) -> String {
    let outcome = outcome(answer);
    let code = outcome["code"].as_str().or(outcome["status"].as_str());
    code.unwrap().to_owned()
}

/// What waits already when it is granted does not go on waiting.
#[test]
fn a_grant_lets_through_what_waits_at_the_time() {
    let place = Workplace::new();
    let mut client = Client::open(&place, &["--approval-wait", "600"]);
    let ledger = place.ledger();
    let listed = || {
        let listed = countersign(&["approvals", "list", "--json", "--ledger", &ledger]);
        let listed: Value = serde_json::from_str(&listed.stdout).expect(&listed.stderr);
        listed["operations"].as_array().unwrap().clone()
    };
    for (count, path) in ["/tmp/a", "/tmp/b", "/etc/c"].into_iter().enumerate() {
        let id = u32::try_from(count).unwrap() + 1;
        client.say_call(id, "note", &format!(r#"{{"path": "{path}"}}"#));
        while listed().len() == count {}
    }
    // The last one is the first of the list.
    let first = listed()[2]["status_ref"].as_str().unwrap().to_owned();
    let granted = create(
        &place,
        &first,
        &["--uses", "9", "--argument", "path=/tmp/*"],
    );
    assert_eq!(granted.code, 0, "{granted:?}");
    for _ in 1..=2 {
        let done = client.hear();
        assert_eq!(code(&done), "succeeded", "{done}");
    }
    assert_eq!(place.notes().len(), 2);
    assert_eq!(listed().len(), 1);
}

#[test]
fn covered_calls_run_at_once_and_others_wait() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let first = client.call(1, "note", r#"{"path": "/tmp/a", "n": 1.0}"#);
    let handle = handle(&first);
    let options = ["--uses", "3", "--argument", "path=/tmp/*", "--any", "n"];
    let granted = create(&place, &handle, &options);
    assert_eq!(granted.code, 0, "{granted:?}");
    assert!(
        granted.terminal.contains(r#"path begins with "/tmp/""#),
        "{}",
        granted.terminal
    );
    assert!(
        granted.stderr.contains("is approved under it"),
        "{}",
        granted.stderr
    );
    // The call that waited is the first use. Once its answer is known, the same again is another call, and another use.
    for id in 2..4 {
        let done = client.call(id, "note", r#"{"path": "/tmp/a", "n": 1.0}"#);
        if id == 2 {
            assert_eq!(code(&done), "succeeded", "{done}");
        }
    }
    let others = [
        r#"{"path": "/tmp/../etc/passwd"}"#,
        r#"{"path": "/etc/passwd"}"#,
        r#"{"path": "/tmp/b", "more": 1}"#,
        r#"{"n": 1}"#,
    ];
    for (id, other) in (10..).zip(others) {
        assert_eq!(code(&client.call(id, "note", other)), "APPROVAL_REQUIRED");
    }
    assert_eq!(
        code(&client.call(20, "fails", r#"{"path": "/tmp/a"}"#)),
        "APPROVAL_REQUIRED",
        "another tool"
    );
    let listed = grants(&place, &["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let grant = listed["grants"][0]["grant"]["grant"].as_str().unwrap();
    let left: u32 = listed["grants"][0]["uses_left"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(3 - left, u32::try_from(place.notes().len()).unwrap());
    for id in 0..left {
        let done = client.call(30 + id, "note", &format!(r#"{{"path": "/tmp/{id}"}}"#));
        assert_eq!(code(&done), "succeeded", "{done}");
    }
    let waits = client.call(40, "note", r#"{"path": "/tmp/last"}"#);
    assert_eq!(code(&waits), "APPROVAL_REQUIRED", "used up");
    assert_eq!(place.notes().len(), 3);
    assert!(grants(&place, &["list"]).stderr.contains("there are none"));
    let all = grants(&place, &["list", "--all"]).stdout;
    assert!(all.contains("used up  0 of 3 uses left"), "{all}");
    let shown = grants_trail(&place, &handle);
    assert!(
        shown.contains(&format!("grant_used  grant {grant}")),
        "{shown}"
    );
}

fn grants_trail(place: &Workplace, handle: &str) -> String {
    let ledger = place.ledger();
    Session::new(&["operations", "show", handle, "--ledger", &ledger])
        .without_terminal()
        .run()
        .stdout
}

#[test]
fn a_grant_ends_when_it_is_taken_back_or_its_tool_changes() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let waiting = client.call(1, "note", r#"{"n": 1}"#);
    let denied = decide(&place, "deny", &handle(&waiting));
    assert!(denied.contains("Deny"), "{denied}");
    // Denied stays denied, whatever is granted.
    let granted = create(&place, &handle(&waiting), &["--uses", "9", "--any", "n"]);
    assert_eq!(granted.code, 0, "{granted:?}");
    let denied = client.call(2, "note", r#"{"n": 1}"#);
    assert_eq!(code(&denied), "APPROVAL_INVALID");
    assert_eq!(code(&client.call(3, "note", r#"{"n": 2}"#)), "succeeded");
    let (_, grant) = granted.stderr.split_once("countersign: ").unwrap();
    let grant = grant.split(' ').next().unwrap();
    let taken = grants(&place, &["revoke", grant, "--as", "somebody"]);
    assert_eq!(taken.code, 0, "{taken:?}");
    let waits = client.call(4, "note", r#"{"n": 3}"#);
    assert_eq!(code(&waits), "APPROVAL_REQUIRED");
    let unknown = grants(&place, &["revoke", "grant_none", "--as", "somebody"]);
    assert_eq!(unknown.code, 1);
    let granted = create(&place, &handle(&waits), &["--uses", "9", "--any", "n"]);
    assert_eq!(granted.code, 0, "{granted:?}");
    assert_eq!(code(&client.call(5, "note", r#"{"n": 4}"#)), "succeeded");
    client.end();
    assert_eq!(place.notes().len(), 3, "{:?}", place.notes());
}

#[test]
fn what_cannot_be_granted_is_refused() {
    let place = Workplace::new();
    let mut client = Client::open(&place, SHORT);
    let waiting = client.call(1, "note", r#"{"path": "/tmp/a", "n": 7}"#);
    let handle = handle(&waiting);
    let refused: [(&[&str], &str); 7] = [
        (NOTHING, "say of each argument what it may be"),
        (&["--any", "n"], "--any: path"),
        (
            &["--any", "n", "--argument", "path=/etc/*"],
            "this call is not like that itself",
        ),
        (
            &["--any", "n", "--argument", "path=*"],
            "or begin with nothing",
        ),
        (
            &["--any", "n", "--same", "n", "--any", "path"],
            "n is named twice",
        ),
        (&["--same", "m", "--any", "n"], "this call has no m"),
        (
            &["--argument", "n=seven", "--any", "path"],
            "n is no text: give it as JSON",
        ),
    ];
    for (options, told) in refused {
        let ended = create(&place, &handle, &[&["--uses", "1"], options].concat());
        assert_eq!(ended.code, 2, "{options:?}: {ended:?}");
        assert!(ended.stderr.contains(told), "{options:?}: {ended:?}");
    }
    let ledger = place.ledger();
    let good = ["--argument", "n=7", "--same", "path", "--uses", "1"];
    let fixed = [
        "grants", "create", &handle, "--ledger", &ledger, "--for", "1h",
    ];
    let asked = [&fixed[..], &good[..]].concat();
    let own = Session::new(&[&asked[..], &["--as", "agent"]].concat()).run();
    assert_eq!(own.code, 2, "{own:?}");
    assert!(own.stderr.contains("nobody decides about their own"));
    let asked = [&asked[..], &["--as", "operator"]].concat();
    let alone = Session::new(&asked).without_terminal().run();
    assert_eq!(alone.code, 2, "{alone:?}");
    assert!(alone.stderr.contains("there is no terminal to ask on"));
    let no = Session::new(&asked).answering("no\n").run();
    assert_eq!(no.code, 1, "{no:?}");
    assert!(grants(&place, &["list", "--all"]).stdout.is_empty());
    assert_eq!(place.notes().len(), 0);
}
