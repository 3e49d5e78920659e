use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use countersign_mcp::{Opening, RequestId, write};
use countersign_mcp_http::listen::Options;

use super::client::{Client, Head, data};
use super::host::{Host, SOON, Seen, echo, request};

const VERSION: &str = "2026-07-28";
const PARALLEL: usize = 32;

/// A request whose `_meta` has what is required, and more. `rest` begins with a comma where there is any.
fn body(id: &str, method: &str, meta: &str, rest: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"{VERSION}\",\"io.modelcontextprotocol/clientCapabilities\":{{}}{meta}}}{rest}}}}}"
    )
}

fn headers<'h>(method: &'h str, name: &'h str) -> Vec<(&'h str, &'h str)> {
    let mut headers = vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", method)];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name));
    }
    headers
}

fn post(client: &mut Client, method: &str, name: &str, body: &str) -> (Head, String) {
    client.post(&headers(method, name), body)
}

/// The connection's own id of the next request.
fn internal(host: &Host) -> RequestId {
    let text = host.next_message();
    let message = countersign_mcp::Message::read(text.as_bytes()).unwrap();
    request(&message).unwrap().0
}

#[test]
fn a_request_stands_alone_and_keeps_its_own_id() {
    let host = Host::start(Options::default(), echo);
    let mut client = Client::new(host.address);
    let call = body("\"\\u0031\"", "tools/call", "", ",\"name\":\"größe\"");
    let (head, answer) = post(&mut client, "tools/call", "=?base64?Z3LDtsOfZQ==?=", &call);
    assert_eq!((head.status, head.header("mcp-session-id")), (200, None));
    assert!(
        answer.starts_with(r#"{"jsonrpc":"2.0","id":"\u0031","result":{"echo":{"_meta""#),
        "{answer}"
    );
    assert_eq!(host.next(), Seen::Opened(0, Opening::EachRequest));
    let Seen::Message(0, seen) = host.next() else {
        panic!()
    };
    assert_eq!(seen, call.replace("\"\\u0031\"", "\"http-1\""));
    // A session's header means nothing here.
    let mut all = headers("tools/list", "");
    all.push(("Mcp-Session-Id", "00"));
    let (head, _) = client.post(&all, &body("1", "tools/list", "", ""));
    assert_eq!(head.status, 200);
    assert!(matches!(host.next(), Seen::Message(0, _)));
    // When its server has ended, the next request opens another connection.
    host.link(0).is_over();
    assert_eq!(
        post(
            &mut client,
            "tools/list",
            "",
            &body("1", "tools/list", "", "")
        )
        .0
        .status,
        200
    );
    let seen = [host.next(), host.next(), host.next()];
    assert!(seen.contains(&Seen::Opened(1, Opening::EachRequest)));
    assert!(seen.contains(&Seen::Closed(0)));
}

#[test]
fn headers_and_message_have_to_agree() {
    let host = Host::start(Options::default(), echo);
    let list = body("7", "tools/list", "", "");
    let call = body("7", "tools/call", "", ",\"name\":\"a\"");
    let read = body("7", "resources/read", "", ",\"uri\":\"file:///a\"");
    let bare = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#;
    let discover = r#"{"jsonrpc":"2.0","id":7,"method":"server/discover"}"#;
    let old = list.replace(VERSION, "2025-11-25");
    let version = ("MCP-Protocol-Version", VERSION);
    let unknown = list.replace(VERSION, "2031-01-01");
    for (headers, body, status, code) in [
        (headers("tools/list", ""), &*list, 200, 0),
        (headers("tools/call", "a"), &call, 200, 0),
        (headers("tools/call", "=?base64?YQ==?="), &call, 200, 0),
        (headers("resources/read", "file:///a"), &read, 200, 0),
        (headers("tools/call", "b"), &call, 400, -32020),
        (headers("tools/call", "A"), &call, 400, -32020),
        (headers("tools/call", "=?base64?!?="), &call, 400, -32020),
        (headers("tools/call", ""), &call, 400, -32020),
        (headers("resources/read", "a"), &read, 400, -32020),
        (headers("tools/list", ""), &call, 400, -32020),
        (headers("TOOLS/LIST", ""), &list, 400, -32020),
        (vec![version], &list, 400, -32020),
        (
            vec![version, version, ("Mcp-Method", "tools/list")],
            &list,
            400,
            -32020,
        ),
        (vec![("Mcp-Method", "tools/list")], &list, 400, -32020),
        (
            vec![("MCP-Protocol-Version", "2025-11-25")],
            &list,
            400,
            -32020,
        ),
        (vec![], discover, 400, -32020),
        (headers("tools/list", ""), bare, 400, -32602),
        (headers("tools/list", ""), &old, 400, -32020),
        (
            vec![("MCP-Protocol-Version", "2025-11-25")],
            &old,
            400,
            -32022,
        ),
        (
            vec![("MCP-Protocol-Version", "2031-01-01")],
            &unknown,
            400,
            -32022,
        ),
    ] {
        let (head, answer) = Client::new(host.address).post(&headers, body);
        assert_eq!(head.status, status, "{headers:?} {body} {answer}");
        if code != 0 {
            let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{{\"code\":{code},");
            assert!(answer.starts_with(&expected), "{headers:?} {body} {answer}");
        }
        if code == -32022 {
            let supported = r#""supported":["2026-07-28"]"#;
            assert!(answer.contains(supported), "{answer}");
        }
    }
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    let (head, _) = post(&mut Client::new(host.address), "x", "", answer);
    assert_eq!(head.status, 400);
}

/// Once a client has been told which arguments headers repeat, they have to agree.
#[test]
fn headers_and_arguments_have_to_agree() {
    let host = Host::start(Options::default(), |link, message| {
        let tools = r#"{"tools":[{"name":"t","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}]}"#;
        match request(message) {
            Some((id, method)) if method == "tools/list" => link.answer(&id, tools),
            Some(_) => echo(link, message),
            None => {}
        }
    });
    let ask = |added: &[(&'static str, &'static str)], arguments: &str| {
        let call = body(
            "7",
            "tools/call",
            "",
            &format!(",\"name\":\"t\",\"arguments\":{arguments}"),
        );
        let headers = [headers("tools/call", "t"), added.to_vec()].concat();
        Client::new(host.address).post(&headers, &call)
    };
    let region = ("Mcp-Param-Region", "us-west1");
    let wrong = r#"{"region":"us-east1"}"#;
    // Nobody has been told yet.
    assert_eq!(ask(&[region], wrong).0.status, 200);
    let list = body("1", "tools/list", "", "");
    post(&mut Client::new(host.address), "tools/list", "", &list);
    let right = r#"{"region":"us-west1","n":7}"#;
    for (added, arguments, is_right) in [
        (&[region, ("MCP-PARAM-N", "7")][..], right, true),
        (
            &[
                ("Mcp-Param-Region", "=?base64?dXMtd2VzdDE=?="),
                ("mcp-param-n", "7"),
            ],
            right,
            true,
        ),
        (
            &[region, ("Mcp-Param-Other", "x")],
            r#"{"region":"us-west1"}"#,
            true,
        ),
        (&[], "{}", true),
        (&[region], r#"{"region":"us-west1","n":null}"#, true),
        (&[region], r#"{"region":"us-west1","n":1.5}"#, true),
        (&[region], right, false),
        (&[region, ("Mcp-Param-N", "07")], right, false),
        (&[region], wrong, false),
        (&[region], "{}", false),
        (&[region, region], r#"{"region":"us-west1"}"#, false),
        (
            &[("Mcp-Param-Region", "=?base64?dXMtd2VzdDE?=")],
            r#"{"region":"us-west1"}"#,
            false,
        ),
        (&[], wrong, false),
    ] {
        let (head, answer) = ask(added, arguments);
        let expected = if is_right { 200 } else { 400 };
        assert_eq!(head.status, expected, "{added:?} {arguments} {answer}");
        assert_eq!(answer.contains("-32020"), !is_right, "{answer}");
        assert!(!answer.contains("us-east1"), "{answer}");
    }
}

#[test]
fn equal_ids_and_tokens_of_many_clients_never_mix() {
    let waiting = Mutex::new(BTreeMap::new());
    let host = Host::start(Options::default(), move |link, message| {
        let Some((id, _)) = request(message) else {
            return;
        };
        let params = message.params().unwrap();
        let token = params.member("_meta").unwrap();
        let token = token.member("progressToken").unwrap().text().to_owned();
        let marker = params.member("marker").unwrap().text().to_owned();
        let mut waiting = waiting.lock().unwrap();
        waiting.insert(marker, (id, token));
        if waiting.len() < PARALLEL {
            return;
        }
        for (number, (marker, (id, token))) in std::mem::take(&mut *waiting).iter().enumerate() {
            let about = (number % 2 == 0).then_some(id);
            let params =
                format!("{{\"progressToken\":{token},\"progress\":1,\"message\":\"{marker}\"}}");
            link.notify(about, "notifications/progress", &params);
            link.answer(id, &format!("{{\"marker\":{marker}}}"));
        }
    });
    let address = host.address;
    let clients: Vec<_> = (0..PARALLEL)
        .map(|number| {
            thread::spawn(move || {
                let meta = ",\"progressToken\":\"mine\"";
                let ask = body("1", "tools/list", meta, &format!(",\"marker\":{number}"));
                let (head, body) = post(&mut Client::new(address), "tools/list", "", &ask);
                assert_eq!(head.status, 200);
                let progress = format!(
                    "{{\"progressToken\":\"mine\",\"progress\":1,\"message\":\"{number}\"}}"
                );
                let answer = format!("{{\"marker\":{number}}}");
                let answer = write::result(&RequestId::Integer("1".into()), &answer);
                let progress = write::notification("notifications/progress", &progress);
                assert_eq!(body, data(&progress) + &data(&answer));
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
}

#[test]
fn a_client_that_goes_cancels_its_request_and_no_other() {
    let options = Options::default().with_json_wait(Duration::from_millis(20));
    let host = Host::start(options, |_, _| {});
    let ask = body("1", "tools/list", "", "");
    // One that waits for its head, one that reads its stream, and one that stays.
    let mut stays = Client::new(host.address);
    stays.begin(&headers("tools/list", ""), &ask);
    let stays_id = internal(&host);
    for is_streaming in [false, true] {
        let mut goes = Client::new(host.address);
        goes.begin(&headers("tools/list", ""), &ask);
        let id = internal(&host);
        if is_streaming {
            assert_eq!(goes.head().status, 200);
            goes.chunk().unwrap();
        }
        drop(goes);
        let expected = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
        );
        assert_eq!(host.next_message(), expected);
        // Its answer comes too late, and is not said to be out.
        let (told, hear) = channel();
        let on_written = move || told.send(()).unwrap();
        let text = write::result(&id, "{}");
        host.link(0)
            .send(text, Some(&id), Some(Box::new(on_written)));
        assert_eq!(hear.recv_timeout(SOON), Err(RecvTimeoutError::Disconnected));
    }
    // What a client says itself could mean somebody else's request.
    let forged = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{stays_id}}}}}"
    );
    let (head, _) = post(&mut Client::new(host.address), "x", "", &forged);
    assert_eq!(head.status, 202);
    host.link(0).answer(&stays_id, "{\"kept\":true}");
    let (_, body) = stays.answer();
    assert!(body.contains(r#""result":{"kept":true}"#), "{body}");
    assert!(host.seen.try_recv().is_err());
}

#[test]
fn an_unknown_method_is_not_found() {
    let host = Host::start(Options::default(), |link, message| {
        let (id, _) = request(message).unwrap();
        let code = message.params().unwrap().member("code").unwrap();
        let code = code.text().parse().unwrap();
        link.send(write::error(Some(&id), code, "text"), Some(&id), None);
    });
    for (code, status) in [(-32601, 404), (-32021, 400), (-32602, 200), (7, 200)] {
        let ask = body("1", "tools/list", "", &format!(",\"code\":{code}"));
        let (head, answer) = post(&mut Client::new(host.address), "tools/list", "", &ask);
        assert_eq!(head.status, status, "{code}");
        let expected = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{\"code\":{code},\"message\":\"text\"}}}}"
        );
        assert_eq!(answer, expected);
    }
}

#[test]
fn a_subscription_carries_its_own_id_until_it_ends() {
    let host = Host::start(Options::default(), |link, message| {
        let (id, _) = request(message).unwrap();
        let params = format!(
            "{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\"notifications\":{{}}}}"
        );
        link.notify(
            Some(&id),
            "notifications/subscriptions/acknowledged",
            &params,
        );
    });
    let acknowledged = |id: &str| {
        data(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\"notifications\":{{}}}}}}"
        ))
    };
    let mut clients = ["7", "\"seven\""].map(|id| {
        let mut client = Client::new(host.address);
        client.begin(
            &headers("subscriptions/listen", ""),
            &body(id, "subscriptions/listen", "", ""),
        );
        assert_eq!(
            client.head().header("content-type"),
            Some("text/event-stream")
        );
        assert_eq!(client.event().unwrap(), acknowledged(id));
        client
    });
    let (first, second) = (internal(&host), internal(&host));
    let link = host.link(0);
    // Without a word on whose course it came in, the subscription says it.
    let params = format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{second}}}}}");
    link.notify(None, "notifications/tools/list_changed", &params);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"seven"}}}"#;
    assert_eq!(clients[1].event().unwrap(), data(changed));
    link.notify(
        None,
        "notifications/cancelled",
        &format!("{{\"requestId\":{first}}}"),
    );
    assert_eq!(clients[0].event(), None);
    // What belongs to nobody goes to nobody.
    link.notify(None, "notifications/tools/list_changed", "{}");
    host.stop();
    assert_eq!(clients[1].event(), None);
}

#[test]
fn while_the_shared_connection_is_being_opened_others_are_served() {
    let (host, go) = Host::start_slowly(
        Options::default().with_idle_limit(Duration::from_millis(50)),
        echo,
    );
    let mut waits = Client::new(host.address);
    waits.begin(&headers("tools/list", ""), &body("1", "tools/list", "", ""));
    // Long enough for the listener to look after its sessions.
    thread::park_timeout(Duration::from_millis(200));
    Client::new(host.address).initialize("2025-11-25");
    go.send(()).unwrap();
    assert_eq!(waits.answer().0.status, 200);
}
