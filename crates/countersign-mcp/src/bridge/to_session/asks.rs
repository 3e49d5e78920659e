//! What the server asks of clients.

use countersign_canonical::{Digest, Utf8};

use super::calls::{Call, Sent};
use super::opening::Request;
use super::state::{Asked, State, refuse_all};
use super::{METHOD_NOT_FOUND, ToSession};
use crate::bridge::{Step, number};
use crate::id::RequestId;
use crate::message::{Message, Part};
use crate::stateless::{Ask, InputRequest, MAX_INPUT_REQUESTS, may_ask_back};
use crate::write;

/// The most questions of a server that came up outside of any request, and wait for one.
pub const MAX_HELD_ASKS: usize = 8;
/// How long all questions together may be that wait for an answer, in bytes.
const MAX_ASKED_BYTES: usize = 16 * 1024 * 1024;

/// What becomes of a question.
enum Goes {
    /// To the client of a request.
    With(u64),
    /// To the client that comes next.
    Next,
    /// Nowhere.
    Nowhere,
}

impl Goes {
    fn unless(self, is_refused: bool) -> Self {
        if is_refused { Self::Nowhere } else { self }
    }
}

impl ToSession {
    /// Takes a request of the server.
    pub(super) fn asked(
        &mut self,
        id: &RequestId,
        method: &str,
        message: &Message,
        about: Option<&RequestId>,
        steps: &mut Vec<Step>,
    ) {
        if method == "ping" {
            return steps.push(Step::to_server(write::result(id, "{}")));
        }
        let params = message.params();
        let ask = Ask::of(method, params.as_ref().map(Part::value));
        let Some(ask) = ask else {
            let text = write::error(
                Some(id),
                METHOD_NOT_FOUND,
                "no client can be asked for this",
            );
            return steps.push(Step::to_server(text));
        };
        self.last_key += 1;
        let asked = Asked {
            server: Some(id.clone()),
            request: InputRequest {
                key: self.last_key.to_string(),
                ask,
                method: method.to_owned(),
                params: params.map(|params| params.text().to_owned()),
            },
            is_old: false,
        };
        let is_too_much = self.asked_bytes() + message.text().len() > MAX_ASKED_BYTES;
        match self.goes(ask, about).unless(is_too_much) {
            Goes::With(number) => self.ask(number, asked, steps),
            Goes::Next => self.held.push(asked),
            Goes::Nowhere => {
                let text = "no client can be asked for this now";
                let text = write::error(Some(id), METHOD_NOT_FOUND, text);
                steps.push(Step::to_server(text));
            }
        }
    }

    /// Whom a question goes to. Outside of HTTP nothing says which request it belongs to: the newest one that can is taken, unless
    /// it might be somebody else's.
    fn goes(&self, ask: Ask, about: Option<&RequestId>) -> Goes {
        let can = |call: &Call| {
            may_ask_back(&call.method)
                && call.sender.capabilities().offers(ask)
                && call.queued.len() < MAX_INPUT_REQUESTS
                && call.answer.is_none()
        };
        if let Some(about) = about.and_then(number)
            && let Some(Sent::Call(call)) = self.sent.get(&about)
            && may_ask_back(&call.method)
        {
            return if can(call) {
                Goes::With(about)
            } else {
                Goes::Nowhere
            };
        }
        let mut able = self.calls().filter(|(_, call)| may_ask_back(&call.method));
        let (first, last) = (able.next(), able.last());
        match (first, last) {
            (Some((number, call)), None) if can(call) => Goes::With(number),
            (Some(_), Some(_)) if !self.is_shared => {
                let newest = self.calls().filter(|(_, call)| can(call)).last();
                newest.map_or(Goes::Nowhere, |(number, _)| Goes::With(number))
            }
            (Some(_), _) => Goes::Nowhere,
            (None, _) => {
                let offers = |opened: &super::Opened| opened.sender.capabilities().offers(ask);
                if self.opened().is_some_and(offers) && self.held.len() < MAX_HELD_ASKS {
                    Goes::Next
                } else {
                    Goes::Nowhere
                }
            }
        }
    }

    fn asked_bytes(&self) -> usize {
        let queued = self.calls().flat_map(|(_, call)| &call.queued);
        let asked = self.states.iter().flat_map(State::asked);
        let all = self.held.iter().chain(queued).chain(asked);
        let params = all.filter_map(|asked| asked.request.params.as_ref());
        params.map(String::len).sum()
    }

    fn ask(&mut self, number: u64, asked: Asked, steps: &mut Vec<Step>) {
        let Some(Sent::Call(call)) = self.sent.get_mut(&number) else {
            return;
        };
        call.queued.push(asked);
        let Some(client) = call.client.clone() else {
            return;
        };
        let queued = std::mem::take(&mut call.queued);
        let (method, params) = (call.method.clone(), call.params);
        self.suspend(&client, (&method, params), queued, Some(number), steps);
    }

    /// Has a client answer what the server has asked before, and sends its request only then. False: there is nothing such.
    pub(super) fn asks_first(
        &mut self,
        id: &RequestId,
        method: &str,
        params: &Digest<Utf8>,
        request: Request<'_>,
        steps: &mut Vec<Step>,
    ) -> bool {
        let capabilities = request.sender.capabilities();
        if !may_ask_back(method) || self.held.is_empty() {
            return false;
        }
        let (asked, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|asked| capabilities.offers(asked.request.ask));
        self.held = rest;
        if asked.is_empty() {
            return false;
        }
        self.suspend(id, (method, *params), asked, None, steps);
        true
    }

    /// Where the server wants pages to be opened before it is asked again, its client is asked to. False: it does not, or the
    /// client cannot.
    pub(super) fn opens_page_first(
        &mut self,
        call: &Call,
        error: &Part<'_>,
        steps: &mut Vec<Step>,
    ) -> bool {
        let Some(client) = &call.client else {
            return false;
        };
        if !may_ask_back(&call.method) || !call.sender.capabilities().offers(Ask::Url) {
            return false;
        }
        let Some(pages) = pages(error) else {
            return false;
        };
        let asked = pages.into_iter().map(|params| {
            self.last_key += 1;
            Asked {
                server: None,
                request: InputRequest {
                    key: self.last_key.to_string(),
                    ask: Ask::Url,
                    method: "elicitation/create".to_owned(),
                    params: Some(params),
                },
                is_old: false,
            }
        });
        let asked = asked.collect();
        self.suspend(client, (&call.method, call.params), asked, None, steps);
        true
    }

    /// The server takes a question back.
    pub(super) fn ask_cancelled(&mut self, message: &Message) -> Option<()> {
        let id = RequestId::from_value(message.params()?.value().get("requestId")?)?;
        self.forget_ask(&id);
        Some(())
    }

    pub(super) fn expire_held(&mut self, steps: &mut Vec<Step>) {
        let (old, mut rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|asked| asked.is_old);
        for asked in &mut rest {
            asked.is_old = true;
        }
        self.held = rest;
        refuse_all(old, steps);
    }
}

/// The pages of an error that wants some to be opened (2025-11-25, schema, `URLElicitationRequiredError`).
fn pages(error: &Part<'_>) -> Option<Vec<String>> {
    const URL_ELICITATION_REQUIRED: i64 = -32042;
    if error.value().get("code")?.as_i64()? != URL_ELICITATION_REQUIRED {
        return None;
    }
    let pages = error.member("data")?.member("elicitations")?.items()?;
    if pages.is_empty() || pages.len() > MAX_INPUT_REQUESTS {
        return None;
    }
    let text = |page: &Part<'_>| {
        let ask = Ask::of("elicitation/create", Some(page.value()))?;
        page.value().get("url")?.as_str()?;
        (ask == Ask::Url).then(|| page.text().to_owned())
    };
    pages.iter().map(text).collect()
}
