//! Removing what nothing depends on any more.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{Moment, StateKind};
use rusqlite::Connection;

use crate::engine::Engine;
use crate::error::Classify;

/// How many operations one transaction looks at, so that nobody waits long for it.
const AT_ONCE: i64 = 500;

/// Which operations may go, in the terms of their columns: `?1` is the moment.
///
/// INVARIANT: an operation with a consumed approval stays, so that the approval stays consumed; and so does an intent's
/// latest, so that the host never makes its key again.
macro_rules! may_go {
    () => {
        "o.changed_at < ?1
         AND NOT EXISTS (SELECT 1 FROM approval_use a WHERE a.operation = o.id)
         AND NOT EXISTS (SELECT 1 FROM intent i WHERE i.operation = o.id)"
    };
}

pub(crate) fn prune(engine: &Engine, changed_before: Moment) -> Result<u64, Error> {
    let before = i64::try_from(changed_before.as_milliseconds()).unwrap_or(i64::MAX);
    let mut after = 0;
    let mut removed = 0;
    // INVARIANT: ends, because each list begins behind the last one.
    loop {
        let ids = engine.read(|connection, _| candidates(connection, before, after))?;
        let Some(last) = ids.last() else {
            return Ok(removed);
        };
        after = *last;
        removed += engine.write("prune", move |connection, _| {
            remove(connection, before, &ids)
        })?;
    }
}

fn candidates(connection: &Connection, before: i64, after: i64) -> Result<Vec<i64>, Error> {
    let states = without_effect();
    let select = format!(
        "SELECT o.id FROM operation o
         WHERE o.id > ?2 AND o.state IN ({states}) AND {} ORDER BY o.id LIMIT ?3",
        may_go!()
    );
    let mut select = connection.prepare_cached(&select).classify()?;
    let ids = select
        .query_map([before, after, AT_ONCE], |row| row.get(0))
        .classify()?;
    ids.collect::<rusqlite::Result<_>>().classify()
}

/// Removes those that are still as they were listed.
fn remove(connection: &Connection, before: i64, ids: &[i64]) -> Result<u64, Error> {
    let states = without_effect();
    let delete = format!(
        "DELETE FROM operation AS o WHERE o.id = ?2 AND o.state IN ({states}) AND {}",
        may_go!()
    );
    let mut delete = connection.prepare_cached(&delete).classify()?;
    let mut removed = 0;
    for id in ids {
        let count = delete.execute([before, *id]).classify()?;
        removed += u64::try_from(count).unwrap_or(0);
    }
    Ok(removed)
}

/// The states that prove that there was no effect, as a list for a statement.
fn without_effect() -> String {
    let states = StateKind::ALL.into_iter();
    let states = states.filter(|state| state.is_without_effect());
    let names: Vec<_> = states
        .map(|state| format!("'{}'", state.as_str()))
        .collect();
    names.join(", ")
}
