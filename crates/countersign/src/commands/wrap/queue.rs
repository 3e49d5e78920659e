//! A queue between threads that is bounded in messages and in bytes: a few long messages fill it as well as many short ones.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The most messages that wait for somebody slow.
const MAX_MESSAGES: usize = 256;
/// The most bytes that do. A message that is longer goes alone.
const MAX_BYTES: usize = 8 << 20;

/// Messages that wait to be written, in order.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    has_changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<(usize, T)>,
    bytes: usize,
    taken: u64,
    is_closed: bool,
}

/// Why a message was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotQueued {
    /// As much waits as may.
    Full,
    /// Nothing is taken any more.
    Closed,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                bytes: 0,
                taken: 0,
                is_closed: false,
            }),
            has_changed: Condvar::new(),
        }
    }

    /// Queues a message of so many bytes where there is room.
    pub(super) fn offer(&self, bytes: usize, message: T) -> Result<(), NotQueued> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(NotQueued::Closed);
        }
        if !state.has_room(bytes) {
            return Err(NotQueued::Full);
        }
        state.put(bytes, message);
        drop(state);
        self.has_changed.notify_all();
        Ok(())
    }

    /// Queues a message as soon as there is room; drops it where the queue is closed, or closed meanwhile.
    pub(super) fn put(&self, bytes: usize, message: T) {
        let mut state = self.lock();
        while !state.is_closed && !state.has_room(bytes) {
            state = self.wait(state);
        }
        if !state.is_closed {
            state.put(bytes, message);
            drop(state);
            self.has_changed.notify_all();
        }
    }

    /// The next message; nothing once the queue is closed and empty.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some((bytes, message)) = state.waiting.pop_front() {
                state.bytes = state.bytes.saturating_sub(bytes);
                state.taken = state.taken.saturating_add(1);
                drop(state);
                self.has_changed.notify_all();
                return Some(message);
            }
            if state.is_closed {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// How many messages have gone out, where others wait.
    pub(super) fn taken(&self) -> Option<u64> {
        let state = self.lock();
        (!state.waiting.is_empty()).then_some(state.taken)
    }

    /// Takes nothing more; what waits goes out.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.has_changed.notify_all();
    }

    /// Takes nothing more, and forgets what waits.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.bytes = 0;
        let forgotten = std::mem::take(&mut state.waiting);
        drop(state);
        drop(forgotten);
        self.has_changed.notify_all();
    }

    fn wait<'q>(&self, state: MutexGuard<'q, State<T>>) -> MutexGuard<'q, State<T>> {
        self.has_changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn has_room(&self, bytes: usize) -> bool {
        self.waiting.is_empty()
            || self.waiting.len() < MAX_MESSAGES && self.bytes.saturating_add(bytes) <= MAX_BYTES
    }

    fn put(&mut self, bytes: usize, message: T) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.waiting.push_back((bytes, message));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn messages_and_bytes_are_bounded_and_one_always_goes() {
        let queue = Queue::new();
        queue.offer(MAX_BYTES + 1, 0).unwrap();
        assert_eq!(queue.offer(1, 1), Err(NotQueued::Full));
        assert_eq!(queue.take(), Some(0));
        for number in 0..MAX_MESSAGES {
            queue.offer(MAX_BYTES / MAX_MESSAGES, number).unwrap();
        }
        assert_eq!(queue.offer(0, 9), Err(NotQueued::Full));
        queue.close();
        assert_eq!(queue.offer(0, 9), Err(NotQueued::Closed));
        for number in 0..MAX_MESSAGES {
            assert_eq!(queue.take(), Some(number));
        }
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn whoever_waits_goes_on_when_there_is_room_or_an_end() {
        let queue = Queue::new();
        queue.put(MAX_BYTES, 1);
        thread::scope(|scope| {
            scope.spawn(|| queue.put(1, 2));
            assert_eq!(queue.take(), Some(1));
            assert_eq!(queue.take(), Some(2));
        });
        queue.put(MAX_BYTES, 3);
        thread::scope(|scope| {
            scope.spawn(|| queue.put(1, 4));
            queue.abandon();
        });
        assert_eq!(queue.take(), None);
    }
}
