//! A server made of sockets, which answers exactly what a test says, and knows what it was sent.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    /// Which connection it came over.
    pub(crate) connection: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The id of the request in the body, as it stands there.
    pub(crate) fn id(&self) -> String {
        let found = countersign_mcp::salvage(self.body.as_bytes());
        found.expect("a request with an id").id.to_json()
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.body.contains(text)
    }
}

/// The server.
pub(crate) struct Stub {
    pub(crate) port: u16,
    seen: Receiver<Seen>,
}

impl Stub {
    /// Starts it. `answer` writes whatever it likes; the connection ends if it does not want more.
    pub(crate) fn start(
        answer: impl Fn(&Seen, &mut TcpStream) -> bool + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, seen) = channel();
        let sender = Arc::new(Mutex::new(sender));
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (sender, answer) = (Arc::clone(&sender), Arc::clone(&answer));
                thread::spawn(move || serve(connection, stream.unwrap(), &sender, &*answer));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// The next request that came.
    pub(crate) fn next(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).expect("a request")
    }

    /// The requests that have come and were not looked at.
    pub(crate) fn rest(&self) -> Vec<Seen> {
        self.seen.try_iter().collect()
    }
}

fn serve(
    connection: usize,
    mut stream: TcpStream,
    sender: &Mutex<Sender<Seen>>,
    answer: &(impl Fn(&Seen, &mut TcpStream) -> bool + ?Sized),
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut first = String::new();
        if !matches!(reader.read_line(&mut first), Ok(1..)) {
            return;
        }
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            if !matches!(reader.read_line(&mut line), Ok(1..)) {
                return;
            }
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length");
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let seen = Seen {
            method: first.split(' ').next().unwrap().to_owned(),
            headers,
            body: String::from_utf8(body).unwrap(),
            connection,
        };
        let _ = sender.lock().unwrap().send(seen.clone());
        if !answer(&seen, &mut stream) {
            return;
        }
    }
}

/// Writes an answer with a body.
pub(crate) fn reply(stream: &mut TcpStream, status: u16, headers: &str, body: &str) -> bool {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).is_ok()
}

pub(crate) fn json(stream: &mut TcpStream, body: &str) -> bool {
    reply(stream, 200, "Content-Type: application/json\r\n", body)
}

/// Begins a stream of events, which ends with the connection.
pub(crate) fn events(stream: &mut TcpStream, first: &str) -> bool {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";
    stream
        .write_all(format!("{head}{first}").as_bytes())
        .is_ok()
}

/// Waits until the other side has closed the connection.
pub(crate) fn until_closed(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = [0; 1];
    assert!(matches!(stream.read(&mut buffer), Ok(0) | Err(_)));
}
