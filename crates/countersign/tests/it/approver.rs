//! Keys of approvers: a passphrase that only a terminal gives, and signatures without which nothing begins.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::mcp_client::{Client, handle, outcome};
use crate::program::{key_file, make_key};
use crate::terminal::{Ended, PASSPHRASE, Session};
use crate::workplace::Workplace;

const SHORT: &[&str] = &["--approval-wait", "0"];
const ASKED: &str = "Passphrase of operator: ";

/// A user with a data directory, in which a key may be.
struct User(String);

impl User {
    fn new(place: &Workplace, name: &str) -> Self {
        let data = place.at(name);
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        Self(data)
    }

    fn with_key(place: &Workplace, name: &str) -> Self {
        let user = Self::new(place, name);
        make_key(&user.0, "operator");
        user
    }

    fn session<'s>(&self, arguments: &[&str]) -> Session<'s> {
        Session::of_user(&self.0, arguments).with_variable("NO_COLOR", "1")
    }

    fn decision<'s>(&self, place: &Workplace, command: &str, handle: &str) -> Session<'s> {
        let ledger = place.ledger();
        let fixed = ["--as", "operator", "--ledger", &ledger];
        self.session(&[&["approvals", command, handle], &fixed[..]].concat())
            .typing_at("Type yes: ", "yes\n")
    }

    fn grant<'s>(&self, place: &Workplace, handle: &str) -> Session<'s> {
        let ledger = place.ledger();
        let arguments = [
            "grants", "create", handle, "--as", "operator", "--ledger", &ledger, "--for", "1h",
            "--uses", "9", "--any", "n",
        ];
        self.session(&arguments).typing_at("Type yes: ", "yes\n")
    }

    fn key(&self) -> String {
        key_file(&self.0)
    }
}

fn assert_hidden(ended: &Ended) {
    let all = [&ended.terminal, &ended.stdout, &ended.stderr];
    assert!(!all.iter().any(|text| text.contains("horse")), "{ended:?}");
}

fn state(place: &Workplace, handle: &str) -> String {
    let ledger = place.ledger();
    let ended = Session::new(&["operations", "show", handle, "--json", "--ledger", &ledger])
        .without_terminal()
        .run();
    let shown: Value = serde_json::from_str(&ended.stdout).expect(&ended.stderr);
    shown["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_key_is_its_owner_s_alone_and_opens_with_its_passphrase() {
    let place = Workplace::new();
    let user = User::with_key(&place, "user");
    let key = fs::read_to_string(user.key()).unwrap();
    assert!(!key.contains("horse"), "{key}");
    let mode = fs::metadata(user.key()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let shown = user.session(&["approver", "show"]).without_terminal().run();
    let public = shown.stdout.trim_end().strip_prefix("operator  ").unwrap();
    assert!(key.contains(public), "{shown:?}");
    let again = user.session(&["approver", "create"]).run();
    assert!(again.stderr.contains("has a key already"), "{again:?}");
    let changed = user
        .session(&["approver", "change-passphrase"])
        .typing_at(ASKED, "correct horse batterx\n")
        .typing_at(ASKED, "correcx\u{7f}t horse battery\n")
        .typing_at("New passphrase of operator: ", "short\n")
        .typing_at("New passphrase of operator: ", "another horse entirely\n")
        .typing_at("The same again, of operator: ", "another horse entirely\n")
        .run();
    assert_eq!(changed.code, 0, "{changed:?}");
    assert_hidden(&changed);
    let shown = user.session(&["approver", "show"]).without_terminal().run();
    assert!(shown.stdout.contains(public), "the key is the same");
    fs::set_permissions(user.key(), fs::Permissions::from_mode(0o640)).unwrap();
    let open = user.session(&["approver", "show"]).without_terminal().run();
    assert_eq!(open.code, 2, "{open:?}");
    assert!(open.stderr.contains("chmod 600"), "{open:?}");
}

/// On the whole screen a passphrase is typed once, and kept for a while.
#[test]
fn the_queue_asks_for_the_passphrase_once() {
    let place = Workplace::new();
    let user = User::with_key(&place, "user");
    let mut client = Client::open_for(&user.0, &place, SHORT);
    client.call(1, "note", r#"{"n": 1}"#);
    client.call(2, "note", r#"{"n": 2}"#);
    let ledger = place.ledger();
    let ended = user
        .session(&[
            "approvals",
            "watch",
            "--as",
            "operator",
            "--ledger",
            &ledger,
        ])
        .typing_at("key locked", "s")
        .typing_at("a approve", "a")
        .typing_at("passphrase of operator", "wrong horse\r")
        .typing_at("that is not the passphrase", "correct horse battery\r")
        .typing_at("operator approved it", "s")
        .typing_at("a approve", "a")
        .typing_at("operator approved it", "q")
        .run();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_hidden(&ended);
    assert!(ended.terminal.contains("key open"), "{ended:?}");
    for id in [1, 2] {
        let done = client.call(10 + id, "note", &format!(r#"{{"n": {id}}}"#));
        assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    }
}

#[test]
fn without_a_terminal_no_passphrase_is_taken() {
    let place = Workplace::new();
    let user = User::new(&place, "user");
    let typed = format!("{PASSPHRASE}{PASSPHRASE}");
    let alone = user
        .session(&["approver", "create"])
        .without_terminal()
        .reading(&typed)
        .run();
    assert_eq!(alone.code, 2, "{alone:?}");
    assert!(
        alone
            .stderr
            .contains("there is no terminal to type a passphrase on"),
        "{alone:?}"
    );
    let given_up = user
        .session(&["approver", "create"])
        .typing_at("New passphrase of operator: ", "\u{3}")
        .run();
    assert_eq!(given_up.code, 1, "{given_up:?}");
    assert!(!fs::exists(user.key()).unwrap());
}

#[test]
fn a_signed_approval_begins_and_a_wrong_passphrase_decides_nothing() {
    let place = Workplace::new();
    let user = User::with_key(&place, "user");
    let mut client = Client::open_for(&user.0, &place, SHORT);
    let waiting = handle(&client.call(1, "note", "{}"));
    let wrong = user
        .decision(&place, "approve", &waiting)
        .typing_at(ASKED, "correct horse batterx\n")
        .typing_at(ASKED, "\n")
        .typing_at(ASKED, "x\n")
        .run();
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("wrong 3 times"), "{wrong:?}");
    assert_eq!(state(&place, &waiting), "awaiting_approval");
    let right = user
        .decision(&place, "approve", &waiting)
        .typing_at(ASKED, PASSPHRASE)
        .run();
    assert_eq!(right.code, 0, "{right:?}");
    assert_hidden(&right);
    let done = client.call(2, "note", "{}");
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    let waits = handle(&client.call(3, "note", r#"{"n": 1}"#));
    let granted = user
        .grant(&place, &waits)
        .typing_at(ASKED, PASSPHRASE)
        .run();
    assert_eq!(granted.code, 0, "{granted:?}");
    let done = client.call(4, "note", r#"{"n": 2}"#);
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
}

/// Whoever can write the ledger can write approvals into it, and make keys of their own.
#[test]
fn what_is_not_signed_with_the_known_key_begins_nothing() {
    let place = Workplace::new();
    let user = User::with_key(&place, "user");
    let strangers = ["another", "other"].map(|name| User::with_key(&place, name));
    let mut client = Client::open_for(&user.0, &place, SHORT);
    for (number, stranger) in strangers.iter().enumerate() {
        let arguments = format!(r#"{{"n": {number}}}"#);
        let id = u32::try_from(number).unwrap() * 10;
        let waiting = handle(&client.call(id + 1, "note", &arguments));
        let session = stranger.decision(&place, "approve", &waiting);
        let decided = session.typing_at(ASKED, PASSPHRASE).run();
        assert_eq!(decided.code, 0, "{decided:?}");
        for _ in 0..200 {
            if state(&place, &waiting) == "blocked" {
                break;
            }
        }
        assert_eq!(state(&place, &waiting), "blocked");
        let waiting = handle(&client.call(id + 2, "note", r#"{"n": "granted"}"#));
        let session = stranger.grant(&place, &waiting);
        assert_eq!(session.typing_at(ASKED, PASSPHRASE).run().code, 0);
        let waits = client.call(id + 3, "note", r#"{"n": "another"}"#);
        assert_eq!(outcome(&waits)["code"], "APPROVAL_REQUIRED", "{waits}");
    }
    assert_eq!(place.notes().len(), 0);
    // One of their own approver name has no key here.
    let waiting = handle(&client.call(50, "note", r#"{"n": 50}"#));
    let ledger = place.ledger();
    let unknown = [
        "approvals",
        "approve",
        &waiting,
        "--as",
        "mallory",
        "--ledger",
        &ledger,
    ];
    let unknown = user.session(&unknown).run();
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown.stderr.contains("mallory has no key here"),
        "{unknown:?}"
    );
}

/// The first approval makes the key that it is signed with, and whatever runs already knows it from then on: that one, and none
/// that comes later.
#[test]
fn the_first_approval_makes_a_key_and_later_keys_have_no_say() {
    let place = Workplace::new();
    let user = User::new(&place, "user");
    let mut client = Client::open_for(&user.0, &place, SHORT);
    let waiting = handle(&client.call(1, "note", "{}"));
    let declined = user
        .decision(&place, "approve", &waiting)
        .typing_at("New passphrase of operator: ", "\u{4}")
        .run();
    assert_eq!(declined.code, 1, "{declined:?}");
    assert!(
        declined.stderr.contains("nothing was decided"),
        "{declined:?}"
    );
    assert!(!fs::exists(user.key()).unwrap());
    assert_eq!(state(&place, &waiting), "awaiting_approval");
    let approved = user
        .decision(&place, "approve", &waiting)
        .typing_at("New passphrase of operator: ", PASSPHRASE)
        .typing_at("The same again, of operator: ", PASSPHRASE)
        .run();
    assert_eq!(approved.code, 0, "{approved:?}");
    assert!(
        approved.terminal.contains("Nobody has a key"),
        "{approved:?}"
    );
    assert_hidden(&approved);
    let done = client.call(2, "note", "{}");
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    // Somebody puts another key where that one was.
    let other = User::with_key(&place, "other");
    fs::copy(other.key(), user.key()).unwrap();
    let waiting = handle(&client.call(3, "note", r#"{"n": 3}"#));
    let replaced = user
        .decision(&place, "approve", &waiting)
        .typing_at(ASKED, PASSPHRASE)
        .run();
    assert_eq!(replaced.code, 0, "{replaced:?}");
    let refused = client.call(4, "note", r#"{"n": 3}"#);
    assert_ne!(outcome(&refused)["status"], "succeeded", "{refused}");
    assert_eq!(place.notes().len(), 1);
}

/// A denial lets nothing happen: where nobody has a key, it asks for none.
#[test]
fn a_denial_needs_no_key_where_there_is_none() {
    let place = Workplace::new();
    let user = User::new(&place, "user");
    let mut client = Client::open_for(&user.0, &place, SHORT);
    let waiting = handle(&client.call(1, "note", "{}"));
    let denied = user.decision(&place, "deny", &waiting).run();
    assert_eq!(denied.code, 0, "{denied:?}");
    assert_eq!(state(&place, &waiting), "denied");
    assert!(!fs::exists(user.key()).unwrap());
}

/// A passphrase comes from the controlling terminal and from nowhere else.
#[test]
fn no_passphrase_is_taken_from_elsewhere() {
    let place = Workplace::new();
    let user = User::with_key(&place, "user");
    let mut client = Client::open_for(&user.0, &place, SHORT);
    let waiting = handle(&client.call(1, "note", "{}"));
    let everywhere = format!("yes\n{PASSPHRASE}");
    let alone = user
        .decision(&place, "approve", &waiting)
        .reading(&everywhere)
        .with_variable("COUNTERSIGN_PASSPHRASE", PASSPHRASE.trim())
        .without_terminal()
        .run();
    assert_eq!(alone.code, 2, "{alone:?}");
    assert!(alone.stderr.contains("there is no terminal"), "{alone:?}");
    let given_up = user
        .decision(&place, "approve", &waiting)
        .reading(&everywhere)
        .typing_at(ASKED, "\u{4}")
        .run();
    assert_eq!(given_up.code, 1, "{given_up:?}");
    assert_eq!(state(&place, &waiting), "awaiting_approval");
    let ledger = place.ledger();
    let named = [
        "approvals",
        "approve",
        &waiting,
        "--as",
        "operator",
        "--ledger",
        &ledger,
    ];
    for option in ["--passphrase", "--passphrase-file", "--yes"] {
        let refused = user.session(&[&named[..], &[option, "x"]].concat()).run();
        assert_eq!(refused.code, 2, "{refused:?}");
    }
}
