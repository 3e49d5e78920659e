//! Whoever takes what comes from a server, and remembers it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use countersign_mcp::RequestId;
use countersign_mcp::port::{FromServer, Unanswered};
use countersign_mcp_http::remote::{PlainHttp, Problem, Remote, Runtime, Server, Target};

use super::stub::PATIENCE;

/// What was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Message(String, Option<RequestId>),
    Unanswered(RequestId, Unanswered),
    Gone,
}

/// A connection, with everything that comes of it.
pub(crate) struct Line {
    pub(crate) remote: Remote,
    pub(crate) heard: Receiver<Heard>,
    pub(crate) problems: Receiver<Problem>,
    ear: Arc<Ear>,
}

struct Ear(Mutex<Sender<Heard>>);

impl FromServer for Ear {
    fn receive(&self, bytes: &[u8], about: Option<&RequestId>) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.hear(Heard::Message(text, about.cloned()));
    }

    fn unanswered(&self, request: &RequestId, why: Unanswered) {
        self.hear(Heard::Unanswered(request.clone(), why));
    }

    fn gone(&self) {
        self.hear(Heard::Gone);
    }
}

impl Ear {
    fn hear(&self, heard: Heard) {
        let _ = self.0.lock().unwrap().send(heard);
    }
}

impl Line {
    pub(crate) fn open(url: &str) -> Self {
        let target = Target::parse(url, PlainHttp::Loopback).unwrap();
        let target = target.with_header("Authorization", "Bearer key").unwrap();
        let runtime = Runtime::start().unwrap();
        let server = Server::new(&runtime, target).unwrap();
        let (sender, heard) = channel();
        let (problem_sender, problems) = channel();
        let problem_sender = Mutex::new(problem_sender);
        let ear = Arc::new(Ear(Mutex::new(sender)));
        let remote = server.open(
            Arc::clone(&ear) as Arc<dyn FromServer>,
            Arc::new(move |problem| {
                let _ = problem_sender.lock().unwrap().send(problem);
            }),
        );
        Self {
            remote: remote.unwrap(),
            heard,
            problems,
            ear,
        }
    }

    /// Takes nothing as long as what this returns is held.
    pub(crate) fn deafen(&self) -> MutexGuard<'_, Sender<Heard>> {
        self.ear.0.lock().unwrap()
    }

    pub(crate) fn hear(&self) -> Heard {
        self.heard.recv_timeout(PATIENCE).expect("something")
    }

    pub(crate) fn problem(&self) -> Problem {
        self.problems.recv_timeout(PATIENCE).expect("a problem")
    }
}

pub(crate) fn number(id: u32) -> RequestId {
    RequestId::Integer(id.to_string().into())
}
