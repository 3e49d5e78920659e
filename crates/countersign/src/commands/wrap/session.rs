//! One connection: what comes from the client, what comes from the server, and where each of it goes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use countersign_canonical::Value;
use countersign_contract::StatusRef;
use countersign_mcp::pin::Class;
use countersign_mcp::tools::ToolPage;
use countersign_mcp::{Kind, Message, Passthrough, RequestId, Version, salvage, write};

use super::answers;
use super::client_output::ClientOutput;
use super::governor::{Governor, Reply, WriteRequest};
use super::inventory::{Entry, Inventory, Stock};
use super::lines::Line;
use super::upstream::Upstream;
use crate::output::complain;

/// The most requests of a client that wait for an answer.
const MAX_IN_FLIGHT: usize = 4096;
/// The most threads that wait on behalf of calls.
const MAX_WAITING: usize = 256;
/// The most lines of a server that are complained about.
const MAX_COMPLAINTS: usize = 20;

/// One client, one server.
pub(super) struct Session {
    pub(super) client: ClientOutput,
    pub(super) upstream: Upstream,
    pub(super) inventory: Inventory,
    pub(super) governor: Governor,
    pub(super) policy: String,
    pub(super) call_timeout: Duration,
    state: Mutex<State>,
    is_ending: AtomicBool,
    waiting: AtomicUsize,
    complaints: AtomicUsize,
}

#[derive(Default)]
struct State {
    in_flight: BTreeMap<RequestId, InFlight>,
    opened: Option<Opened>,
}

/// What was agreed on when the session was opened.
#[derive(Clone)]
struct Opened {
    version: Version,
    passthrough: Passthrough,
}

/// A client's request that has no answer yet.
enum InFlight {
    /// The answer passes.
    Plain,
    /// It opens the session.
    Initialize,
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
        client: ClientOutput,
        upstream: Upstream,
        inventory: Inventory,
        governor: Governor,
        policy: String,
        call_timeout: Duration,
    ) -> Self {
        Self {
            client,
            upstream,
            inventory,
            governor,
            policy,
            call_timeout,
            state: Mutex::default(),
            is_ending: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            complaints: AtomicUsize::new(0),
        }
    }

    /// Takes what the client has sent.
    pub(super) fn from_client(self: &Arc<Self>, line: &Line) {
        let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
        let message = match Message::read(bytes) {
            Ok(message) => message,
            Err(error) => {
                let salvaged = salvage(bytes);
                let text = error.to_string();
                return match salvaged {
                    Some(answer) if !answer.is_request => {
                        self.upstream
                            .pass(&write::error(Some(&answer.id), INTERNAL_ERROR, &text));
                    }
                    Some(request) => {
                        self.client
                            .send(write::error(Some(&request.id), error.code(), &text));
                    }
                    None => self.client.send(write::error(None, error.code(), &text)),
                };
            }
        };
        match message.kind().clone() {
            Kind::Request { id, method } => {
                self.governor.is_going_on();
                self.request(&id, &method, message);
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.cancelled(&message);
            }
            Kind::Notification { method } => {
                self.governor.is_going_on();
                self.upstream.pass(message.text());
                if method == "notifications/initialized" {
                    self.on_thread(|session| {
                        if let Err(error) = session.stock() {
                            complain(&format!("{error:#}"));
                        }
                    });
                }
            }
            Kind::Response { .. } | Kind::Error { .. } => {
                self.upstream.pass(message.text());
            }
        }
    }

    fn request(self: &Arc<Self>, id: &RequestId, method: &str, message: Message) {
        let is_free = {
            let state = self.lock();
            !state.in_flight.contains_key(id) && state.in_flight.len() < MAX_IN_FLIGHT
        };
        if !is_free || self.upstream.is_own(id) {
            // With its id, the refusal would pass for the answer to the other one.
            let text = "this request's id is in use, or too many requests are under way";
            return self.client.send(write::error(None, INVALID_REQUEST, text));
        }
        match method {
            // A client that asks for it speaks an older version where it is not known.
            "server/discover" => {
                let text = "server/discover is not served: open a session with initialize";
                self.client
                    .send(write::error(Some(id), METHOD_NOT_FOUND, text));
            }
            "initialize" => self.pass(id, InFlight::Initialize, &message),
            "tools/list" => self.pass(id, InFlight::List, &message),
            "tools/call" => self.call(id, message),
            _ => self.pass(id, InFlight::Plain, &message),
        }
    }

    /// Passes a request on, and remembers who waits for its answer.
    fn pass(&self, id: &RequestId, in_flight: InFlight, message: &Message) {
        self.lock().in_flight.insert(id.clone(), in_flight);
        if !self.upstream.pass(message.text()) {
            self.lock().in_flight.remove(id);
            let text = "the server takes no more messages";
            self.client
                .send(write::error(Some(id), INTERNAL_ERROR, text));
        }
    }

    /// Reads pass at once where the tools are known; everything else waits on a thread of its own.
    fn call(self: &Arc<Self>, id: &RequestId, message: Message) {
        if self.lock().opened.is_none() {
            let text = "the session is not open: initialize it first";
            return self
                .client
                .send(write::error(Some(id), INVALID_REQUEST, text));
        }
        if let Some(stock) = self.inventory.current() {
            return self.decide(&stock, id, &message);
        }
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let waits = InFlight::Write(Arc::clone(&is_cancelled));
        self.lock().in_flight.insert(id.clone(), waits);
        self.on_thread_for(id, move |session, id| match session.stock() {
            Ok(stock) => {
                session.lock().in_flight.remove(&id);
                if !is_cancelled.load(Ordering::Acquire) {
                    session.decide(&stock, &id, &message);
                }
            }
            Err(error) => {
                complain(&format!("{error:#}"));
                let text = answers::host_unavailable(&format!("{error:#}"));
                session.answer(&id, Reply::Result(text));
            }
        });
    }

    fn decide(self: &Arc<Self>, stock: &Stock, id: &RequestId, message: &Message) {
        let params = message.params();
        let name = params
            .as_ref()
            .and_then(|params| params.value().get("name")?.as_str());
        let (Some(params), Some(name)) = (params.as_ref(), name) else {
            let text = "a call names its tool";
            return self
                .client
                .send(write::error(Some(id), INVALID_PARAMS, text));
        };
        let arguments = params.member("arguments");
        if arguments
            .as_ref()
            .is_some_and(|part| part.value().as_object().is_none())
        {
            let text = "a call's arguments are an object";
            return self
                .client
                .send(write::error(Some(id), INVALID_PARAMS, text));
        }
        let class = match stock.tool(name) {
            None => {
                let text = "Unknown tool: this server has no such tool";
                return self
                    .client
                    .send(write::error(Some(id), INVALID_PARAMS, text));
            }
            Some(Entry::OutOfService(why)) => {
                let text = answers::turned_away(name, why);
                return self.client.send(write::result(id, &text));
            }
            Some(Entry::InService { class, .. }) => *class,
        };
        let tool = name.to_owned();
        match class {
            Class::Read => self.pass(id, InFlight::Read { tool }, message),
            Class::Write if params.value().get("task").is_some() => {
                let text = "a call that needs approval cannot become a task";
                self.client
                    .send(write::error(Some(id), METHOD_NOT_FOUND, text));
            }
            Class::Write => {
                let token = params
                    .member("_meta")
                    .and_then(|meta| meta.member("progressToken"));
                let arguments = arguments.map(|part| part.text().to_owned());
                let token = token.map(|part| part.text().to_owned());
                self.write(id, tool, arguments, token);
            }
        }
    }

    fn write(
        self: &Arc<Self>,
        id: &RequestId,
        tool: String,
        arguments: Option<String>,
        progress_token: Option<String>,
    ) {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let version = {
            let mut state = self.lock();
            let waits = InFlight::Write(Arc::clone(&is_cancelled));
            state.in_flight.insert(id.clone(), waits);
            state.opened.as_ref().map(|opened| opened.version)
        };
        let Some(version) = version else { return };
        self.on_thread_for(id, move |session, id| {
            let request = WriteRequest {
                id,
                tool,
                arguments,
                progress_token,
                version,
                is_cancelled,
            };
            match session.governor.answer(session, &request) {
                Some(reply) => session.answer(&request.id, reply),
                None => {
                    session.lock().in_flight.remove(&request.id);
                }
            }
        });
    }

    /// Answers a write, unless its client has cancelled it meanwhile.
    fn answer(&self, id: &RequestId, reply: Reply) {
        let in_flight = self.lock().in_flight.remove(id);
        if let Some(InFlight::Write(is_cancelled)) = in_flight
            && !is_cancelled.load(Ordering::Acquire)
        {
            let text = match reply {
                Reply::Result(result) => write::result(id, &result),
                Reply::Error(error) => write::error_as_given(id, &error),
            };
            self.client.deliver(text, id.clone());
        } else {
            self.governor.is_given_up(id);
        }
    }

    /// A write that is given up is not undone: it goes on, and whoever asks for the same joins it. Others are the server's to end.
    fn cancelled(&self, message: &Message) {
        let id = message
            .params()
            .and_then(|params| RequestId::from_value(params.value().get("requestId")?));
        let Some(id) = id else { return };
        self.governor.is_given_up(&id);
        let mut state = self.lock();
        match state.in_flight.get(&id) {
            Some(InFlight::Write(is_cancelled)) => is_cancelled.store(true, Ordering::Release),
            Some(InFlight::Initialize) | None => {}
            Some(InFlight::Plain | InFlight::List | InFlight::Read { .. }) => {
                state.in_flight.remove(&id);
                drop(state);
                self.upstream.pass(message.text());
            }
        }
    }

    /// Takes what the server has sent.
    pub(super) fn from_server(self: &Arc<Self>, line: &Line) {
        let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
        let message = match Message::read(bytes) {
            Ok(message) => message,
            Err(error) => {
                return self.invalid_from_server(bytes, &error.to_string(), error.code());
            }
        };
        match message.kind().clone() {
            Kind::Request { .. } | Kind::Error { id: None } => {
                self.client.send(message.text().to_owned());
            }
            Kind::Notification { method } => {
                if method == "notifications/tools/list_changed" {
                    self.inventory.is_stale();
                }
                self.client.send(message.text().to_owned());
            }
            Kind::Response { id } | Kind::Error { id: Some(id) } => self.answered(&id, message),
        }
    }

    fn answered(self: &Arc<Self>, id: &RequestId, message: Message) {
        let Some(message) = self.upstream.answered(id, message) else {
            return;
        };
        let in_flight = {
            let mut state = self.lock();
            match state.in_flight.get(id) {
                // The server was not asked under this id.
                Some(InFlight::Write(_)) | None => None,
                Some(_) => state.in_flight.remove(id),
            }
        };
        match in_flight {
            None | Some(InFlight::Write(_)) => {
                self.complain("the server answered a request that nobody waits for");
            }
            Some(InFlight::Plain) => self.client.send(message.text().to_owned()),
            Some(InFlight::Initialize) => {
                self.open(&message);
                self.client.send(message.text().to_owned());
            }
            Some(InFlight::List) => {
                let of_body = id.clone();
                let is_begun = self.on_thread(move |session| {
                    session.client.send(session.filtered(&of_body, &message));
                });
                if !is_begun {
                    let text = "too many calls wait; ask again when some are done";
                    self.client
                        .send(write::error(Some(id), INTERNAL_ERROR, text));
                }
            }
            Some(InFlight::Read { tool }) => self.client.send(self.judged(id, &tool, &message)),
        }
    }

    /// Notes what the server agreed on. Where it speaks nothing that is known, no call is let through.
    fn open(&self, message: &Message) {
        let Some(result) = message.result() else {
            return;
        };
        let value = result.value();
        let version = value
            .get("protocolVersion")
            .and_then(Value::as_str)
            .and_then(Version::parse);
        let passthrough = Passthrough::new(
            self.inventory.server.clone(),
            self.inventory.launch.clone(),
            value.get("serverInfo").unwrap_or(&Value::Null),
            &self.policy,
            self.call_timeout,
        );
        match (version, passthrough) {
            (Some(version), Some(passthrough)) => {
                self.lock().opened = Some(Opened {
                    version,
                    passthrough,
                });
            }
            (None, _) | (_, None) => {
                complain(
                    "the server speaks a version of the protocol that is not served: its tools cannot be called",
                );
            }
        }
    }

    /// A page of tools without those that are out of service. What cannot be held against the pin is not shown.
    fn filtered(&self, id: &RequestId, message: &Message) -> String {
        let Some(result) = message.result() else {
            return message.text().to_owned();
        };
        let Some(page) = ToolPage::read(&result) else {
            return message.text().to_owned();
        };
        let is_known = |stock: &Stock| {
            let mut tools = page.tools.iter().flatten();
            tools.all(|tool| stock.tool(tool.name()).is_some())
        };
        let stock = self.stock().and_then(|stock| {
            if is_known(&stock) {
                Ok(stock)
            } else {
                self.renewed_stock()
            }
        });
        let stock = match stock {
            Ok(stock) => Some(stock),
            Err(error) => {
                complain(&format!("{error:#}"));
                None
            }
        };
        let shows = |index: usize| {
            let tool = page.tools.get(index).and_then(Option::as_ref);
            tool.zip(stock.as_ref())
                .is_some_and(|(tool, stock)| stock.shows(tool))
        };
        if (0..page.tools.len()).all(shows) {
            return message.text().to_owned();
        }
        let kept = write::with_items(message.text(), &page.array, |index, _| shows(index));
        kept.unwrap_or_else(|| {
            write::error(Some(id), INTERNAL_ERROR, "the list of tools cannot be read")
        })
    }

    /// A read's answer, if it is what the tool promises.
    fn judged(&self, id: &RequestId, tool: &str, message: &Message) -> String {
        let fault = self.inventory.current().and_then(|stock| {
            let Some(Entry::InService {
                output: Some(schema),
                ..
            }) = stock.tool(tool)
            else {
                return None;
            };
            schema.judge(message.result()?.value()).err()
        });
        match fault {
            None => message.text().to_owned(),
            Some(fault) => {
                let text = format!("OUTPUT_CONTRACT_VIOLATION: {fault}");
                write::result(id, &write::error_result(&text))
            }
        }
    }

    fn invalid_from_server(&self, bytes: &[u8], error: &str, code: i32) {
        let Some(salvaged) = salvage(bytes) else {
            return self.complain(&format!(
                "the server wrote a line that is no message: {error}"
            ));
        };
        if salvaged.is_request {
            self.upstream
                .pass(&write::error(Some(&salvaged.id), code, error));
            return;
        }
        if self.upstream.answered_invalid(&salvaged.id) {
            return;
        }
        let is_waited_for = {
            let mut state = self.lock();
            match state.in_flight.get(&salvaged.id) {
                Some(InFlight::Write(_)) | None => false,
                Some(_) => state.in_flight.remove(&salvaged.id).is_some(),
            }
        };
        if is_waited_for {
            let text = format!("the server's answer cannot be passed on: {error}");
            self.client
                .send(write::error(Some(&salvaged.id), INTERNAL_ERROR, &text));
        } else {
            self.complain("the server answered a request that nobody waits for");
        }
    }

    /// The server is gone: everybody who waits for it hears so.
    pub(super) fn server_is_gone(&self) {
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
            let text = "the server ended before it answered";
            self.client
                .send(write::error(Some(&id), INTERNAL_ERROR, text));
        }
    }

    /// Tells a client that wants to hear of progress that its call waits (2025-11-25, Progress: the value increases each time).
    pub(super) fn tell_waiting(&self, request: &WriteRequest, status_ref: &StatusRef, told: u32) {
        if let Some(token) = &request.progress_token {
            let params = format!(
                "{{\"progressToken\":{token},\"progress\":{told},\"message\":\"waiting for approval: {status_ref}\"}}"
            );
            self.client
                .send(write::notification("notifications/progress", &params));
        }
    }

    /// The tools as they stand.
    pub(super) fn stock(&self) -> anyhow::Result<Arc<Stock>> {
        self.inventory.ensure(&self.upstream, &self.passthrough()?)
    }

    /// The tools as they stand now, whatever was known.
    pub(super) fn renewed_stock(&self) -> anyhow::Result<Arc<Stock>> {
        self.inventory.renew(&self.upstream, &self.passthrough()?)
    }

    pub(super) fn passthrough(&self) -> anyhow::Result<Passthrough> {
        let state = self.lock();
        let opened = state.opened.as_ref();
        let opened = opened.ok_or_else(|| anyhow!("the session is not open"))?;
        Ok(opened.passthrough.clone())
    }

    /// Nobody waits for a decision any more.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// Whether calls are being answered.
    pub(super) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    fn on_thread(self: &Arc<Self>, body: impl FnOnce(&Arc<Self>) + Send + 'static) -> bool {
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= MAX_WAITING {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        let session = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("call".to_owned())
            .spawn(move || {
                body(&session);
                session.waiting.fetch_sub(1, Ordering::AcqRel);
            });
        if spawned.is_err() {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        spawned.is_ok()
    }

    /// Runs what answers a call on a thread of its own, or says that there are too many already.
    fn on_thread_for(
        self: &Arc<Self>,
        id: &RequestId,
        body: impl FnOnce(&Arc<Self>, RequestId) + Send + 'static,
    ) {
        let of_body = id.clone();
        if !self.on_thread(move |session| body(session, of_body)) {
            self.lock().in_flight.remove(id);
            let text =
                answers::host_unavailable("too many calls wait; call again when some are done");
            self.client.send(write::result(id, &text));
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
