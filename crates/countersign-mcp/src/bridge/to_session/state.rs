//! What a client carries while it is asked back, and its second attempt.

use std::fmt::Write as _;

use countersign_canonical::{Digest, Utf8};

use super::calls::Sent;
use super::opening::Request;
use super::{INTERNAL_ERROR, Place, ToSession};
use crate::bridge::{Step, request_id, token};
use crate::id::RequestId;
use crate::message::Kind;
use crate::stateless::{Ask, InputRequest, InputRequired, InputResponses};
use crate::write;

/// The most requests whose clients have been asked back and have not come again.
pub const MAX_SUSPENDED: usize = 64;

/// A request that its client has been asked back for.
pub(super) struct State {
    /// What the client carries.
    text: String,
    method: String,
    params: Digest<Utf8>,
    asked: Vec<Asked>,
    /// Where the server is at work on it; nothing where it has not been sent.
    call: Option<u64>,
    is_old: bool,
}

/// Something that the server has asked.
pub(super) struct Asked {
    /// The id of its request; nothing where there was none.
    pub(super) server: Option<RequestId>,
    pub(super) request: InputRequest,
    pub(super) is_old: bool,
}

impl State {
    pub(super) fn asked(&self) -> &[Asked] {
        &self.asked
    }
}

impl ToSession {
    /// Asks the client of a request back, which ends the request for the client.
    pub(super) fn suspend(
        &mut self,
        id: &RequestId,
        (method, params): (&str, Digest<Utf8>),
        asked: Vec<Asked>,
        call: Option<u64>,
        steps: &mut Vec<Step>,
    ) {
        if self.states.len() >= MAX_SUSPENDED
            && let Some(oldest) = self.states.pop_front()
        {
            self.give_up(oldest, steps);
        }
        let text = self.fresh_text();
        let required = InputRequired {
            requests: asked.iter().map(|asked| asked.request.clone()).collect(),
            state: Some(text.clone()),
        };
        self.requests.remove(id);
        if let Some(Sent::Call(call)) = call.and_then(|call| self.sent.get_mut(&call)) {
            call.client = None;
        }
        self.states.push_back(State {
            text,
            method: method.to_owned(),
            params,
            asked,
            call,
            is_old: false,
        });
        steps.push(Step::answer(id, write::result(id, &required.to_result())));
    }

    /// Takes the second attempt of a request.
    pub(super) fn resume(
        &mut self,
        id: &RequestId,
        params: &Digest<Utf8>,
        request: Request<'_>,
        brought: &InputResponses,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let Kind::Request { method, .. } = request.message.kind() else {
            return None;
        };
        let is_it = |state: &State| {
            Some(state.text.as_str()) == brought.state.as_deref()
                && state.method == *method
                && state.params == *params
        };
        let found = self.states.iter().position(is_it);
        let Some(state) = found.and_then(|found| self.states.remove(found)) else {
            let text = "the request state is not one that was given for this request";
            steps.push(Step::refusal(id, write::INVALID_PARAMS, text));
            return None;
        };
        let mut missing = Vec::new();
        for asked in state.asked {
            let response = brought.responses.iter();
            let response = response.clone().find(|(key, _)| *key == asked.request.key);
            match (response, &asked.server) {
                (None, _) => missing.push(asked),
                (Some((_, text)), Some(server)) => {
                    steps.push(Step::to_server(write::result(server, text)));
                }
                (Some(_), None) => {}
            }
        }
        let Some(number) = state.call else {
            if missing.is_empty() {
                return self.start(id, state.params, request, steps);
            }
            self.suspend(id, (method, state.params), missing, None, steps);
            return Some(());
        };
        let Some(Sent::Call(mut call)) = self.sent.remove(&number) else {
            return None;
        };
        missing.append(&mut call.queued);
        if let Some(answer) = call.answer {
            refuse_all(missing, steps);
            steps.push(Step::answer(id, answer.to_message(id)));
            return Some(());
        }
        call.client = Some(id.clone());
        call.token = token(request.message);
        call.sender = request.sender.clone();
        self.sent.insert(number, Sent::Call(call));
        self.requests.insert(id.clone(), Place::AtServer(number));
        if !missing.is_empty() {
            self.suspend(id, (method, state.params), missing, Some(number), steps);
        }
        Some(())
    }

    /// Nobody comes any more: the server is told so.
    fn give_up(&mut self, state: State, steps: &mut Vec<Step>) {
        refuse_all(state.asked, steps);
        let call = state
            .call
            .and_then(|call| Some((call, self.sent.remove(&call)?)));
        let Some((number, Sent::Call(call))) = call else {
            return;
        };
        refuse_all(call.queued, steps);
        if call.answer.is_none() {
            let params = format!("{{\"requestId\":{}}}", request_id(number).to_json());
            let text = write::notification("notifications/cancelled", &params);
            steps.push(Step::to_server(text));
        }
    }

    pub(super) fn expire_states(&mut self, steps: &mut Vec<Step>) {
        let (old, mut rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.states)
            .into_iter()
            .partition(|state| state.is_old);
        for state in &mut rest {
            state.is_old = true;
        }
        self.states = rest.into();
        for state in old {
            self.give_up(state, steps);
        }
    }

    /// The server does not want an answer to what it asked any more.
    pub(super) fn forget_ask(&mut self, id: &RequestId) {
        let is_other = |asked: &Asked| asked.server.as_ref() != Some(id);
        self.held.retain(is_other);
        for state in &mut self.states {
            state.asked.retain(is_other);
        }
        for sent in self.sent.values_mut() {
            if let Sent::Call(call) = sent {
                call.queued.retain(is_other);
            }
        }
    }

    /// A text that nobody can guess.
    fn fresh_text(&mut self) -> String {
        let mut text = "countersign-1-".to_owned();
        for byte in (self.randomness)() {
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Answers what the server has asked, in place of a client that does not.
pub(super) fn refuse_all(asked: Vec<Asked>, steps: &mut Vec<Step>) {
    for asked in asked {
        let Some(server) = asked.server else { continue };
        let text = match asked.request.ask {
            // 2025-11-25, Elicitation, Response Actions: dismissed without a choice.
            Ask::Form | Ask::Url => write::result(&server, "{\"action\":\"cancel\"}"),
            Ask::Sampling { .. } | Ask::Roots => {
                let text = "the client has not answered";
                write::error(Some(&server), INTERNAL_ERROR, text)
            }
        };
        steps.push(Step::to_server(text));
    }
}
