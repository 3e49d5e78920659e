//! Streams of notifications: one session behind, any number of subscriptions in front.

use std::collections::{BTreeMap, BTreeSet};

use countersign_canonical::Value;

use super::calls::Sent;
use super::{INTERNAL_ERROR, Place, ToSession};
use crate::bridge::{Step, request_id};
use crate::id::{RequestId, json_text};
use crate::message::{Message, Part};
use crate::stateless::{self, SUBSCRIPTION_ID};
use crate::write;

/// The most streams at a time.
pub const MAX_LISTENS: usize = 64;
/// The most addresses that are subscribed to at a time.
pub const MAX_SUBSCRIBED: usize = 1024;
/// The longest address that can be subscribed to, in bytes.
const MAX_ADDRESS_BYTES: usize = 8 * 1024;

#[derive(Default)]
pub(super) struct Listens {
    listens: BTreeMap<RequestId, Listen>,
    /// Addresses that the server has been asked to tell about, and whether it has agreed.
    addresses: BTreeMap<String, bool>,
}

/// One stream: what has been promised on it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one kind of notification, promised by itself"
)]
#[derive(Default)]
struct Listen {
    tools: bool,
    prompts: bool,
    resources: bool,
    addresses: BTreeSet<String>,
    /// Addresses that the server has not answered about yet. The stream begins when there are none.
    pending: BTreeSet<String>,
    has_begun: bool,
}

impl ToSession {
    /// Begins a stream.
    pub(super) fn listen(
        &mut self,
        id: &RequestId,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let refused = |code, text: &str| Step::refusal(id, code, text);
        let Some((mut listen, wanted)) = wanted(message) else {
            let text = "the notifications that are wanted are not given as the protocol defines";
            steps.push(refused(write::INVALID_PARAMS, text));
            return None;
        };
        let fresh = wanted
            .iter()
            .filter(|address| !self.listens.addresses.contains_key(*address));
        let is_too_much = self.listens.listens.len() >= MAX_LISTENS
            || self.listens.addresses.len() + fresh.count() > MAX_SUBSCRIBED;
        if is_too_much {
            let text = "too many notifications are wanted at once";
            steps.push(refused(INTERNAL_ERROR, text));
            return None;
        }
        let introduction = &self.opened()?.introduction;
        listen.tools &= introduction.has_part("tools", "listChanged");
        listen.prompts &= introduction.has_part("prompts", "listChanged");
        listen.resources &= introduction.has_part("resources", "listChanged");
        let subscribes = introduction.has_part("resources", "subscribe");
        for address in wanted.into_iter().filter(|_| subscribes) {
            match self.listens.addresses.get(&address) {
                Some(true) => {
                    listen.addresses.insert(address);
                    continue;
                }
                Some(false) => {}
                None => self.subscribe(&address, steps),
            }
            listen.pending.insert(address);
        }
        listen.begin(id, steps);
        self.listens.listens.insert(id.clone(), listen);
        self.requests.insert(id.clone(), Place::Listening);
        Some(())
    }

    fn subscribe(&mut self, address: &str, steps: &mut Vec<Step>) {
        let number = self.next_id();
        self.listens.addresses.insert(address.to_owned(), false);
        self.sent
            .insert(number, Sent::Subscribe(address.to_owned()));
        let params = format!("{{\"uri\":{}}}", json_text(address));
        let text = write::request(&request_id(number), "resources/subscribe", &params);
        steps.push(Step::to_server(text));
    }

    pub(super) fn unsubscribe(&mut self, address: &str, steps: &mut Vec<Step>) {
        let number = self.next_id();
        self.listens.addresses.remove(address);
        let params = format!("{{\"uri\":{}}}", json_text(address));
        let text = write::request(&request_id(number), "resources/unsubscribe", &params);
        steps.push(Step::to_server(text));
    }

    /// Ends a stream that its client has cancelled.
    pub(super) fn stop_listening(&mut self, id: &RequestId, steps: &mut Vec<Step>) {
        let Some(listen) = self.listens.listens.remove(id) else {
            return;
        };
        // An address without an answer is seen to when the answer comes.
        for address in listen.addresses {
            if !self.listens.is_wanted(&address) {
                self.unsubscribe(&address, steps);
            }
        }
    }
}

impl Listens {
    /// Takes the server's answer about an address. True: nobody wants it any more, and the server still tells about it.
    pub(super) fn subscribed(
        &mut self,
        address: &str,
        is_done: bool,
        steps: &mut Vec<Step>,
    ) -> bool {
        if is_done {
            self.addresses.insert(address.to_owned(), true);
        } else {
            self.addresses.remove(address);
        }
        for (id, listen) in &mut self.listens {
            if listen.pending.remove(address) {
                if is_done {
                    listen.addresses.insert(address.to_owned());
                }
                listen.begin(id, steps);
            }
        }
        is_done && !self.is_wanted(address)
    }

    /// Passes a notification on to the streams that want it.
    pub(super) fn deliver(&self, method: &str, message: &Message, steps: &mut Vec<Step>) {
        let params = message.params();
        let address = params.as_ref().and_then(|params| params.value().get("uri"));
        let address = address.and_then(Value::as_str);
        for (id, listen) in &self.listens {
            if listen.has_begun && listen.wants(method, address) {
                let params = params.as_ref().map_or("{}", Part::text);
                let params = write::with_meta(params, SUBSCRIPTION_ID, &id.to_json());
                steps.push(Step::answer(id, write::notification(method, &params)));
            }
        }
    }

    fn is_wanted(&self, address: &str) -> bool {
        let mut listens = self.listens.values();
        listens.any(|listen| listen.addresses.contains(address) || listen.pending.contains(address))
    }
}

impl Listen {
    /// Tells what is promised, once that is known.
    fn begin(&mut self, id: &RequestId, steps: &mut Vec<Step>) {
        if self.has_begun || !self.pending.is_empty() {
            return;
        }
        self.has_begun = true;
        let mut promised = Vec::new();
        for (name, is_promised) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if is_promised {
                promised.push(format!("\"{name}\":true"));
            }
        }
        if !self.addresses.is_empty() {
            let addresses: Vec<_> = self.addresses.iter().map(|text| json_text(text)).collect();
            promised.push(format!(
                "\"resourceSubscriptions\":[{}]",
                addresses.join(",")
            ));
        }
        let params = format!(
            "{{\"_meta\":{{\"{SUBSCRIPTION_ID}\":{}}},\"notifications\":{{{}}}}}",
            id.to_json(),
            promised.join(",")
        );
        let text = write::notification("notifications/subscriptions/acknowledged", &params);
        steps.push(Step::answer(id, text));
    }

    /// What is told about may be a part of what was subscribed to (2026-07-28, schema, `ResourceUpdatedNotificationParams`).
    fn wants(&self, method: &str, address: Option<&str>) -> bool {
        match method {
            "notifications/tools/list_changed" => self.tools,
            "notifications/prompts/list_changed" => self.prompts,
            "notifications/resources/list_changed" => self.resources,
            _ => address.is_some_and(|address| {
                let is_part = |held: &String| address.starts_with(held.as_str());
                self.addresses.iter().any(is_part)
            }),
        }
    }
}

/// The answer that ends a stream in good order (2026-07-28, schema, `SubscriptionsListenResult`).
pub(super) fn ended(id: &RequestId, server_info: Option<&str>) -> Step {
    let result = format!("{{\"_meta\":{{\"{SUBSCRIPTION_ID}\":{}}}}}", id.to_json());
    let result = stateless::complete("subscriptions/listen", &result, server_info);
    Step::answer(id, write::result(id, &result))
}

/// What a request wants to hear of: kinds, and addresses.
fn wanted(message: &Message) -> Option<(Listen, BTreeSet<String>)> {
    let params = message.params()?;
    let filter = params.value().get("notifications")?;
    filter.as_object()?;
    let is_wanted = |name: &str| match filter.get(name) {
        None => Some(false),
        Some(wanted) => wanted.as_bool(),
    };
    let listen = Listen {
        tools: is_wanted("toolsListChanged")?,
        prompts: is_wanted("promptsListChanged")?,
        resources: is_wanted("resourcesListChanged")?,
        ..Listen::default()
    };
    let addresses = match filter.get("resourceSubscriptions") {
        None => &[],
        Some(addresses) => addresses.as_array()?,
    };
    if addresses.len() > MAX_SUBSCRIBED {
        return None;
    }
    let text = |address: &Value| {
        let address = address.as_str()?;
        (address.len() <= MAX_ADDRESS_BYTES).then(|| address.to_owned())
    };
    let addresses: Option<BTreeSet<_>> = addresses.iter().map(text).collect();
    Some((listen, addresses?))
}
