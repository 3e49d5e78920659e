//! Both bridges between peers that do anything, in any order.

use std::collections::{BTreeMap, BTreeSet};

use countersign_mcp::bridge::{Bridge, Step, ToSession, ToStateless};
use countersign_mcp::stateless::{InputRequired, ResultType, SUBSCRIPTION_ID};
use countersign_mcp::{Kind, Message, RequestId, write};
use proptest::prelude::*;

use crate::bridge::{message, to_session};

const SENDER: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":"t","io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}}"#;
const CALL: &str = r#""name":"x","arguments":{"n":1.0},"uri":"file:///a""#;
const METHODS: [&str; 6] = [
    "tools/call",
    "tools/list",
    "prompts/get",
    "resources/read",
    "completion/complete",
    "subscriptions/listen",
];

/// A bridge, a client and a server, and what each of them still waits for.
struct World<B> {
    bridge: B,
    /// Whether the client speaks 2026-07-28.
    is_stateless: bool,
    last: u64,
    /// Requests of the client.
    open: BTreeMap<RequestId, String>,
    cancelled: BTreeSet<RequestId>,
    /// Requests at the server.
    at_server: BTreeMap<RequestId, String>,
    /// What the client is asked with requests.
    asked: Vec<RequestId>,
    /// What the server has asked with requests.
    asks: BTreeSet<RequestId>,
    /// What the client is asked with results: method, state, keys.
    states: Vec<(String, String, Vec<String>)>,
    /// Contents that the server has sent and the client has not seen.
    contents: BTreeSet<String>,
    seen: usize,
}

impl<B: Bridge> World<B> {
    fn new(bridge: B, is_stateless: bool) -> Self {
        Self {
            bridge,
            is_stateless,
            last: 0,
            open: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            at_server: BTreeMap::new(),
            asked: Vec::new(),
            asks: BTreeSet::new(),
            states: Vec::new(),
            contents: BTreeSet::new(),
            seen: 0,
        }
    }

    fn act(&mut self, action: u8, choice: usize) {
        match action {
            0..=2 => self.request(METHODS[choice % METHODS.len()], ""),
            3..=5 => self.answer(choice),
            6 => self.ask(choice),
            7 | 8 => self.bring(choice),
            9 => self.cancel(choice),
            10 => self.notify(choice),
            11 => {
                let steps = self.bridge.expire();
                self.take(steps);
            }
            12 => self.lose(choice),
            13 => self.subscribe(choice),
            _ => self.forge(choice),
        }
    }

    fn request(&mut self, method: &str, members: &str) {
        self.last += 1;
        let id = RequestId::Integer(self.last.to_string().into());
        let sender = if self.is_stateless {
            SENDER
        } else {
            "\"_meta\":{\"progressToken\":\"t\"}"
        };
        let wanted =
            r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
        let params = format!("{{{CALL},{members}{wanted},{sender}}}");
        self.open.insert(id.clone(), method.to_owned());
        self.client(&write::request(&id, method, &params));
    }

    fn client(&mut self, text: &str) {
        let steps = self.bridge.client_sent(&message(text));
        self.take(steps);
    }

    fn server(&mut self, text: &str) {
        let steps = self.bridge.server_sent(&message(text), None);
        self.take(steps);
    }

    /// The server answers one of its requests.
    fn answer(&mut self, choice: usize) {
        let Some(id) = nth(self.at_server.keys(), choice) else {
            return;
        };
        self.reply(&id, choice);
    }

    fn reply(&mut self, id: &RequestId, choice: usize) {
        let Some(method) = self.at_server.remove(id) else {
            return;
        };
        let may_ask = matches!(&*method, "tools/call" | "prompts/get" | "resources/read");
        let text = match (&*method, choice % 5) {
            ("initialize", _) => r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}"#.to_owned(),
            ("server/discover", _) => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}}}"#.to_owned(),
            (_, 1) => {
                let code = [-32002, -32042, -32022, -32603][choice % 4];
                let pages = r#""data":{"elicitations":[{"mode":"url","url":"https://a","message":"?"}]}"#;
                return self.server(&write::error_as_given(id, &format!("{{\"code\":{code},\"message\":\"m\",{pages}}}")));
            }
            (_, 2) if may_ask && !self.is_stateless => {
                r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{}}},"requestState":"s"}"#.to_owned()
            }
            (_, 3) if may_ask && !self.is_stateless => r#"{"resultType":"input_required","requestState":"s"}"#.to_owned(),
            ("tools/call", _) => {
                self.seen += 1;
                let content = format!(r#""content":[ {{"type":"new" ,"n":{}.50e0}}],"structuredContent":{{ "n":{}9999999999999999999}}"#, self.seen, self.seen);
                self.contents.insert(content.clone());
                format!("{{ {content} }}")
            }
            _ => "{}".to_owned(),
        };
        self.server(&write::result(id, &text));
    }

    /// The server asks something on its own.
    fn ask(&mut self, choice: usize) {
        self.last += 1;
        let id = RequestId::Text(format!("s{}", self.last).into());
        let (method, params) = [
            ("roots/list", "{}"),
            ("elicitation/create", r#"{"message":"?"}"#),
            ("elicitation/create", r#"{"mode":"url","url":"https://a"}"#),
            ("sampling/createMessage", r#"{"messages":[]}"#),
            ("ping", "{}"),
            ("tasks/list", "{}"),
        ][choice % 6];
        if self.is_stateless {
            self.asks.insert(id.clone());
        }
        self.server(&write::request(&id, method, params));
    }

    /// The client brings what it has been asked for.
    fn bring(&mut self, choice: usize) {
        if let Some(id) = nth(self.asked.iter(), choice) {
            self.asked.retain(|asked| *asked != id);
            let text = if choice.is_multiple_of(3) {
                write::error(Some(&id), -1, "no")
            } else {
                write::result(&id, "{\"action\":\"decline\",\"roots\":[]}")
            };
            return self.client(&text);
        }
        if self.states.is_empty() {
            return;
        }
        let (method, state, keys) = self.states.remove(choice % self.states.len());
        let brought: Vec<_> = keys
            .iter()
            .skip(choice % 2)
            .map(|key| format!("\"{key}\":{{\"action\":\"decline\"}}"))
            .collect();
        let members = format!(
            "\"inputResponses\":{{{}}},\"requestState\":\"{state}\",",
            brought.join(",")
        );
        self.request(&method, &members);
    }

    fn cancel(&mut self, choice: usize) {
        let Some(id) = nth(self.open.keys(), choice) else {
            return;
        };
        if self.open[&id] == "initialize" {
            return;
        }
        self.open.remove(&id);
        self.cancelled.insert(id.clone());
        let params = format!("{{\"requestId\":{}}}", id.to_json());
        self.client(&write::notification("notifications/cancelled", &params));
    }

    fn notify(&mut self, choice: usize) {
        let number = choice % 7;
        let (method, params) = [
            ("notifications/tools/list_changed", "{}".to_owned()),
            (
                "notifications/resources/updated",
                format!(r#"{{"uri":"file:///a","_meta":{{"{SUBSCRIPTION_ID}":{number}}}}}"#),
            ),
            (
                "notifications/progress",
                format!(r#"{{"progressToken":{number},"progress":1}}"#),
            ),
            (
                "notifications/message",
                r#"{"level":"error","data":1}"#.to_owned(),
            ),
            (
                "notifications/cancelled",
                format!(r#"{{"requestId":{number}}}"#),
            ),
            (
                "notifications/subscriptions/acknowledged",
                format!(
                    r#"{{"_meta":{{"{SUBSCRIPTION_ID}":{number}}},"notifications":{{"resourceSubscriptions":["file:///a"]}}}}"#
                ),
            ),
        ][choice % 6]
            .clone();
        let text = write::notification(method, &params);
        // A server ends streams with it, and nothing else.
        let id = RequestId::Integer(number.to_string().into());
        let is_stream = self
            .at_server
            .get(&id)
            .is_some_and(|method| method == "subscriptions/listen");
        if method == "notifications/cancelled" && is_stream {
            self.at_server.remove(&id);
        }
        self.server(&text);
        if choice.is_multiple_of(11) {
            self.client(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
    }

    fn lose(&mut self, choice: usize) {
        if let Some(id) = nth(self.at_server.keys(), choice) {
            self.at_server.remove(&id);
            let steps = self.bridge.unanswered(&id);
            self.take(steps);
        }
    }

    fn subscribe(&mut self, choice: usize) {
        let method = [
            "resources/subscribe",
            "resources/unsubscribe",
            "logging/setLevel",
        ];
        self.request(method[choice % 3], "\"level\":\"info\",");
    }

    /// Whatever a hostile peer might try.
    fn forge(&mut self, choice: usize) {
        let id = RequestId::Integer((choice % 9).to_string().into());
        match choice % 4 {
            0 => {
                let state = format!("\"requestState\":\"countersign-1-{choice}\",");
                self.request("tools/call", &state);
            }
            1 => self.client(&write::result(&id, "{}")),
            2 if !self.at_server.contains_key(&id) => {
                self.server(&write::result(&id, "{\"resultType\":\"input_required\"}"));
            }
            _ => self.client(&write::result(
                &RequestId::Text(format!("countersign-ask-{choice}").into()),
                "{}",
            )),
        }
    }

    fn take(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::ToServer { text, carries } => {
                    self.server_gets(&message(&text));
                    if let Some(id) = carries {
                        assert!(self.open.contains_key(&id), "{id}");
                    }
                }
                Step::ToClient { text, about } => {
                    // A request that nobody waits for any more is told about in the course of its end only.
                    let known = about.is_none_or(|id| {
                        self.open.contains_key(&id) || self.cancelled.contains(&id)
                    });
                    assert!(known, "{text}");
                    self.client_gets(&message(&text));
                }
                Step::Unanswered(id) => assert!(self.open.remove(&id).is_some(), "{id}"),
            }
        }
    }

    fn server_gets(&mut self, message: &Message) {
        match message.kind() {
            Kind::Request { id, method } => {
                let before = self.at_server.insert(id.clone(), method.clone());
                assert_eq!(before, None, "an id is used twice at a time");
            }
            Kind::Response { id } | Kind::Error { id: Some(id) } => {
                assert!(
                    self.asks.remove(id),
                    "nobody has asked this: {}",
                    message.text()
                );
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                let params = message.params().unwrap();
                let id = params.value().get("requestId").unwrap();
                self.at_server.remove(&RequestId::from_value(id).unwrap());
            }
            Kind::Notification { .. } => {}
            Kind::Error { id: None } => panic!("an error about nothing"),
        }
    }

    fn client_gets(&mut self, message: &Message) {
        match message.kind() {
            Kind::Request { id, .. } => self.asked.push(id.clone()),
            Kind::Response { id } => {
                let method = self.open.remove(id);
                let method = method.unwrap_or_else(|| panic!("answered twice: {}", message.text()));
                let result = message.result().unwrap();
                if self.is_stateless {
                    assert!(result.value().get("resultType").is_some());
                }
                if ResultType::of(result.value()) == ResultType::InputRequired {
                    assert!(self.is_stateless);
                    let required = InputRequired::read(&result).unwrap();
                    let keys = required.requests.into_iter().map(|request| request.key);
                    self.states
                        .push((method, required.state.unwrap(), keys.collect()));
                } else if result.value().get("content").is_some() {
                    let is_it = |content: &String| message.text().contains(content.as_str());
                    let content = self.contents.iter().find(|content| is_it(content)).cloned();
                    let content = content.expect("contents pass as they are, and once");
                    self.contents.remove(&content);
                }
            }
            Kind::Error { id: Some(id) } => {
                assert!(self.open.remove(id).is_some(), "answered twice: {id}");
            }
            Kind::Error { id: None } => panic!("{}", message.text()),
            Kind::Notification { method } if method == "notifications/cancelled" => {
                let params = message.params().unwrap();
                let id = params.value().get("requestId").unwrap();
                let id = RequestId::from_value(id).unwrap();
                self.asked.retain(|asked| *asked != id);
            }
            Kind::Notification { .. } => {}
        }
    }

    /// Everybody answers everything.
    fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 2000, "it never ends");
            while !self.asked.is_empty() || !self.states.is_empty() {
                self.bring(4);
            }
            let before = self.at_server.clone();
            for (id, method) in &before {
                if method == "subscriptions/listen" {
                    self.server(&write::notification(
                        "notifications/subscriptions/acknowledged",
                        &format!(
                            r#"{{"_meta":{{"{SUBSCRIPTION_ID}":{}}},"notifications":{{}}}}"#,
                            id.to_json()
                        ),
                    ));
                }
            }
            let others = before
                .iter()
                .filter(|(_, method)| *method != "subscriptions/listen");
            let others: Vec<_> = others.map(|(id, _)| id.clone()).collect();
            for id in &others {
                self.reply(id, 0);
            }
            if others.is_empty() && before == self.at_server {
                break;
            }
        }
        let left: Vec<_> = self.open.values().cloned().collect();
        assert!(
            left.iter().all(|method| method == "subscriptions/listen"),
            "{left:?}"
        );
        let steps = self.bridge.gone();
        self.take(steps);
        assert!(self.open.is_empty(), "{:?}", self.open);
    }
}

fn nth<'i, I>(mut ids: I, choice: usize) -> Option<RequestId>
where
    I: ExactSizeIterator<Item = &'i RequestId>,
{
    match ids.len() {
        0 => None,
        count => ids.nth(choice % count).cloned(),
    }
}

fn actions() -> impl Strategy<Value = Vec<(u8, usize)>> {
    proptest::collection::vec((0_u8..15, 0_usize..10_000), 0..60)
}

proptest! {
    #[test]
    fn a_stateless_client_has_one_answer_to_each_request(is_shared: bool, actions in actions()) {
        let mut world: World<ToSession> = World::new(to_session(is_shared).bridge, true);
        for (action, choice) in actions {
            world.act(action, choice);
        }
        world.settle();
    }

    #[test]
    fn a_session_s_client_has_one_answer_to_each_request(actions in actions()) {
        let mut world = World::new(ToStateless::new(None), false);
        let id = RequestId::Text("initialize".into());
        world.open.insert(id.clone(), "initialize".to_owned());
        let params = r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}}}"#;
        world.client(&write::request(&id, "initialize", params));
        for (action, choice) in actions {
            world.act(action, choice);
        }
        world.settle();
    }
}
