//! The requests under way, so that they can be given up.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_mcp::RequestId;
use tokio::sync::oneshot;

/// The requests that have been taken, and have had no answer yet.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<RequestId, Entry>,
    count: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    sort: Sort,
    end: oneshot::Sender<Duration>,
}

/// What a request is to the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// It opens a session.
    Opening,
    /// It belongs to one.
    InSession,
    /// It stands alone.
    Alone,
    /// It stands alone, and has no answer as long as anybody listens.
    Listening,
}

/// One request among them.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    end: oneshot::Receiver<Duration>,
}

impl InFlight {
    pub(super) fn enter(&self, id: &RequestId, sort: Sort) -> Place {
        let mut state = self.lock();
        state.count += 1;
        let number = state.count;
        let (sender, end) = oneshot::channel();
        let entry = Entry {
            number,
            sort,
            end: sender,
        };
        state.entries.insert(id.clone(), entry);
        Place { number, end }
    }

    pub(super) fn leave(&self, id: &RequestId, place: &Place) {
        let mut state = self.lock();
        let entry = state.entries.get(id);
        if entry.is_some_and(|entry| entry.number == place.number) {
            state.entries.remove(id);
        }
    }

    /// Ends a request that stands alone at once, since nobody tells its server otherwise, and another one after a while, in which
    /// its answer may still come. Says what it was; nothing where there is none.
    pub(super) fn cancel(&self, id: &RequestId, grace: Duration) -> Option<Sort> {
        let entry = self.lock().entries.remove(id)?;
        let grace = if entry.sort.stands_alone() {
            Duration::ZERO
        } else {
            grace
        };
        let _ = entry.end.send(grace);
        Some(entry.sort)
    }

    /// Ends those whose answers nobody needs any more when nothing else is sent.
    pub(super) fn cancel_idle(&self) {
        let mut state = self.lock();
        let (idle, others) = std::mem::take(&mut state.entries)
            .into_iter()
            .partition(|(_, entry)| matches!(entry.sort, Sort::Opening | Sort::Listening));
        state.entries = others;
        end(idle);
    }

    /// Ends them all.
    pub(super) fn cancel_all(&self) {
        let entries = std::mem::take(&mut self.lock().entries);
        end(entries);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(entries: BTreeMap<RequestId, Entry>) {
    for entry in entries.into_values() {
        // Whoever has just had its answer is not there any more.
        let _ = entry.end.send(Duration::ZERO);
    }
}

impl Sort {
    /// Its server hears that it is given up from the end of its stream.
    pub(super) fn stands_alone(self) -> bool {
        match self {
            Self::Alone | Self::Listening => true,
            Self::Opening | Self::InSession => false,
        }
    }
}

impl Place {
    /// Returns when the request is given up, and never otherwise.
    pub(super) async fn given_up(&mut self) {
        match (&mut self.end).await {
            Ok(grace) => tokio::time::sleep(grace).await,
            Err(_) => std::future::pending().await,
        }
    }
}
