//! Telling the user of a client that opens pages what waits (2025-11-25, Elicitation, URL Mode). It decides nothing, whatever is
//! answered: the client is the agent's.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::{Inert, Scope, StatusRef};
use countersign_ledger::{State, Work as _};
use countersign_mcp::{RequestId, write};
use uuid::Uuid;

use super::{Governor, Pending, WriteRequest};
use crate::commands::wrap::caller::Caller;
use crate::commands::wrap::session::Session;

/// The most calls that a client is told of at a time.
const MAX_ANNOUNCED: usize = 256;
/// The most that is shown of a tool's name.
const SHOWN_CHARS: usize = 128;

/// What one client was told of and nobody has decided yet.
pub(super) struct Announced {
    /// What our own requests to the client begin with. Its answers stay here: the server has asked for nothing.
    prefix: String,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: u64,
    calls: BTreeMap<Scope, Announcement>,
}

struct Announcement {
    id: String,
    /// Whoever waits for the call, while somebody does.
    caller: Weak<Caller>,
}

impl Announced {
    pub(super) fn new() -> Self {
        Self {
            prefix: format!("countersign-page-{}-", Uuid::new_v4().simple()),
            open: Mutex::default(),
        }
    }

    /// A new announcement's id; nothing where the client knows already, or was told of too much.
    fn add(&self, scope: &Scope, caller: &Arc<Caller>) -> Option<String> {
        let mut open = self.lock();
        let caller = Arc::downgrade(caller);
        if let Some(known) = open.calls.get_mut(scope) {
            known.caller = caller;
            return None;
        }
        if open.calls.len() >= MAX_ANNOUNCED {
            return None;
        }
        open.count += 1;
        let id = format!("{}{}", self.prefix, open.count);
        let announcement = Announcement {
            id: id.clone(),
            caller,
        };
        open.calls.insert(scope.clone(), announcement);
        Some(id)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Governor {
    /// Tells a client that opens pages of a call that waits, once as long as it does.
    pub(super) fn announce(&self, session: &Session, request: &WriteRequest, pending: &Pending) {
        if !session.opens_pages() {
            return;
        }
        let Some(page) = self.rules.pages.address(&self.rules, pending.status_ref) else {
            return;
        };
        if let Some(id) = self.announced.add(&pending.scope, &request.caller) {
            let params = params(&id, &page, &request.tool, &pending.status_ref);
            let id = RequestId::Text(id.into());
            let text = write::request(&id, "elicitation/create", &params);
            session.tell(text, Some(request.caller.waiting().id));
        }
    }

    /// Whether a client's answer is to one of our own requests, or pretends to be.
    pub(in crate::commands::wrap) fn has_asked(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Text(text) if text.starts_with(&self.announced.prefix))
    }

    /// Tells the client which of what it was told of waits no longer.
    pub(super) fn look_after_announced(&self, session: &Session) {
        let scopes: Vec<_> = self.announced.lock().calls.keys().cloned().collect();
        for scope in &scopes {
            self.settle_announced(session, scope);
        }
    }

    /// The same for one call.
    pub(super) fn settle_announced(&self, session: &Session, scope: &Scope) {
        // Where the ledger cannot be read it is looked again.
        let Ok(task) = self.rules.ledger.task(scope) else {
            return;
        };
        let waits = task.is_some_and(|task| {
            matches!(&task.record.state, State::AwaitingApproval { until } if task.at < *until)
        });
        if waits {
            return;
        }
        let Some(announcement) = self.announced.lock().calls.remove(scope) else {
            return;
        };
        let caller = announcement.caller.upgrade();
        let params = json(&Value::from([("elicitationId", announcement.id.into())]));
        let text = write::notification("notifications/elicitation/complete", &params);
        session.tell(text, caller.map(|caller| caller.waiting().id));
    }
}

fn params(id: &str, page: &str, tool: &str, status_ref: &StatusRef) -> String {
    let tool = Inert::beginning(tool, SHOWN_CHARS);
    let message = format!(
        "A call of {tool} waits for your approval ({status_ref}). This page shows how it stands, and which command shows its \
         arguments and lets you decide. Nothing is decided by opening it or not."
    );
    json(&Value::from([
        ("mode", "url".into()),
        ("elicitationId", id.into()),
        ("url", page.into()),
        ("message", message.into()),
    ]))
}

fn json(value: &Value) -> String {
    String::from_utf8(encode::<Utf8>(value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_says_what_waits_and_where_to_look() {
        let status_ref = StatusRef::parse("status_0123456789abcdef0123456789abcdef").unwrap();
        let page = format!("http://127.0.0.1:7001/calls/{status_ref}");
        insta::assert_snapshot!(params(
            "countersign-page-1",
            &page,
            "write_file\u{202e}",
            &status_ref
        ));
    }
}
