//! What was asked for and nobody waits for any more.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Duration;

use countersign_contract::Scope;
use countersign_ledger::{Changes as _, Inspection as _, Moment, StateKind, Work as _};

use super::{Governor, LOOK_INTERVAL, MAX_TIDIED, Session};
use crate::ledger_advice::failed;
use crate::output::complain;

/// How long a stateless client may take from one round to the next before what it waits for is performed without it.
const BETWEEN_ROUNDS: Duration = Duration::from_secs(3);
/// How often what clients have left lying is given up.
const TIDY_INTERVAL: Duration = Duration::from_mins(5);

impl Governor {
    /// Performs what was approved while nobody waited for it, until the session ends. Only what callers of this process asked for:
    /// another process may have another environment.
    pub(in crate::commands::wrap) fn look_after(&self, session: &Session) {
        let mut tidied = self.rules.ledger.now().ok();
        // What stays wrong is said once.
        let mut said = BTreeSet::new();
        while !session.is_ending() {
            if let (Some(before), Ok(now)) = (tidied, self.rules.ledger.now())
                && now.since(before) >= TIDY_INTERVAL
            {
                session.upstream.expire();
                let _ = self.rules.ledger.recover(MAX_TIDIED);
                tidied = Some(now);
            }
            let version = self.rules.ledger.version();
            self.look_after_announced(session);
            let kept = self
                .kept
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let mut faults = BTreeSet::new();
            for (scope, since) in &kept {
                if session.is_stateless() && self.comes_again(*since) {
                    continue;
                }
                if let Err(error) = self.look_after_one(session, scope) {
                    faults.insert(format!("{error:#}"));
                }
            }
            for fault in faults.difference(&said) {
                complain(fault);
            }
            said = faults;
            self.rules.ledger.wait(version, LOOK_INTERVAL);
        }
        // What the client knows is not forgotten over its end.
        let _ = self.acknowledge();
    }

    /// Whether a client that comes again by itself may still do so: what its server asks of it meanwhile has nowhere else to go.
    fn comes_again(&self, since: Moment) -> bool {
        let now = self.rules.ledger.now();
        now.is_ok_and(|now| now.since(since) < BETWEEN_ROUNDS)
    }

    fn look_after_one(&self, session: &Session, scope: &Scope) -> anyhow::Result<()> {
        let task = self.rules.ledger.task(scope).map_err(failed)?;
        match task {
            Some(task) if task.record.kind() == StateKind::AwaitingApproval => {}
            Some(task) if task.record.kind() == StateKind::Reserved => {
                let stock = session.renewed_stock()?;
                self.perform(session, &stock, None, &task)?;
                self.let_go(scope);
            }
            Some(_) | None => self.let_go(scope),
        }
        Ok(())
    }

    pub(super) fn keep(&self, scope: &Scope) {
        let Ok(now) = self.rules.ledger.now() else {
            return;
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(scope.clone(), now);
    }

    pub(super) fn let_go(&self, scope: &Scope) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(scope);
    }
}
