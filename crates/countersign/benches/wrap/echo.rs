//! A server that does nothing, so that what is around it can be seen: over lines and over HTTP.

use std::io::{BufRead as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use countersign_mcp::port::{Connect, FromClient, Outgoing, Refused, ToClient};
use countersign_mcp::{Kind, Message, Opening, RequestId, write};
use countersign_mcp_http::listen::{self, Options, Stop};

const TOOLS: &str = r#"{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"act","inputSchema":{"type":"object"}}]}"#;
const DONE: &str = r#"{"content":[{"type":"text","text":"Echo: hello"}]}"#;

/// Serves one client on standard input and output.
pub(crate) fn lines() {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let message = Message::read(line.as_bytes()).expect("a message");
        if let Some(mut answer) = answer(&message) {
            answer.1.push('\n');
            output.write_all(answer.1.as_bytes()).expect("a reader");
            output.flush().expect("a reader");
        }
    }
}

/// Serves clients over HTTP, and prints where.
pub(crate) fn http() {
    let address: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let listener = listen::bind(address, Options::default()).expect("an address");
    println!("http://{}/mcp", listener.address());
    listener
        .run(Arc::new(Clients), &Stop::new())
        .expect("clients");
}

fn answer(message: &Message) -> Option<(RequestId, String)> {
    let Kind::Request { id, method } = message.kind() else {
        return None;
    };
    let result = match method.as_str() {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#
        }
        "tools/list" => TOOLS,
        "tools/call" => DONE,
        _ => "{}",
    };
    Some((id.clone(), write::result(id, result)))
}

struct Clients;

impl Connect for Clients {
    fn connect(
        &self,
        _: Opening,
        client: Arc<dyn ToClient>,
    ) -> Result<Arc<dyn FromClient>, Refused> {
        Ok(Arc::new(Served(client)))
    }
}

struct Served(Arc<dyn ToClient>);

impl FromClient for Served {
    fn receive(&self, message: Message) {
        if let Some((id, text)) = answer(&message) {
            self.0.send(Outgoing {
                text,
                about: Some(id),
                on_written: None,
            });
        }
    }

    fn close(&self) {}
}
