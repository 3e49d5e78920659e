//! The pages of calls that clients were told of, at an address that is taken when the first one is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use countersign_contract::StatusRef;
use countersign_ledger::Inspection as _;
use countersign_mcp_http::page::{Pages, Site};

use super::governor::Rules;
use super::page::CallPage;
use crate::output::complain;

/// The most calls that have a page. Beyond them, the one that got it first has none any more.
const MAX_PAGES: usize = 1024;
/// What the path of a page begins with.
const CALLS: &str = "/calls/";

/// The pages of this process.
pub(super) struct CallPages {
    /// What commands have to be told so that they find the ledger.
    ledger: Option<String>,
    /// Whether clients are on this machine, so that the addresses are theirs too.
    is_local: bool,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    site: Option<Site>,
    /// Why there is no site was said before.
    has_failed: bool,
    calls: VecDeque<StatusRef>,
}

/// Makes the pages, as long as there is something to show.
struct Desk(Weak<Rules>);

impl CallPages {
    pub(super) fn new(ledger: Option<String>, is_local: bool) -> Self {
        Self {
            ledger,
            is_local,
            open: Mutex::default(),
        }
    }

    /// The address of a call's page; nothing where there can be none.
    pub(super) fn address(&self, rules: &Arc<Rules>, status_ref: StatusRef) -> Option<String> {
        let mut open = self.lock();
        if !self.is_local || open.has_failed {
            return None;
        }
        if open.site.is_none() {
            match Site::open(Arc::new(Desk(Arc::downgrade(rules)))) {
                Ok(site) => open.site = Some(site),
                Err(error) => {
                    open.has_failed = true;
                    complain(&format!("there are no pages of what waits: {error}"));
                }
            }
        }
        let address = open.site.as_ref()?.address();
        if !open.calls.contains(&status_ref) {
            if open.calls.len() >= MAX_PAGES {
                open.calls.pop_front();
            }
            open.calls.push_back(status_ref);
        }
        Some(format!("http://{address}{CALLS}{status_ref}"))
    }

    /// Whether a call has a page. Others in the ledger have none, whoever knows their handles.
    fn has(&self, status_ref: StatusRef) -> bool {
        self.lock().calls.contains(&status_ref)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages for Desk {
    fn page(&self, path: &str) -> Option<String> {
        let status_ref = StatusRef::parse(path.strip_prefix(CALLS)?)?;
        let rules = self.0.upgrade()?;
        if !rules.pages.has(status_ref) {
            return None;
        }
        let detail = rules.ledger.operation(&status_ref).ok()??;
        let page = CallPage {
            status_ref,
            detail: &detail,
            now: rules.ledger.now().ok()?,
            ledger: rules.pages.ledger.as_deref(),
        };
        Some(page.html())
    }
}
