//! One connection's bytes: how long they may wait, and when they are out.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::stream::Receipt;

/// A connection that fails when its client takes nothing for too long, and says when everything is out.
pub(super) struct Socket {
    inner: TokioIo<TcpStream>,
    write_limit: Duration,
    /// Runs while the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    written: Arc<Written>,
}

/// Whose messages have been handed to the connection, and are not out yet.
#[derive(Debug, Default)]
pub(super) struct Written(Mutex<Vec<Receipt>>);

impl Written {
    /// Notes a message whose bytes the connection takes now.
    pub(super) fn note(&self, receipt: Receipt) {
        self.lock().push(receipt);
    }

    fn sign(&self) {
        let receipts = std::mem::take(&mut *self.lock());
        for receipt in receipts {
            receipt.sign();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Receipt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Socket {
    pub(super) fn new(stream: TcpStream, write_limit: Duration, written: Arc<Written>) -> Self {
        Self {
            inner: TokioIo::new(stream),
            write_limit,
            stalled: None,
            written,
        }
    }

    /// Fails what has been pending for too long.
    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        found: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if found.is_ready() {
            self.stalled = None;
            return found;
        }
        let limit = self.write_limit;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let found = Pin::new(&mut self.inner).poll_write(context, buffer);
        self.bounded(context, found)
    }

    /// It is called when everything that was buffered has been written: the operating system has taken each byte before.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let found = Pin::new(&mut self.inner).poll_flush(context);
        if matches!(found, Poll::Ready(Ok(()))) {
            self.written.sign();
        }
        found
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let found = Pin::new(&mut self.inner).poll_write_vectored(context, buffers);
        self.bounded(context, found)
    }
}
