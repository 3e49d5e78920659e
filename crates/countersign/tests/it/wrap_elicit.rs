//! A client that opens pages hears what waits, and decides nothing by what it answers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::mcp_client::{Client, decide, outcome};
use crate::workplace::Workplace;

const LONG: &[&str] = &["--approval-wait", "60"];

fn opened(place: &Workplace, options: &[&str]) -> Client {
    let mut client = Client::start(place, options);
    opens_pages(&mut client);
    client
}

fn opens_pages(client: &mut Client) {
    client.initialize_as("2025-11-25", r#"{"elicitation":{"url":{}}}"#);
}

/// What a client is asked to open.
struct Page {
    id: Value,
    elicitation: Value,
    url: String,
    handle: String,
}

impl Page {
    fn heard(client: &Client) -> Self {
        let asked = client.hear_json();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let params = &asked["params"];
        assert_eq!(params["mode"], "url");
        let url = params["url"].as_str().unwrap().to_owned();
        let (site, handle) = url.split_once("/calls/").unwrap();
        assert!(site.starts_with("http://127.0.0.1:"), "{site}");
        let message = params["message"].as_str().unwrap();
        assert!(message.contains(handle), "{message}");
        Self {
            id: asked["id"].clone(),
            elicitation: params["elicitationId"].clone(),
            handle: handle.to_owned(),
            url,
        }
    }

    fn get(&self, path: &str) -> String {
        let host = self.url.strip_prefix("http://").unwrap();
        let (host, _) = host.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What a browser shows.
    fn shown(&self) -> String {
        let answer = self.get(&format!("/calls/{}", self.handle));
        let (head, html) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        html.to_owned()
    }

    fn is_complete(&self, told: &str) -> bool {
        let told: Value = serde_json::from_str(told).unwrap();
        told["method"] == "notifications/elicitation/complete"
            && told["params"] == json!({"elicitationId": self.elicitation})
    }
}

fn answer(client: &mut Client, id: &Value, action: &str) {
    client.say(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": action}}).to_string());
}

#[test]
fn a_page_shows_what_waits_and_what_became_of_it() {
    let place = Workplace::new();
    let mut client = opened(&place, LONG);
    client.say_call(1, "note", r#"{"text":"S3NTINEL"}"#);
    let page = Page::heard(&client);
    let shown = page.shown();
    assert!(!shown.contains("S3NTINEL"), "{shown}");
    let masked = shown
        .replace(&page.handle, "HANDLE")
        .replace(&place.ledger(), "LEDGER");
    let is_timed = |line: &&str| line.contains("expires at") || line.contains("Asked for");
    let lines: Vec<_> = masked.lines().filter(|line| !is_timed(line)).collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(shown.lines().filter(is_timed).count(), 2, "{shown}");
    // The same again joins it, and is not announced.
    client.say_call(2, "note", r#"{"text":"S3NTINEL"}"#);
    answer(&mut client, &page.id, "accept");
    assert!(page.shown().contains("<h1>Waiting for approval</h1>"));
    decide(&place, "approve", &page.handle);
    let heard: Vec<_> = (0..3).map(|_| client.hear()).collect();
    assert_eq!(
        heard.iter().filter(|told| page.is_complete(told)).count(),
        1,
        "{heard:?}"
    );
    let answers = heard.iter().filter(|told| !page.is_complete(told));
    for answer in answers {
        assert_eq!(outcome(answer)["status"], "succeeded", "{heard:?}");
    }
    let shown = page.shown();
    assert!(shown.contains("<h1>Carried out</h1>"), "{shown}");
    assert!(!shown.contains("http-equiv"), "{shown}");
    assert_eq!(place.notes().len(), 1);
    // What is no announced call has no page.
    for path in [
        "/",
        "/calls/",
        "/calls/status_0",
        "/calls/status_0123456789abcdef0123456789abcdef",
        &format!("/calls/{}/", page.handle),
        &format!("/calls/{}", page.handle.to_uppercase()),
    ] {
        assert!(page.get(path).starts_with("HTTP/1.1 404 "), "{path}");
    }
}

#[test]
fn whatever_is_answered_changes_nothing_and_stays_here() {
    let place = Workplace::new();
    let mut client = opened(&place, LONG);
    client.say_call(1, "note", "{}");
    let page = Page::heard(&client);
    let id = page.id.as_str().unwrap().to_owned();
    // The server takes the next line that it gets for the answer to its own question.
    client.say(r#"{"jsonrpc":"2.0","id":2,"method":"ask_me"}"#);
    assert!(client.hear().contains("roots/list"));
    for action in ["decline", "cancel", "accept"] {
        answer(&mut client, &page.id, action);
    }
    client.say(&format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","error":{{"code":-1,"message":"no"}}}}"#
    ));
    client.say(&format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"n":NaN}}}}"#
    ));
    answer(&mut client, &json!(format!("{id}7")), "accept");
    client.say(r#"{"jsonrpc":"2.0","id":"theirs","result":{"roots":[]}}"#);
    let heard = client.hear_json();
    assert_eq!(
        heard["result"]["heard"],
        r#"{"jsonrpc":"2.0","id":"theirs","result":{"roots":[]}}"#
    );
    assert!(page.shown().contains("<h1>Waiting for approval</h1>"));
    assert_eq!(place.notes().len(), 0);
    decide(&place, "approve", &page.handle);
    assert!(page.is_complete(&client.hear()));
    assert_eq!(outcome(&client.hear())["status"], "succeeded");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn a_client_that_never_answers_hears_of_the_decision_after_its_call() {
    let place = Workplace::new();
    let mut client = opened(&place, &["--approval-wait", "1"]);
    client.say_call(1, "note", "{}");
    let page = Page::heard(&client);
    assert_eq!(outcome(&client.hear())["code"], "APPROVAL_REQUIRED");
    // It was announced before.
    let again = client.call(2, "note", "{}");
    assert_eq!(outcome(&again)["code"], "APPROVAL_REQUIRED", "{again}");
    decide(&place, "deny", &page.handle);
    assert!(page.is_complete(&client.hear()));
    assert!(page.shown().contains("<h1>Denied</h1>"));
    assert_eq!(place.notes().len(), 0);
}

#[test]
fn others_are_not_asked() {
    for (version, capabilities, wait) in [
        ("2025-11-25", "{}", "1"),
        ("2025-11-25", r#"{"elicitation":{}}"#, "1"),
        ("2025-11-25", r#"{"elicitation":{"form":{}}}"#, "1"),
        ("2025-06-18", r#"{"elicitation":{"url":{}}}"#, "1"),
        ("2025-11-25", r#"{"elicitation":{"url":{}}}"#, "0"),
    ] {
        let place = Workplace::new();
        let mut client = Client::start(&place, &["--approval-wait", wait]);
        client.initialize_as(version, capabilities);
        let answer = client.call(1, "note", "{}");
        let code = &outcome(&answer)["code"];
        assert_eq!(code, "APPROVAL_REQUIRED", "{version} {capabilities}");
    }
}

#[test]
fn a_server_without_sessions_changes_nothing() {
    let place = Workplace::new();
    let mut client = Client::start_stateless(&place, LONG);
    opens_pages(&mut client);
    client.say_call(1, "note", "{}");
    let page = Page::heard(&client);
    answer(&mut client, &page.id, "decline");
    decide(&place, "approve", &page.handle);
    assert!(page.is_complete(&client.hear()));
    assert_eq!(outcome(&client.hear())["status"], "succeeded");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn a_tool_s_name_is_text_and_nothing_else() {
    let place = Workplace::new();
    let mut client = Client::start_with(&place, LONG, &["odd"]);
    opens_pages(&mut client);
    client.say_call(1, "<img src=x onerror=alert(1)>", "{}");
    let page = Page::heard(&client);
    let shown = page.shown();
    assert!(!shown.contains("<img"), "{shown}");
    assert!(
        shown.contains("<dd>&lt;img src=x onerror=alert(1)&gt;</dd>"),
        "{shown}"
    );
}
