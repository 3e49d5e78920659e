//! Performing what is due.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_contract::{ErrorCode, Scope, ToolName};
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{Fence, Lease};

use super::{DurableLedger, read_proposal, read_record, write_change, write_quietly};
use crate::backend::Backend;
use crate::moment::Moment;
use crate::ports::{Task, Work};
use crate::query::MAX_PAGE;
use crate::record::Record;
use crate::state::{Lifetimes, State};
use crate::steady::Steady;
use crate::tables::{OpenCounts, OperationRow, Rows, Tables};
use crate::transition::{self, Change, Reading};

impl<B: Backend> Work for DurableLedger<B> {
    fn heartbeat(&self) -> Result<(), Error> {
        let (instance, lease) = (self.instance.clone(), self.lifetimes.lease);
        self.backend.write("heartbeat", move |tables| {
            let until = tables.now().after(lease);
            tables.instance_put(&instance, Some(until))
        })
    }

    fn leave(&self) -> Result<(), Error> {
        let instance = self.instance.clone();
        self.backend
            .write("leave", move |tables| tables.instance_put(&instance, None))
    }

    fn claim(&self, tools: &[ToolName], limit: usize) -> Result<Vec<Task>, Error> {
        let (tools, lifetimes) = (tools.to_vec(), self.lifetimes);
        let limit = limit.min(MAX_PAGE);
        let steady = self.steady.steady();
        self.backend.write("claim", move |tables| {
            let due_at = tables.now().after(lifetimes.claim);
            let mut tasks = Vec::new();
            for row in due(tables, &tools, limit)? {
                let record = Record::from_row(&row)?;
                let record = transition::postpone(record, due_at);
                write_quietly(tables, &record)?;
                tasks.push(task(tables, record, steady.as_ref(), &lifetimes)?);
            }
            Ok(tasks)
        })
    }

    fn task(&self, scope: &Scope) -> Result<Option<Task>, Error> {
        let steady = self.steady.steady();
        self.backend.read("task", |rows| {
            let record = read_record(rows, scope)?.filter(|record| record.kind().is_open());
            record
                .map(|record| task(rows, record, steady.as_ref(), &self.lifetimes))
                .transpose()
        })
    }

    fn postpone(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        self.update("postpone", task, move |tables, record| {
            // What nobody is to look at, or a person is, is not due later either.
            if record.due_at.is_none() {
                return Ok(());
            }
            let due_at = Some(tables.now().after(delay));
            write_quietly(tables, &Record { due_at, ..record })
        })
    }

    fn give_up(&self, task: &Task) -> Result<(), Error> {
        self.update("give_up", task, |tables, record| {
            write_if_any(tables, transition::give_up(record))
        })
    }

    fn block(&self, task: &Task, cause: ErrorCode) -> Result<(), Error> {
        self.update("block", task, move |tables, record| {
            let change = transition::block(record, cause, tables.now());
            write_if_any(tables, change)
        })
    }

    fn send_again(&self, task: &Task) -> Result<Option<Lease>, Error> {
        let (scope, seen) = (task.record.scope.clone(), Seen::of(&task.record));
        let (holder, lifetimes) = (self.instance.clone(), self.lifetimes);
        let steady = self.steady.steady();
        self.attempts.begin(&task.record.scope);
        let sent = self.backend.write("send_again", move |tables| {
            let Some(record) = read_record(tables, &scope)? else {
                return Ok(None);
            };
            if Seen::of(&record) != seen {
                return Ok(None);
            }
            let now = tables.now();
            let clock = Reading {
                now,
                steady: steady.as_ref(),
            };
            let Some(change) = transition::send_again(record, &holder, clock, &lifetimes) else {
                return Ok(None);
            };
            write_change(tables, &change)?;
            tables.instance_put(&holder, Some(now.after(lifetimes.lease)))?;
            Ok(Some(Lease {
                fence: Fence::new(change.record.fence),
                begin_within: lifetimes.lease / 2,
            }))
        });
        if !matches!(sent, Ok(Some(_))) {
            self.attempts.end(&task.record.scope, sent.is_ok());
        }
        sent
    }

    fn expire(&self, limit: usize) -> Result<usize, Error> {
        let lifetimes = self.lifetimes;
        self.sweep(
            "expire",
            limit,
            |rows, limit| rows.expiring(limit),
            move |record, now| transition::expire(&record, now, &lifetimes),
        )
    }

    fn recover(&self, limit: usize) -> Result<usize, Error> {
        let own = self.recover_own(limit)?;
        let others = self.sweep(
            "recover",
            limit.saturating_sub(own),
            |rows, limit| rows.orphans(limit),
            transition::lose_holder,
        )?;
        Ok(own.saturating_add(others))
    }

    fn open_counts(&self) -> Result<(OpenCounts, Moment), Error> {
        self.backend
            .read("open_counts", |rows| Ok((rows.open_counts()?, rows.now())))
    }
}

impl<B: Backend> DurableLedger<B> {
    /// Marks what this host performs no more and could not say so when it ended.
    fn recover_own(&self, limit: usize) -> Result<usize, Error> {
        let mut count = 0;
        for lost in self.attempts.lost(limit) {
            let (scope, holder) = (lost.clone(), self.instance.clone());
            let attempts = Arc::clone(&self.attempts);
            let marked = self.backend.write("recover_own", move |tables| {
                // Asked here, where nobody else reserves: whoever has begun before is known by now.
                if attempts.is_under_way(&scope) {
                    return Ok(None);
                }
                let record = read_record(tables, &scope)?;
                let record = record.filter(|record| record.state.holder() == Some(&holder));
                let change =
                    record.and_then(|record| transition::lose_holder(record, tables.now()));
                let is_changed = change.is_some();
                write_if_any(tables, change)?;
                Ok(Some(is_changed))
            })?;
            if let Some(is_changed) = marked {
                self.attempts.forget(&lost);
                count += usize::from(is_changed);
            }
        }
        Ok(count)
    }

    /// Changes an operation that still stands as a task's holder saw it.
    fn update<F>(&self, name: &'static str, task: &Task, body: F) -> Result<(), Error>
    where
        F: Fn(&mut dyn Tables, Record) -> Result<(), Error> + Send + 'static,
    {
        let (scope, seen) = (task.record.scope.clone(), Seen::of(&task.record));
        self.backend
            .write(name, move |tables| match read_record(tables, &scope)? {
                Some(record) if Seen::of(&record) == seen => body(tables, record),
                Some(_) | None => Ok(()),
            })
    }

    /// Changes what a list names. Where nothing is listed, nothing is locked.
    fn sweep(
        &self,
        name: &'static str,
        limit: usize,
        list: fn(&mut dyn Rows, usize) -> Result<Vec<OperationRow>, Error>,
        change: impl Fn(Record, Moment) -> Option<Change> + Send + 'static,
    ) -> Result<usize, Error> {
        let limit = limit.min(MAX_PAGE);
        if self.backend.read(name, |rows| list(rows, 1))?.is_empty() {
            return Ok(0);
        }
        self.backend.write(name, move |tables| {
            let now = tables.now();
            let mut count = 0;
            for row in list(tables, limit)? {
                if let Some(change) = change(Record::from_row(&row)?, now) {
                    write_change(tables, &change)?;
                    count += 1;
                }
            }
            Ok(count)
        })
    }
}

/// What is due of any of these tools, longest due first, so that no tool waits for a busier one.
fn due(
    tables: &mut dyn Tables,
    tools: &[ToolName],
    limit: usize,
) -> Result<Vec<OperationRow>, Error> {
    let mut rows = Vec::new();
    for tool in tools {
        rows.extend(tables.due(Some(tool), limit)?);
    }
    rows.sort_by_key(|row| row.due_at);
    // A tool that is named twice is looked at once.
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert(row.scope.clone()));
    rows.truncate(limit);
    Ok(rows)
}

/// What tells that an operation has not moved on.
#[derive(PartialEq)]
struct Seen {
    state: State,
    fence: u64,
    changed_at: Moment,
}

impl Seen {
    fn of(record: &Record) -> Self {
        Self {
            state: record.state.clone(),
            fence: record.fence,
            changed_at: record.changed_at,
        }
    }
}

fn write_if_any(tables: &mut dyn Tables, change: Option<Change>) -> Result<(), Error> {
    change.map_or(Ok(()), |change| write_change(tables, &change))
}

fn task(
    rows: &mut (impl Rows + ?Sized),
    record: Record,
    steady: Option<&Steady>,
    lifetimes: &Lifetimes,
) -> Result<Task, Error> {
    let clock = Reading {
        now: rows.now(),
        steady,
    };
    Ok(Task {
        proposal: read_proposal(rows, &record)?,
        sendable_until: transition::until_when_sendable(&record, clock, lifetimes),
        at: clock.now,
        record,
    })
}
