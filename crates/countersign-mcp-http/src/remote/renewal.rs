//! Opens a session anew that the server has ended, as its client had opened it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use countersign_mcp::{RequestId, write};
use tokio::time::timeout;
use uuid::Uuid;

use super::exchange::{Asked, Exchange, Outcome};
use super::in_flight::Sort;
use super::link::{Link, Told};
use super::problem::Problem;
use super::session::{Agreement, Generation};

/// How long a server may take to open a session.
pub(super) const OPENING_TIMEOUT: Duration = Duration::from_mins(2);

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
    let id = RequestId::Text(format!("countersign-{}", Uuid::new_v4().simple()).into());
    let asked = Asked {
        text: write::request(&id, "initialize", &params),
        id,
        own_headers: None,
        ticket: None,
        lists_tools: false,
        sort: Sort::Opening,
        is_ours: true,
        is_answered: AtomicBool::new(false),
    };
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
    true
}
