//! Clients that do as little as they can.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) fn call(id: u64, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"message":"hello","n":{id}}}}}}}"#
    )
}

/// Somebody who calls a tool and waits for the answer.
pub(crate) trait Caller: Send {
    fn call(&mut self, id: u64, tool: &str) -> String;
}

/// A process on whose standard input and output a server speaks.
pub(crate) struct Line {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Line {
    pub(crate) fn open(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let input = child.stdin.take().expect("an input");
        let output = BufReader::new(child.stdout.take().expect("an output"));
        let mut line = Self {
            child,
            input,
            output,
        };
        line.say(INITIALIZE);
        line.hear();
        line.say(INITIALIZED);
        line
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.input
            .write_all(format!("{text}\n").as_bytes())
            .expect("a reader");
        self.input.flush().expect("a reader");
    }

    /// The next answer.
    pub(crate) fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).expect("a line") > 0,
                "an answer"
            );
            if !line.contains("\"method\"") {
                return line;
            }
        }
    }

    /// The most memory that the process has had, in MiB.
    pub(crate) fn peak_memory(&self) -> f64 {
        peak_memory(self.child.id())
    }
}

impl Caller for Line {
    fn call(&mut self, id: u64, tool: &str) -> String {
        self.say(&call(id, tool));
        self.hear()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One session over HTTP, on one connection that is kept.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
    host: String,
    path: String,
    session: Option<String>,
}

impl Http {
    pub(crate) fn open(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("an address");
        let (host, path) = rest.split_once('/').expect("a path");
        let stream = TcpStream::connect(host).expect("a server");
        stream.set_nodelay(true).expect("a socket");
        let mut client = Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
            path: format!("/{path}"),
            session: None,
        };
        let opened = client.post(INITIALIZE);
        assert!(client.session.is_some(), "{opened}");
        client.post(INITIALIZED);
        client
    }

    fn post(&mut self, body: &str) -> String {
        let session = self.session.as_ref().map_or_else(String::new, |session| {
            format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n")
        });
        let (path, host, length) = (&self.path, &self.host, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\n{session}content-length: {length}\r\n\r\n{body}"
        );
        self.stream
            .get_mut()
            .write_all(request.as_bytes())
            .expect("a server");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut length = 0;
        let mut is_chunked = false;
        let first = self.head();
        loop {
            let line = self.head();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("a header");
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse().expect("a length"),
                ("transfer-encoding", value) => is_chunked = value == "chunked",
                ("mcp-session-id", value) => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(&self.head(), 16).expect("a size");
                self.read(size, &mut body);
                self.head();
                if size == 0 {
                    break;
                }
            }
        } else {
            self.read(length, &mut body);
        }
        let body = String::from_utf8(body).expect("text");
        assert!(
            first.contains(" 200") || first.contains(" 202"),
            "{first}: {body} {} {:?}",
            self.host,
            self.session
        );
        body
    }

    fn head(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    fn read(&mut self, size: usize, body: &mut Vec<u8>) {
        let before = body.len();
        body.resize(before + size, 0);
        self.stream.read_exact(&mut body[before..]).expect("a body");
    }
}

/// A session that nobody ends would count for half an hour.
impl Drop for Http {
    fn drop(&mut self) {
        let (path, host) = (&self.path, &self.host);
        let session = self.session.take().unwrap_or_default();
        let request = format!(
            "DELETE {path} HTTP/1.1\r\nhost: {host}\r\nmcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n\r\n"
        );
        let _ = self.stream.get_mut().write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = self.stream.read_line(&mut answer);
    }
}

impl Caller for Http {
    fn call(&mut self, id: u64, tool: &str) -> String {
        self.post(&call(id, tool))
    }
}

/// The most memory that a process has had, in MiB.
pub(crate) fn peak_memory(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}
