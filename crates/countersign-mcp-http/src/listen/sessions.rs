//! The sessions that are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::session::{Session, SessionId};

/// All sessions, by their ids.
#[derive(Debug)]
pub(super) struct Sessions {
    open: Mutex<HashMap<String, Arc<Session>>>,
    places: Arc<Semaphore>,
}

impl Sessions {
    pub(super) fn new(max: usize) -> Self {
        Self {
            open: Mutex::default(),
            places: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// A place for one more, if there is any. It is free again when it is dropped.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    pub(super) fn insert(&self, id: &SessionId, session: Session) {
        let session = Arc::new(session);
        self.lock().insert(id.as_str().to_owned(), session);
    }

    /// A session that is still of use.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let session = self.lock().get(id).cloned()?;
        (!session.is_over()).then_some(session)
    }

    /// Ends a session; whether there was one.
    pub(super) fn end(&self, id: &str) -> bool {
        let ended = self.lock().remove(id);
        ended.is_some_and(|session| {
            session.end();
            true
        })
    }

    /// Ends those that nobody has used for so long, and those whose server has ended: these when nothing is waited for any more, and at
    /// the next time in any case.
    pub(super) fn sweep(&self, idle_limit: Duration) {
        let open: Vec<_> = {
            let open = self.lock();
            let pairs = open.iter();
            pairs
                .map(|(id, session)| (id.clone(), Arc::clone(session)))
                .collect()
        };
        for (id, session) in open {
            if session.is_idle_for(idle_limit) || session.is_done() {
                self.end(&id);
            }
        }
    }

    /// Ends the streams that belong to no request.
    pub(super) fn finish(&self) {
        for session in self.lock().values() {
            session.finish();
        }
    }

    pub(super) fn end_all(&self) {
        let all = std::mem::take(&mut *self.lock());
        for session in all.values() {
            session.end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
