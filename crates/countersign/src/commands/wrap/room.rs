//! Room for messages that are kept while something is waited for, of all connections together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes of messages are kept at most. Each takes a few times its length, as it is read and recorded too.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// What is left of it.
#[derive(Debug)]
pub(super) struct Room(AtomicUsize);

/// Room that is taken, until this is dropped.
#[derive(Debug)]
pub(super) struct Kept {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(MAX_KEPT_BYTES)))
    }

    /// Takes room for so many bytes, where there is that much.
    pub(super) fn keep(self: &Arc<Self>, bytes: usize) -> Option<Kept> {
        let taken = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| {
                left.checked_sub(bytes)
            });
        taken.ok().map(|_| Kept {
            room: Arc::clone(self),
            bytes,
        })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.room.0.fetch_add(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_as_much_room_as_was_given_back() {
        let room = Room::new();
        let first = room.keep(MAX_KEPT_BYTES - 1).unwrap();
        assert!(room.keep(2).is_none());
        let second = room.keep(1).unwrap();
        assert!(room.keep(1).is_none());
        drop(first);
        drop(second);
        assert!(room.keep(MAX_KEPT_BYTES).is_some());
    }
}
