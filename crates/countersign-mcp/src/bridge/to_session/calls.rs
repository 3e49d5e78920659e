//! Requests on their way to the server, and its answers.

use countersign_canonical::{Digest, Object, Utf8, Value, digest};

use super::opening::Request;
use super::state::{Asked, refuse_all};
use super::{INTERNAL_ERROR, Place, ToSession};
use crate::bridge::{MAX_UNDER_WAY, Step, number, request_id, token};
use crate::id::RequestId;
use crate::message::{Kind, Message, Part};
use crate::stateless::{
    self, Ask, InputResponses, LogLevel, MISSING_CAPABILITY, RequestMeta, SENDER_KEYS,
};
use crate::write;

/// What has been sent to the server under an id, and has no answer yet. Requests of the bridge whose answers change nothing are
/// not among it.
pub(super) enum Sent {
    Initialize,
    /// A subscription to an address.
    Subscribe(String),
    Call(Box<Call>),
}

/// A client's request that the server is at work on.
pub(super) struct Call {
    /// Its id; nothing while the client has been asked back.
    pub(super) client: Option<RequestId>,
    pub(super) method: String,
    pub(super) params: Digest<Utf8>,
    pub(super) sender: RequestMeta,
    /// Under which token the client wants to hear of progress, as JSON.
    pub(super) token: Option<String>,
    /// What the server has asked while the client was away.
    pub(super) queued: Vec<Asked>,
    /// What the server has answered while the client was away.
    pub(super) answer: Option<Answer>,
}

/// What a server has answered, as JSON.
pub(super) enum Answer {
    Result(String),
    Error(String),
}

/// 2025-11-25, Resources, Error Handling: the resource is not found.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// 2025-11-25, schema, `URL_ELICITATION_REQUIRED`.
const URL_ELICITATION_REQUIRED: i64 = -32042;
/// Codes that 2026-07-28 keeps for itself, so that an earlier server cannot have meant them.
const RESERVED_CODES: std::ops::RangeInclusive<i64> = -32099..=-32020;

impl ToSession {
    /// Takes a client's request, which may be the second attempt of one.
    pub(super) fn call(
        &mut self,
        id: &RequestId,
        method: &str,
        request: Request<'_>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let params = request.message.params();
        let brought = match params.as_ref().map(InputResponses::read) {
            Some(Ok(brought)) if stateless::may_ask_back(method) => brought,
            Some(Err(error)) => {
                let text = error.to_string();
                steps.push(Step::refusal(id, write::INVALID_PARAMS, &text));
                return None;
            }
            None | Some(Ok(_)) => None,
        };
        let digest = params_digest(params.as_ref());
        match brought {
            Some(brought) => self.resume(id, &digest, request, &brought, steps),
            None if !request.is_host && self.asks_first(id, method, &digest, request, steps) => {
                Some(())
            }
            None => self.start(id, digest, request, steps),
        }
    }

    /// Sends a request to the server.
    pub(super) fn start(
        &mut self,
        id: &RequestId,
        params: Digest<Utf8>,
        request: Request<'_>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let Kind::Request { method, .. } = request.message.kind() else {
            return None;
        };
        if self.sent.len() >= MAX_UNDER_WAY {
            let text = "too many requests are under way";
            steps.push(Step::refusal(id, INTERNAL_ERROR, text));
            return None;
        }
        self.set_log_level(request.sender.log_level(), steps);
        let number = self.next_id();
        let token = token(request.message);
        let text = request.message.params();
        let text = text.as_ref().map_or("{}", Part::text);
        let mut text = write::without_meta(text, &SENDER_KEYS);
        text = write::without_members(&text, &["inputResponses", "requestState"]);
        if token.is_some() {
            text = write::with_meta(&text, "progressToken", &number.to_string());
        }
        steps.push(Step::ToServer {
            text: write::request(&request_id(number), method, &text),
            carries: Some(id.clone()),
        });
        self.requests.insert(id.clone(), Place::AtServer(number));
        let call = Call {
            client: Some(id.clone()),
            method: method.clone(),
            params,
            sender: request.sender.clone(),
            token,
            queued: Vec::new(),
            answer: None,
        };
        self.sent.insert(number, Sent::Call(Box::new(call)));
        Some(())
    }

    /// A session has one level for all its requests: the last one that was wanted.
    fn set_log_level(&mut self, level: Option<LogLevel>, steps: &mut Vec<Step>) {
        let logs = self
            .opened()
            .is_some_and(|opened| opened.introduction.has("logging"));
        let Some(level) = level.filter(|_| logs) else {
            return;
        };
        if self.log_level.replace(level) == Some(level) {
            return;
        }
        let number = self.next_id();
        let params = format!("{{\"level\":\"{}\"}}", level.as_str());
        let text = write::request(&request_id(number), "logging/setLevel", &params);
        steps.push(Step::to_server(text));
    }

    /// Takes an answer of the server.
    pub(super) fn answered(&mut self, id: &RequestId, message: &Message, steps: &mut Vec<Step>) {
        let sent = number(id).and_then(|number| Some((number, self.sent.remove(&number)?)));
        match sent {
            None => {}
            Some((_, Sent::Initialize)) => self.session_opened(message, steps),
            Some((_, Sent::Subscribe(address))) => {
                let is_done = matches!(message.kind(), Kind::Response { .. });
                if self.listens.subscribed(&address, is_done, steps) {
                    self.unsubscribe(&address, steps);
                }
            }
            Some((number, Sent::Call(mut call))) => {
                if let Some(error) = message.error()
                    && self.opens_page_first(&call, &error, steps)
                {
                    return;
                }
                let answer = self.translated(&call.method, message);
                if let Some(client) = call.client.take() {
                    self.requests.remove(&client);
                    refuse_all(call.queued, steps);
                    steps.push(Step::answer(&client, answer.to_message(&client)));
                } else {
                    call.answer = Some(answer);
                    self.sent.insert(number, Sent::Call(call));
                }
            }
        }
    }

    /// A call that has no answer.
    pub(super) fn call_lost(&mut self, number: u64, mut call: Box<Call>, steps: &mut Vec<Step>) {
        if let Some(client) = call.client.take() {
            self.requests.remove(&client);
            steps.push(Step::Unanswered(client));
        } else {
            let text = "the server has not answered";
            let error = format!("{{\"code\":{INTERNAL_ERROR},\"message\":\"{text}\"}}");
            call.answer = Some(Answer::Error(error));
            self.sent.insert(number, Sent::Call(call));
        }
    }

    fn translated(&self, method: &str, message: &Message) -> Answer {
        if let Some(result) = message.result() {
            let info = self
                .opened()
                .and_then(|opened| opened.introduction.server_info());
            return Answer::Result(stateless::completed(
                method,
                result.text(),
                result.value(),
                info,
            ));
        }
        let error = message.error();
        let text = error.as_ref().map_or("{}", Part::text);
        let code = error.as_ref().and_then(|error| error.value().get("code"));
        Answer::Error(match code.and_then(Value::as_i64) {
            Some(RESOURCE_NOT_FOUND) if method == "resources/read" => {
                write::with_member(text, "code", &write::INVALID_PARAMS.to_string())
            }
            Some(URL_ELICITATION_REQUIRED) => format!(
                "{{\"code\":{MISSING_CAPABILITY},\"message\":\"the server wants a page to be opened first\",\
                 \"data\":{{\"requiredCapabilities\":{}}}}}",
                Ask::Url.needs()
            ),
            Some(code) if RESERVED_CODES.contains(&code) => {
                write::with_member(text, "code", &INTERNAL_ERROR.to_string())
            }
            Some(_) | None => text.to_owned(),
        })
    }

    /// Passes progress on, under the token that the client chose.
    pub(super) fn progress(&mut self, message: &Message, steps: &mut Vec<Step>) -> Option<()> {
        let token = message.params()?.value().get("progressToken")?.clone();
        let number = number(&RequestId::from_value(&token)?)?;
        let Sent::Call(call) = self.sent.get(&number)? else {
            return None;
        };
        let (client, token) = (call.client.as_ref()?, call.token.as_ref()?);
        let text = write::within(message.text(), "params", |params| {
            write::with_member(params, "progressToken", token)
        });
        steps.push(Step::answer(client, text));
        Some(())
    }

    /// Passes a log message on to the newest request that wants such ones.
    pub(super) fn log_message(
        &mut self,
        message: &Message,
        about: Option<&RequestId>,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let level = message.params()?.value().get("level")?.as_str()?;
        let level = LogLevel::parse(level)?;
        let about = about.and_then(number);
        let wants = |(number, sent): (&u64, &Sent)| {
            let Sent::Call(call) = sent else { return None };
            let from = call.sender.log_level()?;
            let is_it = about.map_or(!self.is_shared, |about| about == *number);
            call.client.clone().filter(|_| is_it && from <= level)
        };
        // Several people's requests are told apart where the transport tells, or where there is one only.
        let client = match about {
            None if self.is_shared => {
                let mut calls = self.calls();
                let only = calls.next().filter(|_| calls.next().is_none());
                let (_, call) = only?;
                let from = call.sender.log_level()?;
                call.client.clone().filter(|_| from <= level)
            }
            None | Some(_) => self.sent.iter().rev().find_map(wants),
        }?;
        steps.push(Step::answer(&client, message.text().to_owned()));
        Some(())
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = (u64, &Call)> {
        self.sent.iter().filter_map(|(number, sent)| match sent {
            Sent::Call(call) => Some((*number, call.as_ref())),
            Sent::Initialize | Sent::Subscribe(_) => None,
        })
    }
}

impl Answer {
    pub(super) fn to_message(&self, id: &RequestId) -> String {
        match self {
            Self::Result(text) => write::result(id, text),
            Self::Error(text) => write::error_as_given(id, text),
        }
    }
}

/// What a second attempt has to agree with the first in: its parameters, but for what is new in it by design.
fn params_digest(params: Option<&Part<'_>>) -> Digest<Utf8> {
    let members = params.and_then(|params| params.value().as_object().cloned());
    let mut members = members.unwrap_or_else(|| Object::from([]));
    for name in ["_meta", "inputResponses", "requestState"] {
        members.remove(name);
    }
    digest::<Utf8>(&Value::Object(members))
}
