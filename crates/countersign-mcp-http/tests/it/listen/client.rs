//! A client of HTTP that shows every byte, and sends whatever it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::host::SOON;

pub(crate) const SESSION_HEADERS: [(&str, &str); 2] = [
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
];
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"VERSION","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: BufReader<TcpStream>,
    address: SocketAddr,
}

/// The head of an answer; its body is read as it comes.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        Self {
            stream: BufReader::new(stream),
            address,
        }
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Sends a request. A `Host` header comes by itself, unless there is one.
    pub(crate) fn send(&mut self, method: &str, headers: &[(&str, &str)], body: &[u8]) {
        self.send_to("/mcp", method, headers, body);
    }

    pub(crate) fn send_to(
        &mut self,
        path: &str,
        method: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) {
        let (host, length) = (self.address.to_string(), body.len().to_string());
        let mut lines = vec![format!("{method} {path} HTTP/1.1")];
        let mut header = |name: &str, value: &str| lines.push(format!("{name}: {value}"));
        if !headers.iter().any(|(name, _)| *name == "Host") {
            header("Host", &host);
        }
        if method == "POST" {
            header("Content-Length", &length);
        }
        for (name, value) in headers {
            header(name, value);
        }
        let head = format!("{}\r\n\r\n", lines.join("\r\n"));
        let all = [head.as_bytes(), body].concat();
        // What refuses a body may close before it has been sent.
        let _ = self.stream.get_mut().write_all(&all);
    }

    pub(crate) fn head(&mut self) -> Head {
        let status = self.line();
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                return Head { status, headers };
            };
            headers.push((name.to_owned(), value.to_owned()));
        }
    }

    /// The whole of an answer.
    pub(crate) fn answer(&mut self) -> (Head, String) {
        let head = self.head();
        let body = self.body(&head);
        (head, body)
    }

    pub(crate) fn body(&mut self, head: &Head) -> String {
        let mut body = Vec::new();
        if let Some(length) = head.header("content-length") {
            body.resize(length.parse().unwrap(), 0);
            self.stream.read_exact(&mut body).unwrap();
        } else if head.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk() {
                body.extend(chunk);
            }
        }
        String::from_utf8(body).unwrap()
    }

    /// The next piece of a stream; nothing where it has come to its end.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.line();
        let length = usize::from_str_radix(&line, 16).unwrap();
        let mut chunk = vec![0; length];
        self.stream.read_exact(&mut chunk).unwrap();
        self.line();
        (length > 0).then_some(chunk)
    }

    /// The next event, without comments; nothing where the stream has come to its end.
    pub(crate) fn event(&mut self) -> Option<String> {
        loop {
            let event = String::from_utf8(self.chunk()?).unwrap();
            if !event.starts_with(':') {
                return Some(event);
            }
        }
    }

    /// Whether the other side has closed.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).is_ok_and(|_| true)
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(line.ends_with("\r\n"), "{line:?}");
        line.trim_end().to_owned()
    }

    pub(crate) fn post(&mut self, headers: &[(&str, &str)], body: &str) -> (Head, String) {
        self.begin(headers, body);
        self.answer()
    }

    /// Sends a message, and leaves the answer to be read.
    pub(crate) fn begin(&mut self, headers: &[(&str, &str)], body: &str) {
        let headers = [&SESSION_HEADERS, headers].concat();
        self.send("POST", &headers, body.as_bytes());
    }

    /// Opens a session, and gives its id.
    pub(crate) fn initialize(&mut self, version: &str) -> String {
        let (head, body) = self.post(&[], &INITIALIZE.replace("VERSION", version));
        assert_eq!(head.status, 200, "{body}");
        head.header("mcp-session-id").unwrap().to_owned()
    }
}

/// A message under an event's id, as it stands in a stream.
pub(crate) fn event(id: &str, message: &str) -> String {
    format!("id: {id}\ndata: {message}\n\n")
}

/// A message as an event of a stream that cannot be resumed.
pub(crate) fn data(message: &str) -> String {
    format!("data: {message}\n\n")
}
