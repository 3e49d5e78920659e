//! A listener, and what stands behind it: connections that do what a test says.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_mcp::port::{Connect, FromClient, Outgoing, Refused, ToClient};
use countersign_mcp::{Kind, Message, Opening, RequestId, write};
use countersign_mcp_http::listen::{Options, Stop, bind};

/// How long anything may take in a test.
pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) type Script = dyn Fn(&Arc<Link>, &Message) + Send + Sync;

/// A listener that runs until it is dropped.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Receiver<Seen>,
    links: Arc<Mutex<Vec<Arc<Link>>>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// What happened behind the listener. Links are counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Opened(usize, Opening),
    Message(usize, String),
    Closed(usize),
}

/// One connection.
pub(crate) struct Link {
    pub(crate) number: usize,
    client: Arc<dyn ToClient>,
    seen: Mutex<Sender<Seen>>,
    script: Arc<Script>,
    me: Mutex<std::sync::Weak<Link>>,
    is_over: Mutex<bool>,
}

struct Connector {
    script: Arc<Script>,
    seen: Mutex<Sender<Seen>>,
    links: Arc<Mutex<Vec<Arc<Link>>>>,
    refused: Option<Refused>,
    wait: Option<Mutex<Receiver<()>>>,
}

impl Host {
    pub(crate) fn start(
        options: Options,
        script: impl Fn(&Arc<Link>, &Message) + Send + Sync + 'static,
    ) -> Self {
        Self::begin(options, None, None, Arc::new(script))
    }

    /// One whose connection for requests that stand alone opens when it is told to.
    pub(crate) fn start_slowly(
        options: Options,
        script: impl Fn(&Arc<Link>, &Message) + Send + Sync + 'static,
    ) -> (Self, Sender<()>) {
        let (go, wait) = channel();
        let wait = Some(Mutex::new(wait));
        (Self::begin(options, None, wait, Arc::new(script)), go)
    }

    pub(crate) fn refusing(refused: Refused) -> Self {
        Self::begin(Options::default(), Some(refused), None, Arc::new(|_, _| {}))
    }

    fn begin(
        options: Options,
        refused: Option<Refused>,
        wait: Option<Mutex<Receiver<()>>>,
        script: Arc<Script>,
    ) -> Self {
        let listener = bind("127.0.0.1:0".parse().unwrap(), options).unwrap();
        let address = listener.address();
        let (sender, seen) = channel();
        let links = Arc::default();
        let connector = Arc::new(Connector {
            script,
            seen: Mutex::new(sender),
            links: Arc::clone(&links),
            refused,
            wait,
        });
        let stop = Stop::new();
        let thread = {
            let stop = stop.clone();
            thread::spawn(move || listener.run(connector, &stop).unwrap())
        };
        Self {
            address,
            seen,
            links,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn link(&self, number: usize) -> Arc<Link> {
        Arc::clone(&self.links.lock().unwrap()[number])
    }

    pub(crate) fn next(&self) -> Seen {
        self.seen.recv_timeout(SOON).unwrap()
    }

    /// The next message that is no `initialize`.
    pub(crate) fn next_message(&self) -> String {
        loop {
            if let Seen::Message(_, text) = self.next()
                && !text.contains("\"initialize\"")
            {
                return text;
            }
        }
    }

    pub(crate) fn stop(&self) {
        self.stop.request();
    }

    pub(crate) fn end(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        opening: Opening,
        client: Arc<dyn ToClient>,
    ) -> Result<Arc<dyn FromClient>, Refused> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        if let Some(wait) = &self.wait
            && opening == Opening::EachRequest
        {
            wait.lock().unwrap().recv_timeout(SOON).unwrap();
        }
        let mut links = self.links.lock().unwrap();
        let link = Arc::new(Link {
            number: links.len(),
            client,
            seen: Mutex::new(self.seen.lock().unwrap().clone()),
            script: Arc::clone(&self.script),
            me: Mutex::default(),
            is_over: Mutex::new(false),
        });
        *link.me.lock().unwrap() = Arc::downgrade(&link);
        links.push(Arc::clone(&link));
        link.tell(Seen::Opened(link.number, opening));
        Ok(link)
    }
}

impl FromClient for Link {
    fn receive(&self, message: Message) {
        self.tell(Seen::Message(self.number, message.text().to_owned()));
        let me = self.me.lock().unwrap().upgrade().unwrap();
        if let Kind::Request { id, method } = message.kind()
            && method == "initialize"
        {
            let version = message.params().unwrap();
            let version = version.member("protocolVersion").unwrap();
            let version = version.text();
            let result = format!(
                "{{\"protocolVersion\":{version},\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"h\",\"version\":\"1\"}}}}"
            );
            return self.answer(id, &result);
        }
        (self.script)(&me, &message);
    }

    fn close(&self) {
        self.tell(Seen::Closed(self.number));
    }

    fn is_open(&self) -> bool {
        !*self.is_over.lock().unwrap()
    }
}

impl Link {
    pub(crate) fn answer(&self, id: &RequestId, result: &str) {
        self.send(write::result(id, result), Some(id), None);
    }

    pub(crate) fn notify(&self, about: Option<&RequestId>, method: &str, params: &str) {
        self.send(write::notification(method, params), about, None);
    }

    pub(crate) fn send(
        &self,
        text: String,
        about: Option<&RequestId>,
        on_written: Option<Box<dyn FnOnce() + Send>>,
    ) {
        self.client.send(Outgoing {
            text,
            about: about.cloned(),
            on_written,
        });
    }

    /// The server behind has ended.
    pub(crate) fn is_over(&self) {
        *self.is_over.lock().unwrap() = true;
    }

    fn tell(&self, seen: Seen) {
        // A test that has ended sees no more.
        let _ = self.seen.lock().unwrap().send(seen);
    }
}

/// A request's id and method.
pub(crate) fn request(message: &Message) -> Option<(RequestId, String)> {
    match message.kind() {
        Kind::Request { id, method } => Some((id.clone(), method.clone())),
        Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => None,
    }
}

/// Answers each request with its own parameters, and nothing else.
pub(crate) fn echo(link: &Arc<Link>, message: &Message) {
    if let Some((id, _)) = request(message) {
        let params = message.params().map_or("{}", |params| params.text());
        link.answer(&id, &format!("{{\"echo\":{params}}}"));
    }
}
