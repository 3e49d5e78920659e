//! One connection: what comes from the client, what comes from the server, and where each of it goes.

mod calls;
mod heard;
mod opening;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use countersign_contract::StatusRef;
use countersign_mcp::port::{FromClient, FromServer, Outgoing, ToClient, Unanswered};
use countersign_mcp::stateless::RequestMeta;
use countersign_mcp::tools::is_about_tools;
use countersign_mcp::{Kind, Message, Opening, Passthrough, RequestId, salvage, write};

use self::opening::{Initialize, Opened, Phase};
use super::answers;
use super::caller::Caller;
use super::governor::Governor;
use super::inventory::{Inventory, Stock};
use super::rounds::Rounds;
use super::upstream::{Asked, Hears, Question, Upstream};
use crate::output::complain;

/// The most requests of a client that wait for an answer.
const MAX_IN_FLIGHT: usize = 4096;
/// The most threads that wait on behalf of calls.
const MAX_WAITING: usize = 256;
/// The most lines of a server that are complained about.
const MAX_COMPLAINTS: usize = 20;

/// One client, or many that share a connection since their requests stand alone; one server.
pub(super) struct Session {
    client: Arc<dyn ToClient>,
    pub(super) upstream: Upstream,
    pub(super) inventory: Inventory,
    pub(super) governor: Governor,
    pub(super) rounds: Rounds,
    policy: &'static str,
    call_timeout: Duration,
    /// Whether many clients share it, so that what one says is no word of another's.
    is_shared: bool,
    state: Mutex<State>,
    is_ending: AtomicBool,
    is_server_gone: AtomicBool,
    waiting: AtomicUsize,
    complaints: AtomicUsize,
    myself: Weak<Self>,
}

#[derive(Default)]
struct State {
    in_flight: BTreeMap<RequestId, InFlight>,
    phase: Phase,
}

/// A client's request that has no answer yet.
enum InFlight {
    /// The answer passes.
    Plain,
    /// It opens the session.
    Initialize(Box<Initialize>),
    /// The answer passes, without tools that are out of service.
    List,
    /// The answer passes, if it is what the tool promises.
    Read { tool: String },
    /// It is answered by us.
    Write(Arc<AtomicBool>),
}

/// Codes of JSON-RPC 2.0, section 5.1.
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;

impl Session {
    pub(super) fn new(
        client: Arc<dyn ToClient>,
        inventory: Inventory,
        governor: Governor,
        policy: &'static str,
        call_timeout: Duration,
        is_shared: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|myself: &Weak<Self>| Self {
            client,
            upstream: Upstream::new(Weak::clone(myself) as Weak<dyn Hears>),
            inventory,
            governor,
            rounds: Rounds::default(),
            policy,
            call_timeout,
            is_shared,
            state: Mutex::default(),
            is_ending: AtomicBool::new(false),
            is_server_gone: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            complaints: AtomicUsize::new(0),
            myself: Weak::clone(myself),
        })
    }

    /// Takes bytes of which nobody knows yet whether they are a message.
    pub(super) fn receive_bytes(&self, bytes: &[u8]) {
        match Message::read(bytes) {
            Ok(message) => FromClient::receive(self, message),
            Err(error) => {
                let text = error.to_string();
                match salvage(bytes) {
                    Some(answer) if self.governor.has_asked(&answer.id) && !answer.is_request => {}
                    Some(answer) if !answer.is_request => {
                        let refused = write::error(Some(&answer.id), INTERNAL_ERROR, &text);
                        self.upstream.refuse(refused);
                    }
                    Some(request) => self.refuse(&request.id, error.code(), &text),
                    None => self.tell(write::error(None, error.code(), &text), None),
                }
            }
        }
    }

    fn request(&self, id: &RequestId, method: &str, message: Message) {
        let (is_free, count) = {
            let state = self.lock();
            (!state.in_flight.contains_key(id), state.in_flight.len())
        };
        if !is_free || self.upstream.is_own(id) {
            // With its id, the refusal would pass for the answer to the other one.
            let text = "this request's id is in use";
            return self.tell(write::error(None, INVALID_REQUEST, text), None);
        }
        if count >= MAX_IN_FLIGHT {
            return self.refuse(id, INVALID_REQUEST, "too many requests are under way");
        }
        match method {
            "initialize" if !self.is_stateless() => self.initialize(id, &message),
            "tools/list" => self.pass(id, InFlight::List, &message),
            "tools/call" => self.call(id, message),
            _ if is_about_tools(method) => {
                self.refuse(id, METHOD_NOT_FOUND, "tools can be listed and called here");
            }
            _ => self.pass(id, InFlight::Plain, &message),
        }
    }

    /// Passes a request on, and remembers who waits for its answer.
    fn pass(&self, id: &RequestId, in_flight: InFlight, message: &Message) {
        self.lock().in_flight.insert(id.clone(), in_flight);
        if !self.upstream.pass(message) {
            self.lock().in_flight.remove(id);
            self.refuse(id, INTERNAL_ERROR, "the server takes no more messages");
        }
    }

    /// Tells a client that wants to hear of progress that its call waits. The value increases each time (2025-11-25, Progress),
    /// and leaves room for what the server itself will say.
    pub(super) fn tell_waiting(&self, caller: &Caller, status_ref: &StatusRef, told: u32) {
        let waiting = caller.waiting();
        if let Some(token) = waiting.progress_token {
            let params = format!(
                "{{\"progressToken\":{token},\"progress\":0.{told:06},\"message\":\"waiting for approval: {status_ref}\"}}"
            );
            let told = write::notification("notifications/progress", &params);
            self.tell(told, Some(waiting.id));
        }
    }

    /// Asks the server something of our own, and waits for the answer.
    pub(super) fn ask(
        &self,
        method: &str,
        params: String,
        caller: Option<&Arc<Caller>>,
        timeout: Duration,
    ) -> Asked {
        let sender = self.sender();
        self.upstream.ask(Question {
            method,
            params,
            sender: sender.as_ref(),
            caller,
            timeout,
        })
    }

    /// How long the server may take for a call.
    pub(super) fn call_timeout(&self) -> Duration {
        self.call_timeout
    }

    /// The tools as they stand.
    pub(super) fn stock(&self) -> anyhow::Result<Arc<Stock>> {
        self.inventory.ensure(self, &self.passthrough()?)
    }

    /// The tools as they stand now, whatever was known.
    pub(super) fn renewed_stock(&self) -> anyhow::Result<Arc<Stock>> {
        self.inventory.renew(self, &self.passthrough()?)
    }

    pub(super) fn passthrough(&self) -> anyhow::Result<Passthrough> {
        let opened = self.opened();
        let opened = opened.ok_or_else(|| anyhow!("the session is not open"))?;
        Ok(opened.passthrough)
    }

    /// Whether the client's requests stand alone, so that it can be asked for something with a result only.
    pub(super) fn is_stateless(&self) -> bool {
        let state = self.lock();
        let opened = state.phase.opened();
        opened.is_some_and(|opened| opened.version.traits().opening == Opening::EachRequest)
    }

    /// Whether the client has a session, and said that it can ask its user to open a page.
    pub(super) fn opens_pages(&self) -> bool {
        let state = self.lock();
        let opened = state.phase.opened();
        opened.is_some_and(|opened| opened.opens_pages)
    }

    fn opened(&self) -> Option<Opened> {
        self.lock().phase.opened().cloned()
    }

    /// Who sent the last request that stands alone.
    fn sender(&self) -> Option<RequestMeta> {
        self.opened()?.sender
    }

    /// Nobody waits for a decision any more.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// Whether anything can still come from the server.
    pub(super) fn is_server_there(&self) -> bool {
        !self.is_server_gone.load(Ordering::Acquire)
    }

    /// Whether calls are being answered.
    pub(super) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Gives a message to the client, in the course of one of its requests.
    pub(super) fn tell(&self, text: String, about: Option<RequestId>) {
        self.client.send(Outgoing {
            text,
            about,
            on_written: None,
        });
    }

    /// Gives the answer to a write, of which it is to be known when it went out.
    fn deliver(&self, text: String, id: &RequestId) {
        let (myself, written) = (Weak::clone(&self.myself), id.clone());
        self.client.send(Outgoing {
            text,
            about: Some(id.clone()),
            on_written: Some(Box::new(move || {
                if let Some(session) = myself.upgrade() {
                    session.governor.is_written(&written);
                }
            })),
        });
    }

    fn refuse(&self, id: &RequestId, code: i32, text: &str) {
        self.tell(write::error(Some(id), code, text), Some(id.clone()));
    }

    /// Runs what waits on a thread of its own, with so many bytes of a message. False where there is no room for it.
    fn on_thread(&self, bytes: usize, body: impl FnOnce(&Self) + Send + 'static) -> bool {
        let (Some(session), Some(kept)) = (self.myself.upgrade(), self.governor.room_for(bytes))
        else {
            return false;
        };
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= MAX_WAITING {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        let spawned = thread::Builder::new()
            .name("call".to_owned())
            .spawn(move || {
                body(&session);
                drop(kept);
                session.waiting.fetch_sub(1, Ordering::AcqRel);
            });
        if spawned.is_err() {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        spawned.is_ok()
    }

    /// Runs what answers a call on a thread of its own, or says that there are too many already.
    fn on_thread_for(
        &self,
        id: &RequestId,
        bytes: usize,
        body: impl FnOnce(&Self, RequestId) + Send + 'static,
    ) {
        let of_body = id.clone();
        if !self.on_thread(bytes, move |session| body(session, of_body)) {
            self.lock().in_flight.remove(id);
            let text =
                answers::host_unavailable("too many calls wait; call again when some are done");
            self.tell(write::result(id, &text), Some(id.clone()));
        }
    }

    fn complain(&self, text: &str) {
        if self.complaints.fetch_add(1, Ordering::Relaxed) < MAX_COMPLAINTS {
            complain(text);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromClient for Session {
    fn receive(&self, message: Message) {
        let Some(message) = self.opens(message) else {
            return;
        };
        match message.kind().clone() {
            Kind::Request { id, method } => {
                self.governor.is_going_on();
                self.request(&id, &method, message);
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.cancelled(&message);
            }
            // Some servers carry out what comes without an id, too.
            Kind::Notification { method } if is_about_tools(&method) => {
                self.complain("a call that wants no answer is not passed on");
            }
            Kind::Notification { method } => {
                self.governor.is_going_on();
                self.upstream.pass(&message);
                if method == "notifications/initialized" {
                    self.on_thread(0, |session| {
                        if let Err(error) = session.stock() {
                            complain(&format!("{error:#}"));
                        }
                    });
                }
            }
            // What is answered to an announcement decides nothing, and the server has not asked.
            Kind::Response { id } | Kind::Error { id: Some(id) }
                if self.governor.has_asked(&id) => {}
            Kind::Response { .. } | Kind::Error { .. } => {
                self.upstream.pass(&message);
            }
        }
    }

    fn close(&self) {
        self.end();
    }

    fn is_open(&self) -> bool {
        !self.is_ending() && self.is_server_there()
    }
}

impl FromServer for Session {
    fn receive(&self, bytes: &[u8], about: Option<&RequestId>) {
        let _taking = self.upstream.taking();
        if let Err(invalid) = self.upstream.heard(bytes, about) {
            self.heard_invalid(&invalid);
        }
    }

    fn unanswered(&self, request: &RequestId, why: Unanswered) {
        self.upstream.not_answered(request, why);
    }

    fn gone(&self) {
        self.is_server_gone.store(true, Ordering::Release);
        self.upstream.is_gone();
        let waiting = {
            let mut state = self.lock();
            let ids: Vec<_> = state
                .in_flight
                .iter()
                .filter(|(_, in_flight)| !matches!(in_flight, InFlight::Write(_)))
                .map(|(id, _)| id.clone())
                .collect();
            for id in &ids {
                state.in_flight.remove(id);
            }
            ids
        };
        for id in waiting {
            self.refuse(&id, INTERNAL_ERROR, "the server ended before it answered");
        }
    }
}
