//! One stream of notifications behind a session.
//!
//! A stream's wishes are fixed when it begins (2026-07-28, Subscriptions): where they change, another one is begun, and the first
//! one ended as soon as the other stands, so that nothing is missed in between.

use std::collections::BTreeSet;

use countersign_canonical::Value;

use super::calls::Sent;
use super::{Place, ToStateless};
use crate::bridge::{Step, number, request_id};
use crate::id::{RequestId, json_text};
use crate::message::Message;
use crate::stateless::{RequestMeta, SUBSCRIPTION_ID};
use crate::write::{self, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};

/// The most addresses that a session subscribes to.
pub const MAX_ADDRESSES: usize = 1024;
/// The longest address that can be subscribed to, in bytes.
const MAX_ADDRESS_BYTES: usize = 8 * 1024;

#[derive(Default)]
pub(super) struct Listening {
    /// The stream that stands, by its id at the server.
    open: Option<u64>,
    /// The stream that is to stand.
    opening: Option<u64>,
    /// Whether the wishes have changed since `opening` was begun.
    is_outdated: bool,
    /// What the client has subscribed to.
    addresses: BTreeSet<String>,
    /// What the server has agreed to tell about.
    honoured: BTreeSet<String>,
    /// Subscriptions without an answer.
    waiting: Vec<(RequestId, String)>,
}

impl Listening {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some() || self.opening.is_some()
    }

    /// The client does not wait for an answer any more.
    pub(super) fn forget(&mut self, id: &RequestId) {
        self.waiting.retain(|(waiting, _)| waiting != id);
    }

    /// The wishes, without any stream.
    pub(super) fn without_server(self) -> Self {
        Self {
            addresses: self.addresses,
            ..Self::default()
        }
    }
}

impl ToStateless {
    pub(super) fn subscribe(
        &mut self,
        id: &RequestId,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let introduction = self.introduction.as_ref();
        if !introduction.is_some_and(|server| server.has_part("resources", "subscribe")) {
            let text = "the server does not tell about resources";
            steps.push(Step::refusal(id, METHOD_NOT_FOUND, text));
            return None;
        }
        let Some(address) = address(message) else {
            let text = "the resource's address is missing, or too long";
            steps.push(Step::refusal(id, INVALID_PARAMS, text));
            return None;
        };
        if self.listening.honoured.contains(&address) && self.listening.open.is_some() {
            steps.push(Step::answer(id, write::result(id, "{}")));
            return Some(());
        }
        let is_too_much = self.listening.addresses.len() >= MAX_ADDRESSES
            || self.listening.waiting.len() >= MAX_ADDRESSES;
        if is_too_much {
            let text = "too many resources are subscribed to";
            steps.push(Step::refusal(id, INTERNAL_ERROR, text));
            return None;
        }
        self.listening.addresses.insert(address.clone());
        self.listening.waiting.push((id.clone(), address));
        self.requests.insert(id.clone(), Place::Subscribing);
        self.listen_anew(steps);
        Some(())
    }

    pub(super) fn unsubscribe(
        &mut self,
        id: &RequestId,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let Some(address) = address(message) else {
            let text = "the resource's address is missing, or too long";
            steps.push(Step::refusal(id, INVALID_PARAMS, text));
            return None;
        };
        steps.push(Step::answer(id, write::result(id, "{}")));
        if self.listening.addresses.remove(&address) {
            self.listening.honoured.remove(&address);
            self.listen_anew(steps);
        }
        Some(())
    }

    /// Begins a stream with what is wanted now.
    pub(super) fn listen_anew(&mut self, steps: &mut Vec<Step>) {
        if self.listening.opening.is_some() {
            self.listening.is_outdated = true;
            return;
        }
        self.listening.is_outdated = false;
        let (Some(opened), Some(filter)) = (self.session.opened(), self.filter()) else {
            let open = self.listening.open.take();
            return self.end(open, steps);
        };
        // Log messages belong to requests, not to streams.
        let sender: RequestMeta = opened.sender.clone();
        let params = sender.written_into(&format!("{{\"notifications\":{filter}}}"));
        let number = self.next_id();
        let text = write::request(&request_id(number), "subscriptions/listen", &params);
        steps.push(Step::to_server(text));
        self.sent.insert(number, Sent::Listen);
        self.listening.opening = Some(number);
    }

    /// What the client wants to be told; nothing where that is nothing.
    fn filter(&self) -> Option<String> {
        let introduction = self.introduction.as_ref()?;
        let mut wanted = Vec::new();
        for (capability, name) in [
            ("tools", "toolsListChanged"),
            ("prompts", "promptsListChanged"),
            ("resources", "resourcesListChanged"),
        ] {
            if introduction.has_part(capability, "listChanged") {
                wanted.push(format!("\"{name}\":true"));
            }
        }
        if !self.listening.addresses.is_empty() {
            let addresses = self.listening.addresses.iter();
            let addresses: Vec<_> = addresses.map(|text| json_text(text)).collect();
            wanted.push(format!(
                "\"resourceSubscriptions\":[{}]",
                addresses.join(",")
            ));
        }
        (!wanted.is_empty()).then(|| format!("{{{}}}", wanted.join(",")))
    }

    /// Takes the server's word on what it will tell about.
    pub(super) fn acknowledged(&mut self, message: &Message, steps: &mut Vec<Step>) -> Option<()> {
        let stream = stream_of(message)?;
        if self.listening.opening != Some(stream) {
            return None;
        }
        self.listening.opening = None;
        let before = self.listening.open.replace(stream);
        self.end(before, steps);
        let params = message.params()?;
        let honoured = params.value().get("notifications");
        let honoured = honoured.and_then(|filter| filter.get("resourceSubscriptions"));
        let honoured = honoured.and_then(Value::as_array).unwrap_or_default();
        let honoured: BTreeSet<_> = honoured.iter().filter_map(Value::as_str).collect();
        let addresses = self.listening.addresses.iter();
        let is_honoured = |address: &&String| honoured.contains(address.as_str());
        self.listening.honoured = addresses.filter(is_honoured).cloned().collect();
        if self.listening.is_outdated {
            self.listen_anew(steps);
        }
        let is_final = self.listening.opening.is_none();
        self.answer_waiting(is_final, steps);
        Some(())
    }

    /// Answers the subscriptions that are agreed on, and where nothing else comes, refuses the others.
    fn answer_waiting(&mut self, is_final: bool, steps: &mut Vec<Step>) {
        for (id, address) in std::mem::take(&mut self.listening.waiting) {
            if self.listening.honoured.contains(&address) {
                self.requests.remove(&id);
                steps.push(Step::answer(&id, write::result(&id, "{}")));
            } else if is_final {
                self.requests.remove(&id);
                self.listening.addresses.remove(&address);
                let text = "the server does not tell about this resource";
                steps.push(Step::refusal(&id, INVALID_PARAMS, text));
            } else {
                self.listening.waiting.push((id, address));
            }
        }
    }

    /// A stream is over, without our doing. It is begun again when wishes change, or when [`expire`](crate::bridge::Bridge::expire)
    /// is called.
    pub(super) fn listening_ended(&mut self, stream: u64, steps: &mut Vec<Step>) {
        if self.listening.open == Some(stream) {
            self.listening.open = None;
            self.listening.honoured.clear();
        }
        if self.listening.opening == Some(stream) {
            self.listening.opening = None;
            self.listening.is_outdated = false;
            self.answer_waiting(true, steps);
        }
    }

    /// The server ends a stream; nothing else is a server's to cancel (2026-07-28, Cancellation).
    pub(super) fn listening_ended_by(
        &mut self,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let params = message.params()?;
        let stream = RequestId::from_value(params.value().get("requestId")?)?;
        let stream = number(&stream)?;
        if matches!(self.sent.get(&stream)?, Sent::Listen) {
            self.sent.remove(&stream);
            self.listening_ended(stream, steps);
        }
        Some(())
    }

    /// Passes a notification of the stream on.
    pub(super) fn changed(&self, message: &Message, steps: &mut Vec<Step>) -> Option<()> {
        let stream = stream_of(message)?;
        if self.listening.open != Some(stream) {
            return None;
        }
        steps.push(Step::ToClient {
            text: message.text().to_owned(),
            about: None,
        });
        Some(())
    }

    fn end(&mut self, stream: Option<u64>, steps: &mut Vec<Step>) {
        let Some(stream) = stream else { return };
        self.sent.remove(&stream);
        let params = format!("{{\"requestId\":{stream}}}");
        let text = write::notification("notifications/cancelled", &params);
        steps.push(Step::to_server(text));
    }
}

fn stream_of(message: &Message) -> Option<u64> {
    let params = message.params()?;
    let stream = params.value().get("_meta")?.get(SUBSCRIPTION_ID)?;
    number(&RequestId::from_value(stream)?)
}

fn address(message: &Message) -> Option<String> {
    let params = message.params()?;
    let address = params.value().get("uri")?.as_str()?;
    (address.len() <= MAX_ADDRESS_BYTES).then(|| address.to_owned())
}
