//! What waits for a client on one stream, and what it may ask for again.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::body::Bytes;

/// The most messages that wait on a stream, or are kept for a client that asks again.
pub(super) const MAX_EVENTS: usize = 256;
/// The most bytes of them. One message may be longer, where it is the only one; an answer does not count.
pub(super) const MAX_EVENT_BYTES: usize = 1024 * 1024;
/// How long a message waits for a slow client, before its stream is cut.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// One stream: messages in order, the last of which answers its request, if it has one.
///
/// Whoever sends is a plain thread, and waits for room; whoever reads is a task. There is one reader at a time: a newer one takes the
/// place of an older one, whose connection may be dead without anybody having noticed. Who asks again from an event that is not kept
/// any more gets what is: notifications may be missing in between, an answer never is.
pub(super) struct Stream {
    state: Mutex<State>,
    has_room: Condvar,
    /// Whether what has been sent is kept.
    is_resumable: bool,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    /// The number of the next one; the first is 1.
    last: u64,
    /// How many of them were handed to a reader.
    sent: u64,
    is_ended: bool,
    /// Which reader is the one.
    reader: Option<u64>,
    readers: u64,
    waker: Option<Waker>,
}

/// One message on its way.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) text: Bytes,
    pub(super) is_answer: bool,
    pub(super) receipt: Receipt,
}

/// Whom to tell that a message was written: once, whichever attempt succeeds.
#[derive(Clone)]
pub(super) struct Receipt(Arc<Mutex<Option<OnWritten>>>);

type OnWritten = Box<dyn FnOnce() + Send>;

/// What comes next for a reader.
#[derive(Debug)]
pub(super) enum Next {
    Event(Event),
    /// All has been read.
    End,
    /// It reads too slowly, or another one reads instead.
    Cut,
}

impl Receipt {
    pub(super) fn new(on_written: Option<OnWritten>) -> Self {
        Self(Arc::new(Mutex::new(on_written)))
    }

    pub(super) fn sign(&self) {
        let on_written = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(on_written) = on_written {
            on_written();
        }
    }
}

impl Stream {
    pub(super) fn new(is_resumable: bool) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            has_room: Condvar::new(),
            is_resumable,
        })
    }

    /// Queues a message that is no answer. It waits for a slow reader once, and then cuts it off. Where nobody reads, the oldest give
    /// way.
    pub(super) fn push(&self, text: String, receipt: Receipt) {
        let length = text.len();
        let state = self.lock();
        let waited = self.has_room.wait_timeout_while(state, MAX_WAIT, |state| {
            state.reader.is_some() && !state.is_ended && !state.has_room(length)
        });
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_ended {
            return;
        }
        if !state.has_room(length) {
            state.reader = None;
        }
        state.add(text, receipt, false);
        state.shorten();
        state.wake();
    }

    /// Queues the answer, which is the last message.
    pub(super) fn answer(&self, text: String, receipt: Receipt) {
        let mut state = self.lock();
        if !state.is_ended {
            state.add(text, receipt, true);
            state.is_ended = true;
            state.wake();
        }
    }

    /// Nothing comes any more.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.is_ended = true;
        state.wake();
        drop(state);
        self.has_room.notify_all();
    }

    /// Reads what has not been read, or, `after` an event, everything behind it that is kept.
    pub(super) fn read(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.lock();
        if let Some(after) = after {
            state.sent = after.min(state.last);
        }
        state.readers += 1;
        let ticket = state.readers;
        state.reader = Some(ticket);
        state.wake();
        drop(state);
        Reader {
            stream: Arc::clone(self),
            ticket,
        }
    }

    pub(super) fn has_reader(&self) -> bool {
        self.lock().reader.is_some()
    }

    /// How many bytes are kept.
    pub(super) fn bytes(&self) -> usize {
        let state = self.lock();
        state.events.iter().map(|event| event.text.len()).sum()
    }

    fn next(&self, ticket: u64, context: &Context<'_>) -> Poll<Next> {
        let mut state = self.lock();
        if state.reader != Some(ticket) {
            return Poll::Ready(Next::Cut);
        }
        let sent = state.sent;
        if let Some(event) = state.events.iter().find(|event| event.number > sent) {
            let event = event.clone();
            state.sent = event.number;
            if !self.is_resumable {
                state.events.pop_front();
            }
            drop(state);
            self.has_room.notify_all();
            return Poll::Ready(Next::Event(event));
        }
        if state.is_ended {
            return Poll::Ready(Next::End);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, text: String, receipt: Receipt, is_answer: bool) {
        self.last += 1;
        self.events.push_back(Event {
            number: self.last,
            text: Bytes::from(text),
            is_answer,
            receipt,
        });
    }

    /// Whether another message may wait beside those that do.
    fn has_room(&self, length: usize) -> bool {
        let waiting = self.events.iter().rev();
        let waiting = waiting.take_while(|event| event.number > self.sent);
        let (count, bytes) = waiting.fold((0, 0), |(count, bytes), event| {
            (count + 1, event.text.len().saturating_add(bytes))
        });
        count == 0 || (count < MAX_EVENTS && length.saturating_add(bytes) <= MAX_EVENT_BYTES)
    }

    /// Lets the oldest go.
    fn shorten(&mut self) {
        let mut bytes: usize = self.events.iter().map(|event| event.text.len()).sum();
        while self.events.len() > 1
            && (self.events.len() > MAX_EVENTS || bytes > MAX_EVENT_BYTES)
            && let Some(oldest) = self.events.pop_front()
        {
            bytes = bytes.saturating_sub(oldest.text.len());
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// The one who reads a stream.
pub(super) struct Reader {
    stream: Arc<Stream>,
    ticket: u64,
}

impl Reader {
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Next> {
        self.stream.next(self.ticket, context)
    }

    pub(super) async fn next(&self) -> Next {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.stream.lock();
        if state.reader == Some(self.ticket) {
            state.reader = None;
        }
        drop(state);
        self.stream.has_room.notify_all();
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Receipt")
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reader").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(stream: &Stream, text: &str) {
        stream.push(text.to_owned(), Receipt::new(None));
    }

    fn all(reader: &Reader) -> Vec<String> {
        let context = Context::from_waker(Waker::noop());
        let mut found = Vec::new();
        loop {
            match reader.poll_next(&context) {
                Poll::Ready(Next::Event(event)) => found.push(format!(
                    "{}:{}",
                    event.number,
                    String::from_utf8_lossy(&event.text)
                )),
                Poll::Ready(Next::End) => found.push("end".to_owned()),
                Poll::Ready(Next::Cut) => found.push("cut".to_owned()),
                Poll::Pending => return found,
            }
            if matches!(found.last().map(String::as_str), Some("end" | "cut")) {
                return found;
            }
        }
    }

    #[test]
    fn a_stream_is_read_on_and_again() {
        let stream = Stream::new(true);
        push(&stream, "a");
        let first = stream.read(None);
        assert_eq!(all(&first), ["1:a"]);
        push(&stream, "b");
        let second = stream.read(None);
        assert_eq!(all(&first), ["cut"]);
        assert_eq!(all(&second), ["2:b"]);
        drop(first);
        assert!(stream.has_reader());
        stream.answer("c".to_owned(), Receipt::new(None));
        push(&stream, "too late");
        assert_eq!(all(&second), ["3:c", "end"]);
        drop(second);
        assert!(!stream.has_reader());
        assert_eq!(all(&stream.read(Some(1))), ["2:b", "3:c", "end"]);
        assert_eq!(all(&stream.read(Some(9))), ["end"]);
        assert_eq!(all(&stream.read(Some(0))), ["1:a", "2:b", "3:c", "end"]);
    }

    #[test]
    fn what_was_sent_is_not_kept_where_nobody_can_ask_for_it() {
        let stream = Stream::new(false);
        push(&stream, "a");
        let reader = stream.read(None);
        assert_eq!(all(&reader), ["1:a"]);
        assert_eq!(stream.bytes(), 0);
        assert_eq!(all(&stream.read(Some(0))), Vec::<String>::new());
    }

    #[test]
    fn where_nobody_reads_the_oldest_give_way_and_the_answer_stays() {
        let stream = Stream::new(true);
        for number in 0..MAX_EVENTS + 10 {
            push(&stream, &number.to_string());
        }
        stream.answer("answer".to_owned(), Receipt::new(None));
        let found = all(&stream.read(None));
        assert_eq!(found.len(), MAX_EVENTS + 2);
        assert_eq!(found[0], "11:10");
        assert_eq!(found[MAX_EVENTS], "267:answer");
        let long = "x".repeat(MAX_EVENT_BYTES + 1);
        let stream = Stream::new(true);
        push(&stream, "a");
        push(&stream, &long);
        assert_eq!(stream.bytes(), long.len());
        stream.answer(long.clone(), Receipt::new(None));
        assert_eq!(stream.bytes(), 2 * long.len());
    }

    #[test]
    fn a_reader_that_is_too_slow_is_cut_and_can_come_again() {
        let stream = Stream::new(true);
        let slow = stream.read(None);
        for number in 0..=MAX_EVENTS {
            push(&stream, &number.to_string());
        }
        assert_eq!(all(&slow), ["cut"]);
        let found = all(&stream.read(Some(0)));
        assert_eq!(found.len(), MAX_EVENTS);
        assert_eq!(found[0], "2:1");
    }

    #[test]
    fn a_receipt_is_signed_once() {
        let count = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&count);
        let receipt = Receipt::new(Some(Box::new(move || *counted.lock().unwrap() += 1)));
        let again = receipt.clone();
        receipt.sign();
        again.sign();
        assert_eq!(*count.lock().unwrap(), 1);
    }
}
