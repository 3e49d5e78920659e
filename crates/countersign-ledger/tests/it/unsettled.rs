//! Attempts of which the ledger could not confirm the beginning or the end, of a host that lives on.

use countersign_contract::UtcSecond;
use countersign_dispatch::ledger::{Cause, Error, Ledger as _};
use countersign_dispatch::{Fence, Reserved, Settled, Settlement};
use countersign_ledger::{
    DurableLedger, Inspection as _, InstanceId, Lifetimes, MemoryBackend, StateKind, Work as _,
};
use countersign_ledger_suite::{Faults, Faulty, LedgerFault, SettableClock};

use crate::writes::Write;

type Host = DurableLedger<Faulty<MemoryBackend>>;

#[test]
fn a_settlement_that_failed_leaves_an_unknown_outcome_while_its_host_lives() {
    let (host, faults) = host();
    let write = Write::new("key", 1);
    let fence = begin(&host, &write);
    faults.meet(Some(LedgerFault::Fails));
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Err(Error::Unavailable(Cause::Io)));
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
    let (host, faults) = host();
    let write = Write::new("key", 1);
    let fence = begin(&host, &write);
    faults.meet(Some(LedgerFault::WritesUnconfirmed));
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Err(Error::Unconfirmed));
    assert_eq!(host.recover(9), Ok(0));
    let found = host.operation(&write.status_ref()).unwrap().unwrap();
    assert_eq!(found.record.kind(), StateKind::Succeeded);
}

#[test]
fn a_reservation_that_was_written_and_not_confirmed_becomes_unknown() {
    let (host, faults) = host();
    let write = Write::new("key", 1);
    faults.meet(Some(LedgerFault::WritesUnconfirmed));
    let approval = write.evidence("approval", UtcSecond::MAX);
    let reserved = host.reserve(&write.reservation(approval));
    assert!(matches!(reserved, Err(Error::Unconfirmed)), "{reserved:?}");
    assert_eq!(host.recover(9), Ok(1));
    assert_eq!(kind(&host, &write), Some(StateKind::Unknown));
}

#[test]
fn an_attempt_that_goes_on_is_not_taken_for_one_that_was_lost() {
    let (host, faults) = host();
    let write = Write::new("key", 1);
    // Nothing of this one is written, so that a later one may begin.
    faults.meet(Some(LedgerFault::Fails));
    let approval = || write.evidence("approval", UtcSecond::MAX);
    let reserved = host.reserve(&write.reservation(approval()));
    assert!(
        matches!(reserved, Err(Error::Unavailable(Cause::Io))),
        "{reserved:?}"
    );
    let fence = begin(&host, &write);
    // Others who ask meanwhile are told that it is taken, and are not the ones who hold it.
    let other = host.reserve(&write.reservation(approval()));
    assert!(matches!(other, Ok(Reserved::Occupied(_))), "{other:?}");
    assert_eq!(host.recover(9), Ok(0));
    assert_eq!(kind(&host, &write), Some(StateKind::Executing));
    let settled = host.settle(&write.scope(), fence, &done(&write));
    assert_eq!(settled, Ok(Settled::Written));
}

fn host() -> (Host, Faults) {
    let clock = SettableClock::default();
    let faults = Faults::default();
    let backend = Faulty::new(MemoryBackend::new(clock.clone()), faults.clone());
    let instance = InstanceId::new("host").unwrap();
    let ledger = DurableLedger::new(backend, instance, Lifetimes::default());
    (ledger.with_steady_clock(clock), faults)
}

fn begin(host: &Host, write: &Write) -> Fence {
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
fn kind(host: &Host, write: &Write) -> Option<StateKind> {
    let task = host.task(&write.scope()).unwrap();
    task.map(|task| task.record.kind())
}
