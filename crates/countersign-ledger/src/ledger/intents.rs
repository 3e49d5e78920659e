//! Which key a call without one goes under.

use countersign_contract::{IntentDigest, Scope};
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{CallIdentity, Intent};

use super::{DurableLedger, read_record, write_change};
use crate::backend::Backend;
use crate::moment::Moment;
use crate::ports::Intents;
use crate::record::Record;
use crate::state::{Lifetimes, State};
use crate::transition;

impl<B: Backend> Intents for DurableLedger<B> {
    fn intent(&self, identity: &CallIdentity, digest: &IntentDigest) -> Result<Intent, Error> {
        self.backend.read("intent", |rows| {
            let earlier = match rows.call(identity)? {
                Some(call) => read_record(rows, &call.scope)?,
                None => None,
            };
            // A call that has an operation goes to that one. Whether it is the same call at all, the pipeline says.
            let bound = earlier.and_then(|record| record.intent);
            if let Some(intent) = bound.filter(|intent| intent.digest == *digest) {
                return Ok(intent);
            }
            let Some(latest) = rows.intent(digest)? else {
                return Ok(Intent {
                    digest: *digest,
                    generation: 0,
                });
            };
            let intent = Intent {
                digest: *digest,
                generation: latest.generation,
            };
            // Another number would be another key, and so a second effect.
            let record = read_record(rows, &latest.scope)?
                .filter(|record| record.intent.is_none_or(|kept| kept == intent))
                .ok_or(Error::Damaged("an intent is not what was written"))?;
            if is_over(&record, rows.now(), &self.lifetimes) {
                return Ok(Intent {
                    generation: intent.generation + 1,
                    ..intent
                });
            }
            Ok(intent)
        })
    }

    fn acknowledge(&self, scope: &Scope) -> Result<(), Error> {
        let scope = scope.clone();
        self.backend.write("acknowledge", move |tables| {
            let record = read_record(tables, &scope)?;
            match record.and_then(transition::acknowledge) {
                Some(change) => write_change(tables, &change),
                None => Ok(()),
            }
        })
    }
}

/// Tells whether an effect is over and done with, so that the same intent means another one. One without effect is not: its
/// key is free.
fn is_over(record: &Record, now: Moment, lifetimes: &Lifetimes) -> bool {
    let is_old = record.changed_at.after(lifetimes.repeat_window) <= now;
    match &record.state {
        State::Succeeded {
            is_acknowledged, ..
        } => *is_acknowledged || is_old,
        State::ResolvedCommitted { .. } => is_old,
        State::AwaitingApproval { .. }
        | State::Denied { .. }
        | State::Expired { .. }
        | State::Reserved { .. }
        | State::Executing(_)
        | State::Blocked { .. }
        | State::Failed { .. }
        | State::Unknown { .. }
        | State::ResolvedNotExecuted { .. } => false,
    }
}
