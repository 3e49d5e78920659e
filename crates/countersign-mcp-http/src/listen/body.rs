//! The bodies of answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::calls::Held;
use super::socket::Written;
use super::stream::{Event, Next, Reader, Receipt};
use crate::sse::encode::{self, EventId};

/// What is answered with.
pub(super) enum AnswerBody {
    Empty,
    Whole(Option<Whole>),
    Events(Box<Events>),
}

/// One message.
pub(super) struct Whole {
    pub(super) text: Bytes,
    /// Who hears that it is out, and on which connection it goes.
    pub(super) receipt: Option<(Receipt, Arc<Written>)>,
}

/// Messages as they come.
pub(super) struct Events {
    first: Option<Bytes>,
    first_receipt: Option<Receipt>,
    reader: Reader,
    /// The stream's number in its session, where it can be resumed.
    number: Option<u64>,
    keep_alive: Interval,
    written: Arc<Written>,
    /// Cancels the request when the client goes.
    _held: Option<Held>,
}

/// A stream ends before its end: its client is too slow, or reads it elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream was cut")]
pub(super) struct Cut;

impl Events {
    /// A stream whose `first` message has been taken from its reader already.
    pub(super) fn new(
        reader: Reader,
        first: Option<Event>,
        number: Option<u64>,
        keep_alive: Duration,
        written: Arc<Written>,
        held: Option<Held>,
    ) -> Self {
        let mut keep_alive = interval(keep_alive);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is at once.
        keep_alive.reset();
        Self {
            first: Some(match &first {
                Some(event) => encoded(number, event),
                None => Bytes::from_static(encode::COMMENT),
            }),
            first_receipt: first.map(|event| event.receipt),
            reader,
            number,
            keep_alive,
            written,
            _held: held,
        }
    }

    /// Begins with an event that can be resumed from before there is any message.
    pub(super) fn begun(mut self) -> Self {
        if let Some(stream) = self.number {
            self.first = Some(encode::beginning(EventId { stream, event: 0 }));
        }
        self
    }

    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Cut>>> {
        if let Some(first) = self.first.take() {
            if let Some(receipt) = self.first_receipt.take() {
                self.written.note(receipt);
            }
            return Poll::Ready(Some(Ok(first)));
        }
        match self.reader.poll_next(context) {
            Poll::Ready(Next::Event(event)) => {
                self.keep_alive.reset();
                let bytes = encoded(self.number, &event);
                self.written.note(event.receipt);
                Poll::Ready(Some(Ok(bytes)))
            }
            Poll::Ready(Next::End) => Poll::Ready(None),
            Poll::Ready(Next::Cut) => Poll::Ready(Some(Err(Cut))),
            Poll::Pending => {
                std::task::ready!(self.keep_alive.poll_tick(context));
                Poll::Ready(Some(Ok(Bytes::from_static(encode::COMMENT))))
            }
        }
    }
}

fn encoded(number: Option<u64>, event: &Event) -> Bytes {
    let id = number.map(|stream| EventId {
        stream,
        event: event.number,
    });
    encode::message(id, &event.text)
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Whole(whole) => Poll::Ready(whole.take().map(|whole| {
                if let Some((receipt, written)) = whole.receipt {
                    written.note(receipt);
                }
                Ok(Frame::data(whole.text))
            })),
            Self::Events(events) => {
                let bytes = std::task::ready!(events.poll_bytes(context));
                Poll::Ready(bytes.map(|bytes| bytes.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Empty | Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty | Self::Whole(None) => SizeHint::with_exact(0),
            Self::Whole(Some(whole)) => {
                SizeHint::with_exact(u64::try_from(whole.text.len()).unwrap_or(u64::MAX))
            }
            Self::Events(_) => SizeHint::new(),
        }
    }
}
