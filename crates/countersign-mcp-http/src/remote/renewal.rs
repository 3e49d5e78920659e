//! Opens a session anew that the server has ended, as its client had opened it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use countersign_mcp::{RequestId, write};
use tokio::time::{Instant, timeout, timeout_at};
use uuid::Uuid;

use super::exchange::{Asked, Exchange, Outcome};
use super::in_flight::Sort;
use super::link::{Link, Told};
use super::problem::Problem;
use super::session::{Agreement, Generation};

/// How long a server may take to open a session.
pub(super) const OPENING_TIMEOUT: Duration = Duration::from_mins(2);

/// How long it may take to set everything again.
const SETTINGS_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a session in the place of the one that was seen to be gone; whoever comes second finds it done. Says whether there is one.
pub(super) async fn renew(link: &Link, gone: Generation) -> bool {
    let _only_one = link.session.renewing().await;
    if link.session.generation() != gone && !link.session.is_expired() {
        return true;
    }
    let opening = link.session.opening();
    let Some(params) = opening.params else {
        return false;
    };
    let asked = own_request(Sort::Opening, "initialize", &params);
    let mut exchange = Exchange::new(link, &asked);
    let outcome = timeout(OPENING_TIMEOUT, exchange.once()).await;
    let is_open = outcome == Ok(Outcome::Answered) && exchange.agreement == Some(Agreement::Agreed);
    if !is_open {
        link.problems.tell(Problem::SessionLost);
        return false;
    }
    if let Some(text) = opening.initialized {
        link.tell(Told {
            text,
            own_headers: None,
            ticket: None,
        })
        .await;
        link.announce_open();
    }
    link.problems.tell(Problem::SessionRenewed);
    if !set_again(link).await {
        link.problems.tell(Problem::SettingsLost);
    }
    true
}

/// Sets again what the client had set. Whoever asks for something in the new session waits for it.
async fn set_again(link: &Link) -> bool {
    let settings = link.session.settings();
    let deadline = Instant::now() + SETTINGS_TIMEOUT;
    let mut is_whole = !settings.is_incomplete;
    for (method, params) in settings.requests() {
        let asked = own_request(Sort::InSession, method, params);
        let mut exchange = Exchange::new(link, &asked);
        let outcome = timeout_at(deadline, exchange.once()).await;
        is_whole &= outcome == Ok(Outcome::Answered);
    }
    is_whole
}

/// A request of which nobody else hears.
fn own_request(sort: Sort, method: &str, params: &str) -> Asked {
    let id = RequestId::Text(format!("countersign-{}", Uuid::new_v4().simple()).into());
    Asked {
        text: write::request(&id, method, params),
        id,
        own_headers: None,
        ticket: None,
        lists_tools: false,
        sort,
        is_ours: true,
        is_answered: AtomicBool::new(false),
    }
}
