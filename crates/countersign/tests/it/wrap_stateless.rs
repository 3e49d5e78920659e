//! A wrapped server and a client of 2026-07-28: requests that stand alone, approvals in rounds.

use serde_json::{Value, json};

use crate::mcp_client::{Client, decide, handle, outcome};
use crate::workplace::Workplace;

const SHORT: &[&str] = &["--approval-wait", "0"];

/// A request that stands alone.
fn request(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(client: &mut Client, id: u32, tool: &str, more: &Value) -> String {
    let mut params = json!({"name": tool, "arguments": {"n": 1}});
    for (name, value) in more.as_object().unwrap() {
        params[name.as_str()] = value.clone();
    }
    client.say(&request(id, "tools/call", params));
    client.hear()
}

/// The handle with which a round goes on.
fn state(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    json!({"requestState": answer["result"]["requestState"]})
}

#[test]
fn requests_pass_without_a_session() {
    let place = Workplace::new();
    let mut client = Client::start_stateless(&place, SHORT);
    client.say(&request(1, "server/discover", json!({})));
    let discovered = client.hear_json();
    assert_eq!(
        discovered["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    client.say(&request(2, "tools/list", json!({})));
    let listed = client.hear_json();
    assert_eq!(listed["result"]["tools"][0]["name"], "look", "{listed}");
    let looked = call(&mut client, 3, "look", &json!({}));
    assert!(
        looked.starts_with(r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"new","n":18446744073709551617,"f":1.0}]"#),
        "{looked}"
    );
    client.say(r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#);
    assert!(client.hear().contains(r#""id":4,"error":{"code":-32602"#));
    let unknown = request(5, "tools/list", json!({})).replace("2026-07-28", "2027-01-01");
    client.say(&unknown);
    let refused = client.hear_json();
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    assert_eq!(refused["error"]["data"]["requested"], "2027-01-01");
    assert_eq!(refused["error"]["data"]["supported"][0], "2026-07-28");
}

#[test]
fn a_write_is_approved_in_rounds_and_runs_once() {
    let place = Workplace::new();
    let client = Client::start_stateless(&place, SHORT);
    is_approved_in_rounds(&place, client);
}

#[test]
fn a_write_of_a_server_with_sessions_is_approved_in_rounds_and_runs_once() {
    let place = Workplace::new();
    let client = Client::start(&place, SHORT);
    is_approved_in_rounds(&place, client);
}

fn is_approved_in_rounds(place: &Workplace, mut client: Client) {
    let first = call(&mut client, 1, "note", &json!({}));
    let (waiting, used) = (handle(&first), state(&first));
    let second = call(&mut client, 2, "note", &used);
    assert_eq!(handle(&second), waiting);
    let next = state(&second);
    // Used, forged, or for other arguments: nothing comes of it.
    for (id, given) in [(3, used), (4, json!({"requestState": "0".repeat(64)}))] {
        let refused = call(&mut client, id, "note", &given);
        assert!(refused.contains(r#""error":{"code":-32602"#), "{refused}");
    }
    let mut foreign = next.clone();
    foreign["arguments"] = json!({"n": 2});
    let refused = call(&mut client, 5, "note", &foreign);
    assert!(refused.contains("belongs to another call"), "{refused}");
    let refused = call(&mut client, 6, "fails", &next);
    assert!(refused.contains("belongs to another call"), "{refused}");
    assert_eq!(place.notes().len(), 0);
    decide(place, "approve", &waiting);
    let done = call(&mut client, 7, "note", &next);
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    assert!(done.contains(r#""resultType":"complete""#), "{done}");
    // What was sent is what was shown, and who asks.
    let notes = place.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let sent: Value = serde_json::from_str(&notes[0]).unwrap();
    assert_eq!(sent["params"]["arguments"], json!({"n": 1}));
    assert!(sent["params"].get("requestState").is_none(), "{sent}");
    let refused = call(&mut client, 8, "note", &next);
    assert!(refused.contains(r#""error":{"code":-32602"#), "{refused}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn a_server_with_sessions_is_served_without() {
    let place = Workplace::new();
    let mut client = Client::start(&place, SHORT);
    let listed = {
        client.say(&request(1, "tools/list", json!({})));
        client.hear_json()
    };
    assert_eq!(listed["result"]["tools"][0]["name"], "look", "{listed}");
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(listed["result"]["cacheScope"], "private");
    client.say(&request(2, "server/discover", json!({})));
    let discovered = client.hear_json();
    assert_eq!(
        discovered["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "scripted",
        "{discovered}"
    );
    let looked = call(&mut client, 3, "look", &json!({}));
    assert!(
        looked.contains(r#""content":[{"type":"new","n":18446744073709551617,"f":1.0}]"#),
        "{looked}"
    );
    assert!(!looked.contains("clientCapabilities"), "{looked}");
}

#[test]
fn a_server_without_sessions_is_served_in_one() {
    let place = Workplace::new();
    let mut client = Client::start_stateless(&place, SHORT);
    client.initialize();
    let looked = client.call(1, "look", "{}");
    assert!(
        looked.contains(r#""content":[{"type":"new","n":18446744073709551617,"f":1.0}]"#),
        "{looked}"
    );
    // What its version does not know is left out, and judged before.
    let listed = client.call(7, "counts", "{}");
    assert!(listed.contains(r#""text":"[1]""#), "{listed}");
    assert!(!listed.contains("structuredContent"), "{listed}");
    let waiting = client.call(2, "note", "{}");
    assert!(waiting.contains("again with exactly the same arguments"));
    decide(&place, "approve", &handle(&waiting));
    let done = client.call(3, "note", "{}");
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    assert_eq!(place.notes().len(), 1);
}

#[test]
fn after_eight_rounds_a_call_is_told_that_it_waits() {
    let place = Workplace::new();
    let mut client = Client::start_stateless(&place, SHORT);
    let mut answer = call(&mut client, 1, "note", &json!({}));
    for id in 2..10 {
        answer = call(&mut client, id, "note", &state(&answer));
    }
    assert_eq!(outcome(&answer)["code"], "APPROVAL_REQUIRED", "{answer}");
    assert!(answer.contains("again with exactly the same arguments"));
    assert!(answer.contains(r#""resultType":"complete""#), "{answer}");
    assert_eq!(place.notes().len(), 0);
}

#[test]
fn what_a_server_asks_in_the_course_of_a_write_reaches_its_client() {
    let place = Workplace::new();
    let mut client = Client::start_stateless(&place, &["--approval-wait", "60"]);
    let params = json!({"name": "asks", "arguments": {"n": 1}});
    let progress = r#""_meta":{"progressToken":1,"#;
    client.say(&request(1, "tools/call", params).replace(r#""_meta":{"#, progress));
    decide(&place, "approve", &client.hear_waiting());
    let asked = std::iter::repeat_with(|| client.hear())
        .find(|told| !told.contains("waiting for approval"))
        .unwrap();
    assert!(asked.contains(r#""message": "who?""#), "{asked}");
    let mut next = state(&asked);
    assert_ne!(next["requestState"], "theirs");
    next["inputResponses"] = json!({"who": {"action": "accept", "content": {}}});
    let done = call(&mut client, 3, "asks", &next);
    assert_eq!(outcome(&done)["status"], "succeeded", "{done}");
    let notes = place.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let sent: Value = serde_json::from_str(&notes[0]).unwrap();
    assert_eq!(sent["params"]["requestState"], "theirs");
    assert_eq!(sent["params"]["inputResponses"], next["inputResponses"]);
}
