//! Lines of MCP to messages, pins and the bridges between versions.
#![no_main]

use std::collections::BTreeSet;

use countersign_mcp::bridge::{Bridge, Step, ToSession, ToStateless};
use countersign_mcp::pin::Pin;
use countersign_mcp::tools::ToolPage;
use countersign_mcp::{Kind, Launch, Message, Patterns, RequestId, ServerName, salvage, stateless};
use libfuzzer_sys::fuzz_target;

/// Opens the session of either bridge, so that what follows gets further.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{},"form":{}},"sampling":{},"roots":{}}}}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":"i","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{},"roots":{}}}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}}}"#;
const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}}}"#;

// One message a line; a line that begins with `<` is the server's.
fuzz_target!(|input: &[u8]| {
    for line in input.split(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b"<").unwrap_or(line);
        if let Ok(message) = Message::read(line) {
            check_message(&message);
        }
        let _ = salvage(line);
        let _ = Pin::read(line);
    }
    drive(
        ToSession::new(Box::new(|| [7; 16]), input.len().is_multiple_of(2)),
        DISCOVER,
        INITIALIZED,
        input,
    );
    drive(ToStateless::new(None), INITIALIZE, DISCOVERED, input);
});

fn check_message(message: &Message) {
    let _ = stateless::opening(message);
    let _ = stateless::RequestMeta::read(message.params().as_ref());
    if let Some(params) = message.params() {
        let _ = stateless::InputResponses::read(&params);
    }
    let Some(result) = message.result() else {
        return;
    };
    if let Ok(required) = stateless::InputRequired::read(&result) {
        assert!(required.requests.len() <= stateless::MAX_INPUT_REQUESTS);
    }
    for method in ["tools/list", "tools/call"] {
        let complete = stateless::complete(method, result.text(), None);
        let again = stateless::complete(method, &complete, None);
        assert_eq!(complete, again, "what is complete is complete");
        let _ = stateless::for_earlier_versions(method, &complete);
    }
    if let Some(page) = ToolPage::read(&result) {
        let server = ServerName::new("s").expect("a name");
        let launch = Launch::new(vec!["s".to_owned()], "/".to_owned());
        let mut pin = Pin::new(server, &launch);
        let tools: Vec<_> = page.tools.into_iter().flatten().collect();
        pin.adopt(&tools, &Patterns::default());
        let bytes = pin.to_bytes();
        if let Ok(again) = Pin::read(&bytes) {
            assert_eq!(again, pin);
        }
    }
}

fn drive<B: Bridge>(mut bridge: B, first: &str, answer: &str, input: &[u8]) {
    let mut open = BTreeSet::new();
    let read = |text: &str| Message::read(text.as_bytes()).expect("a message of our own");
    let mut sent = vec![(false, read(first)), (true, read(answer))];
    for line in input.split(|byte| *byte == b'\n') {
        let (is_server, line) = match line.strip_prefix(b"<") {
            Some(line) => (true, line),
            None => (false, line),
        };
        sent.extend(Message::read(line).map(|message| (is_server, message)));
    }
    for (is_server, message) in sent {
        let steps = if is_server {
            bridge.server_sent(&message, None)
        } else {
            if let Kind::Request { id, .. } = message.kind() {
                open.insert(id.clone());
            }
            bridge.client_sent(&message)
        };
        take(steps, &mut open);
    }
    take(bridge.expire(), &mut open);
    take(bridge.gone(), &mut open);
}

/// Nobody is answered who has not asked.
fn take(steps: Vec<Step>, open: &mut BTreeSet<RequestId>) {
    for step in steps {
        match step {
            Step::ToServer { text, .. } => {
                Message::read(text.as_bytes()).expect("what is sent to a server is a message");
            }
            Step::ToClient { text, .. } => {
                let message = Message::read(text.as_bytes());
                let message = message.expect("what is sent to a client is a message");
                if let Kind::Response { id } | Kind::Error { id: Some(id) } = message.kind() {
                    assert!(open.remove(id), "an answer to nobody");
                }
            }
            Step::Unanswered(id) => assert!(open.remove(&id), "nobody waits for this"),
        }
    }
}
