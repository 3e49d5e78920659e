//! Writes that fail, and writes of which nobody can tell.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{Backend, Rows, Tables, Version};

/// What happens to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerFault {
    /// Nothing is written, and the error says so.
    Fails,
    /// It is written, and nobody can tell.
    WritesUnconfirmed,
    /// It is not written, and nobody can tell.
    FailsUnconfirmed,
}

/// What happens to the next write. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Option<LedgerFault>>>);

impl Faults {
    /// Says what happens to it; nothing, where there is no fault.
    pub fn meet(&self, fault: Option<LedgerFault>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    fn take(&self) -> Option<LedgerFault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A back-end whose writes meet faults.
#[derive(Debug)]
pub struct Faulty<B> {
    inner: B,
    faults: Faults,
}

impl<B> Faulty<B> {
    /// A back-end that does what another does, where there is no fault.
    pub fn new(inner: B, faults: Faults) -> Self {
        Self { inner, faults }
    }
}

impl<B: Backend> Backend for Faulty<B> {
    fn write<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
    {
        match self.faults.take() {
            None => self.inner.write(name, body),
            Some(LedgerFault::Fails) => Err(Error::Unavailable(Cause::Io)),
            Some(LedgerFault::FailsUnconfirmed) => Err(Error::Unconfirmed),
            Some(LedgerFault::WritesUnconfirmed) => {
                self.inner.write(name, body)?;
                Err(Error::Unconfirmed)
            }
        }
    }

    fn read<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        F: FnOnce(&mut dyn Rows) -> Result<T, Error>,
    {
        self.inner.read(name, body)
    }

    fn version(&self) -> Version {
        self.inner.version()
    }

    fn wait(&self, since: Version, at_most: Duration) -> Version {
        self.inner.wait(since, at_most)
    }
}
