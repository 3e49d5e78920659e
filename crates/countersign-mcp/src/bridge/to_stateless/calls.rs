//! Requests on their way to the server, and its answers.

use super::{Place, ToStateless};
use crate::bridge::{MAX_UNDER_WAY, Step, number, request_id, token};
use crate::id::RequestId;
use crate::message::{Message, Part};
use crate::stateless::{RequestMeta, ResultType, may_ask_back};
use crate::write::{self, INTERNAL_ERROR};

/// What has been sent to the server under an id, and has no answer yet.
pub(super) enum Sent {
    Discover,
    Listen,
    Call(Box<Call>),
}

/// A client's request.
pub(super) struct Call {
    pub(super) client: RequestId,
    pub(super) method: String,
    /// Its parameters, where it may have to be sent again.
    pub(super) params: Option<String>,
    pub(super) sender: RequestMeta,
    /// Under which token the client wants to hear of progress, as JSON.
    token: Option<String>,
    /// How often it has been sent.
    pub(super) rounds: usize,
}

impl ToStateless {
    /// Sends a request to the server.
    pub(super) fn start(
        &mut self,
        id: &RequestId,
        method: &str,
        message: &Message,
        sender: &RequestMeta,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if self.sent.len() >= MAX_UNDER_WAY {
            let text = "too many requests are under way";
            steps.push(Step::refusal(id, INTERNAL_ERROR, text));
            return None;
        }
        let params = message.params();
        let params = params.as_ref().map_or("{}", Part::text);
        // Rounds are between the bridge and the server.
        let params = write::without_members(params, &["inputResponses", "requestState"]);
        let sender = sender
            .clone()
            .with_log_level(sender.log_level().or(self.log_level));
        let params = sender.written_into(&params);
        let number = self.next_id();
        steps.push(Step::ToServer {
            text: write::request(&request_id(number), method, &params),
            carries: Some(id.clone()),
        });
        let call = Call {
            client: id.clone(),
            method: method.to_owned(),
            params: may_ask_back(method).then_some(params),
            sender,
            token: token(message),
            rounds: 1,
        };
        self.under_way(number, Box::new(call));
        Some(())
    }

    pub(super) fn under_way(&mut self, number: u64, call: Box<Call>) {
        self.requests
            .insert(call.client.clone(), Place::AtServer(number));
        self.sent.insert(number, Sent::Call(call));
    }

    /// Takes an answer of the server.
    pub(super) fn answered(&mut self, id: &RequestId, message: &Message, steps: &mut Vec<Step>) {
        let sent = number(id).and_then(|number| Some((number, self.sent.remove(&number)?)));
        match sent {
            None => {}
            Some((_, Sent::Discover)) => self.discovered(message, steps),
            Some((number, Sent::Listen)) => self.listening_ended(number, steps),
            Some((_, Sent::Call(call))) => {
                self.requests.remove(&call.client);
                self.call_answered(call, message, steps);
            }
        }
    }

    fn call_answered(&mut self, call: Box<Call>, message: &Message, steps: &mut Vec<Step>) {
        let client = &call.client;
        let Some(result) = message.result() else {
            let error = message.error();
            let error = error.as_ref().map_or("{}", Part::text);
            return steps.push(Step::answer(client, write::error_as_given(client, error)));
        };
        match ResultType::of(result.value()) {
            ResultType::Complete => {
                steps.push(Step::answer(client, write::result(client, result.text())));
            }
            ResultType::InputRequired if call.params.is_some() => {
                self.ask_client(call, &result, steps);
            }
            ResultType::InputRequired | ResultType::Other => {
                let text = "the server has answered with a kind of result that is not defined";
                steps.push(Step::refusal(client, INTERNAL_ERROR, text));
            }
        }
    }

    /// Passes progress on, where somebody waits for it.
    pub(super) fn progress(&self, message: &Message, steps: &mut Vec<Step>) -> Option<()> {
        let params = message.params()?;
        let token = params.member("progressToken")?;
        let has_it = |call: &&Call| call.token.as_deref() == Some(token.text());
        let call = self.calls().find(has_it)?;
        let text = message.text().to_owned();
        steps.push(Step::answer(&call.client, text));
        Some(())
    }

    /// The client's id of a request, from the server's.
    pub(super) fn client_of(&self, about: Option<&RequestId>) -> Option<&RequestId> {
        match self.sent.get(&number(about?)?)? {
            Sent::Call(call) => Some(&call.client),
            Sent::Discover | Sent::Listen => None,
        }
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.sent.values().filter_map(|sent| match sent {
            Sent::Call(call) => Some(call.as_ref()),
            Sent::Discover | Sent::Listen => None,
        })
    }
}
