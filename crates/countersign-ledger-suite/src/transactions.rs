//! What holds of every transaction, and of waiting for one.

use std::thread;
use std::time::Duration;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{ApprovalKey, AuditRow, Backend, CallRow, IntentRow, StateKind, Tables};

use crate::build::{Build, BuildAcrossProcesses};
use crate::plain::{document, open, operation, read, try_write, write};
use crate::rows::standing::grant;
use crate::running::{PATIENCE, running_time, survive, together};
use crate::sample::{Sample, instance, tenant};
use crate::states::state;

/// Something in every table.
fn write_everywhere(
    tables: &mut dyn Tables,
    sample: &Sample,
    grant: &countersign_ledger::GrantRow,
) -> Result<(), Error> {
    let at = tables.now();
    let scope = sample.scope();
    let executing = sample.record(state(StateKind::Executing, sample, at), at);
    tables.operation_open(&executing.to_row(), &document(1))?;
    let call = CallRow {
        fingerprint: sample.fingerprint(),
        scope: scope.clone(),
    };
    tables.call_insert(&sample.identity(), &call)?;
    let intent = IntentRow {
        generation: 0,
        scope: scope.clone(),
    };
    tables.intent_put(&sample.intent_digest(), &intent)?;
    tables.receipt_insert(&scope, &document(2))?;
    tables.approval_use_insert(&approval(sample), &scope)?;
    tables.instance_put(&instance("host-1"), Some(at))?;
    tables.grant_put(grant)?;
    let sequence = tables.audit_head(&sample.principal.tenant_id)? + 1;
    tables.audit_append(&AuditRow {
        tenant_id: sample.principal.tenant_id.clone(),
        sequence,
        document: document(3),
    })
}

fn approval(sample: &Sample) -> ApprovalKey {
    let evidence = sample.evidence("a", "dana", countersign_contract::UtcSecond::MAX);
    ApprovalKey {
        approval_id: evidence.approval_id,
        digest: evidence.digest,
    }
}

/// In how many of the tables there is something of a sample.
fn traces<B: Build>(build: &B, sample: &Sample) -> usize {
    let scope = sample.scope();
    read(&build.open(), |rows| {
        let traces = [
            rows.operation(&scope)?.is_some(),
            rows.operation_by_ref(&sample.status_ref())?.is_some(),
            rows.proposal(&scope)?.is_some(),
            rows.receipt(&scope)?.is_some(),
            rows.call(&sample.identity())?.is_some(),
            rows.intent(&sample.intent_digest())?.is_some(),
            rows.approval_use(&approval(sample))?.is_some(),
            rows.instance(&instance("host-1"))?.is_some(),
            !rows.grants(None, None, 1)?.is_empty(),
            rows.audit_head(&sample.principal.tenant_id)? > 0,
            rows.open_counts()?.executing > 0,
        ];
        Ok(traces.into_iter().filter(|trace| *trace).count())
    })
}

const ALL_TRACES: usize = 11;
const FAILURE: Error = Error::Unavailable(Cause::ReadOnly);

/// Whatever a body wrote before it failed is gone, and its own error comes out.
pub fn a_failing_body_leaves_nothing<B: Build>(build: &B) {
    let backend = build.open();
    let sample = Sample::new("1");
    let standing = grant(build, "g", &sample, 1).to_row();
    let (own, row) = (sample.clone(), standing.clone());
    let failed: Result<(), _> = try_write(&backend, move |tables| {
        write_everywhere(tables, &own, &row)?;
        Err(FAILURE)
    });
    assert_eq!(failed, Err(FAILURE));
    assert_eq!(traces(build, &sample), 0);
    let own = sample.clone();
    write(&backend, move |tables| {
        write_everywhere(tables, &own, &standing)
    });
    assert_eq!(traces(build, &sample), ALL_TRACES);
}

/// A body that panics leaves nothing, and nobody else is harmed.
pub fn a_panicking_body_leaves_nothing<B: Build>(build: &B) {
    let backend = build.open();
    let sample = Sample::new("1");
    let standing = grant(build, "g", &sample, 1).to_row();
    let (own, row) = (sample.clone(), standing.clone());
    let ended = survive(|| {
        try_write::<_, ()>(&backend, move |tables| {
            write_everywhere(tables, &own, &row)?;
            panic!("a fault of this test");
        })
    });
    assert!(!matches!(ended, Some(Ok(()))), "{ended:?}");
    assert_eq!(traces(build, &sample), 0);
    for backend in [&backend, &build.open()] {
        let (own, row) = (sample.clone(), standing.clone());
        write(backend, move |tables| {
            tables.operation_remove(&own.scope()).ok();
            let _ = row;
            Ok(())
        });
    }
    write(&backend, move |tables| {
        write_everywhere(tables, &sample, &standing)
    });
}

/// A body may look at what it has written, and a read sees what was answered before it began, on every connection.
pub fn a_read_sees_what_was_answered<B: Build>(build: &B) {
    let (backend, other) = (build.open(), build.open());
    for number in 0..50 {
        let sample = Sample::new(&number.to_string());
        let (writer, reader) = if number % 2 == 0 {
            (&backend, &other)
        } else {
            (&other, &backend)
        };
        let own = sample.clone();
        write(writer, move |tables| {
            let at = tables.now();
            let record = own.record(state(StateKind::Unknown, &own, at), at);
            tables.operation_open(&record.to_row(), &document(1))?;
            assert!(tables.operation(&own.scope())?.is_some());
            assert_eq!(tables.proposal(&own.scope())?, Some(document(1)));
            Ok(())
        });
        assert!(operation(reader, &sample).is_some(), "{number}");
    }
}

/// Of many who write at once, some fail, and each of the others has what it wrote.
pub fn a_failing_neighbour_harms_nobody<B: Build>(build: &B) {
    const EACH: usize = 12;
    together(8, |racer| {
        let backend = build.open();
        for number in 0..EACH {
            let sample = Sample::new(&format!("{racer}-{number}"));
            let fails = (racer + number) % 3 == 0;
            let own = sample.clone();
            let written = try_write(&backend, move |tables| {
                let at = tables.now();
                let record = own.record(state(StateKind::Unknown, &own, at), at);
                tables.operation_open(&record.to_row(), &document(1))?;
                let sequence = tables.audit_head(&tenant("tenant-a"))? + 1;
                tables.audit_append(&AuditRow {
                    tenant_id: tenant("tenant-a"),
                    sequence,
                    document: document(2),
                })?;
                if fails { Err(FAILURE) } else { Ok(()) }
            });
            let expected = if fails { Err(FAILURE) } else { Ok(()) };
            assert_eq!(written, expected, "{racer}-{number}");
            assert_eq!(operation(&backend, &sample).is_some(), !fails);
        }
    });
    let succeeded = read(&build.open(), |rows| {
        let entries = rows.audit(&tenant("tenant-a"), 0, 1000)?;
        let numbers: Vec<_> = entries.iter().map(|row| row.sequence).collect();
        assert_eq!(numbers, (1..).take(numbers.len()).collect::<Vec<_>>());
        assert_eq!(rows.open_counts()?.unknown, numbers.len() as u64);
        Ok(numbers.len())
    });
    assert_eq!(succeeded, 8 * EACH * 2 / 3);
}

/// The time of a transaction is the ledger's, the same throughout, and not read before it is a transaction's turn.
pub fn the_time_is_the_ledgers<B: Build>(build: &B) {
    let (backend, clock) = (build.open(), build.clock());
    for step in [Duration::ZERO, Duration::from_millis(1), Duration::MAX] {
        clock.advance(step);
        let expected = clock.moment();
        assert_eq!(read(&backend, |rows| Ok(rows.now())), expected);
        assert_eq!(write(&backend, |tables| Ok(tables.now())), expected);
    }
    clock.set(countersign_ledger::Moment::from_milliseconds(5).unwrap());
    let moment = write(&build.open(), |tables| Ok(tables.now()));
    assert_eq!(moment.as_milliseconds(), 5, "a clock may be set back");
}

/// Whoever waits hears of a write on any connection, and hears of it at once when it was there before.
pub fn a_write_wakes_whoever_waits<B: Build>(build: &B) {
    let (waiting, writer) = (build.open(), build.open());
    let before = waiting.version();
    let (woken, took) = thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let started = running_time();
            let mut version = before;
            while version <= before && started.elapsed() < PATIENCE {
                version = waiting.wait(before, Duration::from_secs(5));
            }
            (version, started.elapsed())
        });
        let sample = Sample::new("1");
        let at = build.clock().moment();
        open(&writer, &sample, state(StateKind::Unknown, &sample, at), at);
        waiter.join().unwrap()
    });
    assert!(woken > before);
    assert!(took < Duration::from_secs(4), "{took:?}");
    // It was written already: nobody waits.
    let started = running_time();
    assert!(waiting.wait(before, PATIENCE) > before);
    assert!(started.elapsed() < Duration::from_secs(4));
}

/// A wait for what does not happen has its bound.
pub fn a_wait_is_bounded<B: Build>(build: &B) {
    let backend = build.open();
    let (version, started) = (backend.version(), running_time());
    let after = backend.wait(version, Duration::from_millis(50));
    assert!(after >= version);
    assert!(started.elapsed() < Duration::from_secs(4));
}

/// What was answered is there when all connections are gone and others come. For tables that outlast their connections.
pub fn what_was_answered_outlasts_its_connections<B: BuildAcrossProcesses>(build: &B) {
    let sample = Sample::new("1");
    let standing = grant(build, "g", &sample, 1).to_row();
    let backend = build.open();
    let own = sample.clone();
    write(&backend, move |tables| {
        write_everywhere(tables, &own, &standing)
    });
    drop(backend);
    assert_eq!(traces(build, &sample), ALL_TRACES);
}
