//! What the server asks, and the answers to it.

use std::collections::BTreeMap;

use super::calls::Call;
use super::{Place, ToStateless};
use crate::bridge::{Step, request_id};
use crate::id::{RequestId, json_text};
use crate::message::{Kind, Message, Part};
use crate::stateless::{Ask, InputRequest, InputRequired, InputResponses};
use crate::version::Version;
use crate::write::{self, INTERNAL_ERROR};

/// How often one request of a client is sent to a server that asks back each time.
pub const MAX_ROUNDS: usize = 16;
/// The most requests whose clients are asked for something.
pub const MAX_OPEN_ROUNDS: usize = 64;

/// A request that waits for what its client has been asked.
pub(super) struct Round {
    call: Box<Call>,
    state: Option<String>,
    asked: BTreeMap<RequestId, InputRequest>,
    brought: InputResponses,
}

/// What the ids of our requests to a client begin with.
const ASK_PREFIX: &str = "countersign-ask-";

impl ToStateless {
    /// Turns a result that asks back into requests to the client.
    pub(super) fn ask_client(&mut self, call: Box<Call>, result: &Part<'_>, steps: &mut Vec<Step>) {
        let required = match InputRequired::read(result) {
            Ok(required) => required,
            Err(error) => {
                let text = error.to_string();
                return steps.push(Step::refusal(&call.client, INTERNAL_ERROR, &text));
            }
        };
        let capabilities = call.sender.capabilities();
        let is_offered = |request: &InputRequest| capabilities.offers(request.ask);
        let refusal = if !required.requests.iter().all(is_offered) {
            Some("the server has asked for something that the client does not offer")
        } else if call.rounds >= MAX_ROUNDS || self.rounds.len() >= MAX_OPEN_ROUNDS {
            Some("the server has asked back too often")
        } else {
            None
        };
        if let Some(text) = refusal {
            return steps.push(Step::refusal(&call.client, INTERNAL_ERROR, text));
        }
        let number = self.next_id();
        let mut round = Round {
            call,
            state: required.state,
            asked: BTreeMap::new(),
            brought: InputResponses {
                responses: Vec::new(),
                state: None,
            },
        };
        if required.requests.is_empty() {
            return self.send_again(round, steps);
        }
        for request in required.requests {
            let id = RequestId::Text(format!("{ASK_PREFIX}{}", self.next_id()).into());
            let text = write::request(&id, &request.method, &self.params_of(&id, &request));
            steps.push(Step::answer(&round.call.client, text));
            round.asked.insert(id, request);
        }
        let client = round.call.client.clone();
        self.requests.insert(client, Place::InRound(number));
        self.rounds.insert(number, round);
    }

    /// A page has an id in 2025-11-25 (schema, `ElicitRequestURLParams`), and none since.
    fn params_of(&self, id: &RequestId, request: &InputRequest) -> String {
        let params = request.params.as_deref().unwrap_or("{}");
        let opened = self.session.opened();
        let is_named = opened.is_some_and(|opened| opened.version >= Version::V2025_11_25);
        if request.ask == Ask::Url && is_named {
            return write::with_member(params, "elicitationId", &id.to_json());
        }
        params.to_owned()
    }

    /// Takes an answer of the client.
    pub(super) fn client_answered(
        &mut self,
        id: &RequestId,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let mut rounds = self.rounds.iter_mut();
        let (number, round) = rounds.find(|(_, round)| round.asked.contains_key(id))?;
        let number = *number;
        let request = round.asked.remove(id)?;
        let text = match (message.kind(), request.ask) {
            (Kind::Response { .. }, _) => message.result()?.text().to_owned(),
            // 2026-07-28, Elicitation, Response Actions: dismissed without a choice.
            (_, Ask::Form | Ask::Url) => "{\"action\":\"cancel\"}".to_owned(),
            // There is no way to tell the server that these have failed.
            (_, Ask::Sampling { .. } | Ask::Roots) => {
                let client = round.call.client.clone();
                self.requests.remove(&client);
                self.stop_asking(number, steps);
                let text = "the client has not given what the server asked for";
                steps.push(Step::refusal(&client, INTERNAL_ERROR, text));
                return Some(());
            }
        };
        round.brought.responses.push((request.key, text));
        if round.asked.is_empty() {
            let round = self.rounds.remove(&number)?;
            self.send_again(round, steps);
        }
        Some(())
    }

    /// Sends a request once more, with what has been asked for.
    fn send_again(&mut self, round: Round, steps: &mut Vec<Step>) {
        let mut call = round.call;
        let number = self.next_id();
        let mut params = call.params.clone().unwrap_or_else(|| "{}".to_owned());
        if let Some(state) = &round.state {
            params = write::with_member(&params, "requestState", &json_text(state));
        }
        if !round.brought.responses.is_empty() {
            let responses = round.brought.to_json();
            params = write::with_member(&params, "inputResponses", &responses);
        }
        let text = write::request(&request_id(number), &call.method, &params);
        steps.push(Step::to_server(text));
        call.rounds += 1;
        self.under_way(number, call);
    }

    /// The client need not answer any more.
    pub(super) fn stop_asking(&mut self, number: u64, steps: &mut Vec<Step>) {
        let Some(round) = self.rounds.remove(&number) else {
            return;
        };
        for id in round.asked.keys() {
            let params = format!("{{\"requestId\":{}}}", id.to_json());
            let text = write::notification("notifications/cancelled", &params);
            steps.push(Step::answer(&round.call.client, text));
        }
    }
}
