//! Attempts of which the ledger could not confirm the beginning or the end, of a host that lives on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_contract::UtcSecond;
use countersign_dispatch::ledger::{Error, Ledger as _};
use countersign_dispatch::{Fence, Reserved, Settled, Settlement};
use countersign_ledger::{
    Backend, DurableLedger, Inspection as _, InstanceId, Lifetimes, MemoryBackend, Rows, StateKind,
    Tables, Version, Work as _,
};
use countersign_ledger_suite::SettableClock;

use crate::writes::Write;

#[test]
fn a_settlement_that_failed_leaves_an_unknown_outcome_while_its_host_lives() {
    let (host, fault) = host();
    let write = Write::new("key", 1);
    let fence = begin(&host, &write);
    fault.meet(Fault::Fails);
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Err(Error::Busy));
    host.heartbeat().unwrap();
    assert_eq!(kind(&host, &write), Some(StateKind::Executing));
    assert_eq!(host.recover(9), Ok(1));
    assert_eq!(kind(&host, &write), Some(StateKind::Unknown));
    assert_eq!(host.recover(9), Ok(0));
    // Whoever says it too late says nothing any more.
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Ok(Settled::Stale));
}

#[test]
fn a_settlement_that_was_written_and_not_confirmed_stands() {
    let (host, fault) = host();
    let write = Write::new("key", 1);
    let fence = begin(&host, &write);
    fault.meet(Fault::WritesUnconfirmed);
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Err(Error::Unconfirmed));
    assert_eq!(host.recover(9), Ok(0));
    let found = host.operation(&write.status_ref()).unwrap().unwrap();
    assert_eq!(found.record.kind(), StateKind::Succeeded);
}

#[test]
fn a_reservation_that_was_written_and_not_confirmed_becomes_unknown() {
    let (host, fault) = host();
    let write = Write::new("key", 1);
    fault.meet(Fault::WritesUnconfirmed);
    let approval = write.evidence("approval", UtcSecond::MAX);
    let reserved = host.reserve(&write.reservation(approval));
    assert!(matches!(reserved, Err(Error::Unconfirmed)), "{reserved:?}");
    assert_eq!(host.recover(9), Ok(1));
    assert_eq!(kind(&host, &write), Some(StateKind::Unknown));
}

#[test]
fn an_attempt_that_goes_on_is_not_taken_for_one_that_was_lost() {
    let (host, fault) = host();
    let write = Write::new("key", 1);
    // Nothing of this one is written, so that a later one may begin.
    fault.meet(Fault::Fails);
    let approval = || write.evidence("approval", UtcSecond::MAX);
    let reserved = host.reserve(&write.reservation(approval()));
    assert!(matches!(reserved, Err(Error::Busy)), "{reserved:?}");
    let fence = begin(&host, &write);
    // Others who ask meanwhile are told that it is taken, and are not the ones who hold it.
    let other = host.reserve(&write.reservation(approval()));
    assert!(matches!(other, Ok(Reserved::Occupied(_))), "{other:?}");
    assert_eq!(host.recover(9), Ok(0));
    assert_eq!(kind(&host, &write), Some(StateKind::Executing));
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Ok(Settled::Written));
}

fn host() -> (DurableLedger<Faulty>, NextFault) {
    let clock = SettableClock::default();
    let fault = NextFault::default();
    let backend = Faulty {
        inner: MemoryBackend::new(clock.clone()),
        fault: fault.clone(),
    };
    let instance = InstanceId::new("host").unwrap();
    let ledger = DurableLedger::new(backend, instance, Lifetimes::default());
    (ledger.with_steady_clock(clock), fault)
}

fn begin(host: &DurableLedger<Faulty>, write: &Write) -> Fence {
    let approval = write.evidence("approval", UtcSecond::MAX);
    let reserved = host.reserve(&write.reservation(approval)).unwrap();
    let Reserved::Taken(lease) = reserved else {
        panic!("{reserved:?}");
    };
    lease.fence
}

fn done(write: &Write) -> Settlement {
    Settlement::Succeeded(write.answer())
}

/// How an operation stands, while it is open.
fn kind(host: &DurableLedger<Faulty>, write: &Write) -> Option<StateKind> {
    let task = host.task(&write.scope()).unwrap();
    task.map(|task| task.record.kind())
}

#[derive(Clone, Copy)]
enum Fault {
    Fails,
    WritesUnconfirmed,
}

/// What happens to the next write.
#[derive(Clone, Default)]
struct NextFault(Arc<Mutex<Option<Fault>>>);

impl NextFault {
    fn meet(&self, fault: Fault) {
        *self.0.lock().unwrap() = Some(fault);
    }
}

struct Faulty {
    inner: MemoryBackend,
    fault: NextFault,
}

impl Backend for Faulty {
    fn write<T, F>(&self, name: &'static str, body: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
    {
        let fault = self.fault.0.lock().unwrap().take();
        match fault {
            None => self.inner.write(name, body),
            Some(Fault::Fails) => Err(Error::Busy),
            Some(Fault::WritesUnconfirmed) => {
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
