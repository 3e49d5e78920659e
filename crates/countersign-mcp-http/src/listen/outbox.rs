//! The streams of one session, and which message goes into which.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_canonical::parse;
use countersign_mcp::port::{Outgoing, ToClient};
use countersign_mcp::{MESSAGE_LIMITS, RequestId, write};
use hyper::StatusCode;

use super::stream::{Receipt, Stream};

/// The most requests of a session that wait for an answer.
pub(super) const MAX_OPEN: usize = 64;
/// The most streams that are kept behind their end, for a client that did not get it.
const MAX_KEPT: usize = 16;
/// The most bytes of those.
const MAX_KEPT_BYTES: usize = 8 * 1024 * 1024;
/// The stream of a session that belongs to no request.
pub(super) const GENERAL: u64 = 0;

/// What goes to one client: a stream for each of its requests, and one for the rest.
pub(super) struct Outbox {
    general: Arc<Stream>,
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    by_number: BTreeMap<u64, Arc<Stream>>,
    open: HashMap<RequestId, Open>,
    /// Those that have ended, oldest first.
    kept: VecDeque<u64>,
    last: u64,
}

#[derive(Clone, Copy)]
struct Open {
    number: u64,
    /// Whether it carries nothing but its answer.
    is_bare: bool,
}

/// Why a request gets no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotOpened {
    #[error("another request of this session has the same id and no answer yet")]
    InUse,
    #[error("too many requests of this session have no answer yet")]
    TooMany,
}

impl NotOpened {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::InUse => StatusCode::BAD_REQUEST,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

impl Outbox {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            general: Stream::new(true),
            streams: Mutex::default(),
        })
    }

    /// A stream for a request, and its number. A bare one carries nothing but the answer.
    pub(super) fn open(
        &self,
        id: RequestId,
        is_bare: bool,
    ) -> Result<(u64, Arc<Stream>), NotOpened> {
        let mut streams = self.lock();
        if streams.open.contains_key(&id) {
            return Err(NotOpened::InUse);
        }
        if streams.open.len() >= MAX_OPEN {
            return Err(NotOpened::TooMany);
        }
        streams.last += 1;
        let number = streams.last;
        let stream = Stream::new(true);
        streams.by_number.insert(number, Arc::clone(&stream));
        streams.open.insert(id, Open { number, is_bare });
        Ok((number, stream))
    }

    /// A stream that a client has seen before.
    pub(super) fn find(&self, number: u64) -> Option<Arc<Stream>> {
        if number == GENERAL {
            return Some(Arc::clone(&self.general));
        }
        self.lock().by_number.get(&number).cloned()
    }

    /// Nobody can ask for this stream again.
    pub(super) fn forget(&self, number: u64) {
        self.lock().remove(number);
    }

    /// The client has given a request up: it gets no answer.
    pub(super) fn give_up(&self, id: &RequestId) {
        let mut streams = self.lock();
        let Some(open) = streams.open.get(id).copied() else {
            return;
        };
        if !open.is_bare
            && let Some(stream) = streams.remove(open.number)
        {
            stream.end();
        }
    }

    /// Whether somebody waits for something.
    pub(super) fn is_waited_for(&self) -> bool {
        self.general.has_reader() || !self.lock().open.is_empty()
    }

    /// Ends the stream that belongs to no request.
    pub(super) fn end_general(&self) {
        self.general.end();
    }

    /// Ends everything.
    pub(super) fn end(&self) {
        self.general.end();
        let streams = std::mem::take(&mut *self.lock());
        for stream in streams.by_number.values() {
            stream.end();
        }
    }

    fn answer(&self, id: &RequestId, text: String, receipt: Receipt) {
        let mut streams = self.lock();
        let open = streams.open.remove(id);
        let stream = open.and_then(|open| {
            streams.kept.push_back(open.number);
            streams.by_number.get(&open.number).cloned()
        });
        // Without a stream nobody waits: it was given up, or has been answered.
        if let Some(stream) = stream {
            stream.answer(text, receipt);
            streams.shorten();
        }
    }

    /// Where a message goes that is no answer.
    fn stream_for(&self, about: Option<&RequestId>) -> Arc<Stream> {
        let streams = self.lock();
        let open = about.and_then(|id| streams.open.get(id).copied());
        let own = open.filter(|open| !open.is_bare);
        let number = own.map(|open| open.number).or_else(|| {
            let latest = streams.open.values().filter(|open| !open.is_bare);
            let latest = latest.map(|open| open.number).max();
            latest.filter(|_| !self.general.has_reader())
        });
        let stream = number.and_then(|number| streams.by_number.get(&number));
        Arc::clone(stream.unwrap_or(&self.general))
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToClient for Outbox {
    fn send(&self, message: Outgoing) {
        let text = write::on_one_line(message.text);
        let receipt = Receipt::new(message.on_written);
        if !is_answer(&text) {
            let stream = self.stream_for(message.about.as_ref());
            return stream.push(text, receipt);
        }
        match message.about.or_else(|| id(&text)) {
            Some(id) => self.answer(&id, text, receipt),
            // An error that answers nobody.
            None => self.stream_for(None).push(text, receipt),
        }
    }
}

impl Streams {
    fn remove(&mut self, number: u64) -> Option<Arc<Stream>> {
        self.open.retain(|_, open| open.number != number);
        self.kept.retain(|kept| *kept != number);
        self.by_number.remove(&number)
    }

    /// Lets go what ended first. The last one stays, whatever its length.
    fn shorten(&mut self) {
        let mut bytes: usize = self.kept.iter().map(|number| self.bytes(*number)).sum();
        while self.kept.len() > 1
            && (self.kept.len() > MAX_KEPT || bytes > MAX_KEPT_BYTES)
            && let Some(number) = self.kept.pop_front()
        {
            bytes = bytes.saturating_sub(self.bytes(number));
            self.by_number.remove(&number);
        }
    }

    fn bytes(&self, number: u64) -> usize {
        let stream = self.by_number.get(&number);
        stream.map_or(0, |stream| stream.bytes())
    }
}

/// Whether a message answers, and so is neither a request nor a notification.
pub(super) fn is_answer(text: &str) -> bool {
    write::value_at(text, &["method"]).is_none()
}

/// A message's id.
pub(super) fn id(text: &str) -> Option<RequestId> {
    let id = write::value_at(text, &["id"])?;
    RequestId::from_value(&parse(id.as_bytes(), &MESSAGE_LIMITS).ok()?)
}

impl fmt::Debug for Outbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Outbox").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: usize) -> RequestId {
        RequestId::Integer(number.to_string().into())
    }

    fn answer(outbox: &Outbox, request: usize, result: &str) {
        outbox.send(Outgoing {
            text: write::result(&number(request), result),
            about: None,
            on_written: None,
        });
    }

    #[test]
    fn so_many_requests_wait_and_no_more() {
        let outbox = Outbox::new();
        for request in 0..MAX_OPEN {
            assert!(outbox.open(number(request), false).is_ok());
        }
        let opened = |request| outbox.open(number(request), false).map(|_| ());
        assert_eq!(opened(MAX_OPEN), Err(NotOpened::TooMany));
        assert_eq!(opened(0), Err(NotOpened::InUse));
        answer(&outbox, 0, "{}");
        assert_eq!(opened(0), Ok(()));
        outbox.give_up(&number(1));
        assert_eq!(opened(1), Ok(()));
    }

    #[test]
    fn what_has_ended_is_kept_within_bounds() {
        let outbox = Outbox::new();
        let kept = || outbox.lock().by_number.len();
        for request in 0..2 * MAX_KEPT {
            outbox.open(number(request), false).unwrap();
            answer(&outbox, request, "{}");
        }
        assert_eq!(kept(), MAX_KEPT);
        assert!(outbox.find(2 * MAX_KEPT as u64).is_some());
        assert!(outbox.find(1).is_none());
        let long = format!("{{\"x\":\"{}\"}}", "x".repeat(MAX_KEPT_BYTES / 3));
        for request in 0..4 {
            outbox.open(number(request), false).unwrap();
            answer(&outbox, request, &long);
        }
        assert_eq!(kept(), 2);
        outbox.end();
        assert_eq!(kept(), 0);
    }
}
