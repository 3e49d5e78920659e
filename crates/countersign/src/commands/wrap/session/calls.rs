//! Calls of tools: reads pass, writes are governed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_canonical::Value;
use countersign_mcp::pin::Class;
use countersign_mcp::{Message, Part, RequestId, misspells, passthrough, stateless, write};

use super::{INVALID_PARAMS, INVALID_REQUEST, InFlight, METHOD_NOT_FOUND, Session};
use crate::commands::wrap::answers;
use crate::commands::wrap::caller::{Caller, Waiting};
use crate::commands::wrap::governor::{Reply, WriteRequest};
use crate::commands::wrap::inventory::{Entry, Stock};
use crate::commands::wrap::rounds::{Continued, Resumes, RoundDigest};
use crate::output::complain;

/// A write as its request says it.
struct Asked {
    tool: String,
    arguments: Option<String>,
    progress_token: Option<String>,
    /// What a stateless client goes on with.
    state: Option<String>,
    inputs: Option<String>,
}

impl Session {
    /// Reads pass at once where the tools are known; everything else waits on a thread of its own.
    pub(super) fn call(&self, id: &RequestId, message: Message) {
        if self.opened().is_none() {
            let text = "the session is not open: initialize it first";
            return self.refuse(id, INVALID_REQUEST, text);
        }
        if let Some(stock) = self.inventory.current() {
            return self.decide(&stock, id, &message);
        }
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let waits = InFlight::Write(Arc::clone(&is_cancelled));
        self.lock().in_flight.insert(id.clone(), waits);
        let bytes = message.text().len();
        self.on_thread_for(id, bytes, move |session, id| match session.stock() {
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

    fn decide(&self, stock: &Stock, id: &RequestId, message: &Message) {
        let params = message.params();
        let name = params
            .as_ref()
            .and_then(|params| params.value().get("name")?.as_str());
        let (Some(params), Some(name)) = (params.as_ref(), name) else {
            return self.refuse(id, INVALID_PARAMS, "a call names its tool");
        };
        if misspells(params.value(), &["name", "arguments"]) {
            let text = "the name of a parameter differs from one of a call's in case only";
            return self.refuse(id, INVALID_PARAMS, text);
        }
        let arguments = params.member("arguments");
        if arguments
            .as_ref()
            .is_some_and(|part| part.value().as_object().is_none())
        {
            return self.refuse(id, INVALID_PARAMS, "a call's arguments are an object");
        }
        let class = match stock.tool(name) {
            None => {
                let text = "Unknown tool: this server has no such tool";
                return self.refuse(id, INVALID_PARAMS, text);
            }
            Some(Entry::OutOfService(why)) => {
                let text = self.complete(answers::turned_away(name, why));
                return self.tell(write::result(id, &text), Some(id.clone()));
            }
            Some(Entry::InService { class, .. }) => *class,
        };
        match class {
            Class::Read => {
                let tool = name.to_owned();
                self.pass(id, InFlight::Read { tool }, message);
            }
            Class::Write if params.value().get("task").is_some() => {
                let text = "a call that needs approval cannot become a task";
                self.refuse(id, METHOD_NOT_FOUND, text);
            }
            Class::Write if is_no_text(params, "requestState") => {
                self.refuse(id, INVALID_PARAMS, "a requestState is a string");
            }
            Class::Write => {
                let asked = Asked {
                    tool: name.to_owned(),
                    arguments: arguments.map(|part| part.text().to_owned()),
                    progress_token: progress_token(params),
                    state: text_of(params, "requestState"),
                    inputs: params
                        .member("inputResponses")
                        .map(|part| part.text().to_owned()),
                };
                self.write(id, asked);
            }
        }
    }

    fn write(&self, id: &RequestId, asked: Asked) {
        let Some(opened) = self.opened() else { return };
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let waiting = Waiting {
            id: id.clone(),
            progress_token: asked.progress_token,
            is_cancelled: Arc::clone(&is_cancelled),
        };
        let round = match &asked.state {
            None => 0,
            Some(handle) => {
                let Ok(arguments) = passthrough::arguments(asked.arguments.as_deref()) else {
                    return self.refuse(id, INVALID_PARAMS, "the arguments cannot be recorded");
                };
                let request = RoundDigest::of(&asked.tool, &arguments);
                match self.rounds.take_back(handle, request) {
                    Err(error) => return self.refuse(id, INVALID_PARAMS, &error.to_string()),
                    Ok(Resumes::Waiting { round }) => round,
                    Ok(Resumes::UnderWay(way)) => {
                        let inputs = asked.inputs.unwrap_or_else(|| "{}".to_owned());
                        let waits = InFlight::Write(is_cancelled);
                        self.lock().in_flight.insert(id.clone(), waits);
                        // Where nobody waits for it any more, the call itself says how it stands.
                        if way.send(Continued { waiting, inputs }).is_err() {
                            self.lock().in_flight.remove(id);
                            let text = "what this call waited for came too late: call again without requestState";
                            self.refuse(id, INVALID_PARAMS, text);
                        }
                        return;
                    }
                }
            }
        };
        let waits = InFlight::Write(is_cancelled);
        self.lock().in_flight.insert(id.clone(), waits);
        let bytes = asked.arguments.as_ref().map_or(0, String::len);
        self.on_thread_for(id, bytes, move |session, id| {
            let request = WriteRequest {
                first_id: id,
                tool: asked.tool,
                arguments: asked.arguments,
                version: opened.version,
                round,
                caller: Arc::new(Caller::new(waiting)),
            };
            let reply = session.governor.answer(session, &request);
            let id = request.caller.waiting().id;
            match reply {
                Some(reply) => session.answer(&id, reply),
                None => {
                    session.lock().in_flight.remove(&id);
                }
            }
        });
    }

    /// Answers a write, unless its client has cancelled it meanwhile.
    pub(in crate::commands::wrap) fn answer(&self, id: &RequestId, reply: Reply) {
        let in_flight = self.lock().in_flight.remove(id);
        if let Some(InFlight::Write(is_cancelled)) = in_flight
            && !is_cancelled.load(Ordering::Acquire)
        {
            let text = match reply {
                Reply::Result(result) => write::result(id, &self.complete(result)),
                Reply::Round(result) => write::result(id, &result),
                Reply::Error(error) => write::error_as_given(id, &error),
            };
            self.deliver(text, id);
        } else {
            self.governor.is_given_up(id);
        }
    }

    /// A result says what it is, where the client's version wants it to (2026-07-28, changelog, major change 8).
    pub(super) fn complete(&self, result: String) -> String {
        let says = self
            .opened()
            .is_some_and(|opened| opened.version.traits().result_type);
        if says {
            stateless::complete("tools/call", &result, None)
        } else if self.upstream.is_crossed() {
            stateless::for_earlier_versions("tools/call", &result)
        } else {
            result
        }
    }

    /// A write that is given up is not undone: it goes on, and whoever asks for the same joins it. Others are the server's to end.
    pub(super) fn cancelled(&self, message: &Message) {
        let id = message
            .params()
            .and_then(|params| RequestId::from_value(params.value().get("requestId")?));
        let Some(id) = id else { return };
        self.governor.is_given_up(&id);
        let mut state = self.lock();
        match state.in_flight.get(&id) {
            Some(InFlight::Write(is_cancelled)) => is_cancelled.store(true, Ordering::Release),
            Some(InFlight::Initialize(_)) | None => {}
            Some(InFlight::Plain | InFlight::List | InFlight::Read { .. }) => {
                state.in_flight.remove(&id);
                drop(state);
                self.upstream.pass(message);
            }
        }
    }
}

fn progress_token(params: &Part<'_>) -> Option<String> {
    let token = params.member("_meta")?.member("progressToken")?;
    Some(token.text().to_owned())
}

fn is_no_text(params: &Part<'_>, name: &str) -> bool {
    let value = params.value().get(name);
    value.is_some_and(|value| value.as_str().is_none())
}

fn text_of(params: &Part<'_>, name: &str) -> Option<String> {
    let text = params.value().get(name).and_then(Value::as_str)?;
    Some(text.to_owned())
}
