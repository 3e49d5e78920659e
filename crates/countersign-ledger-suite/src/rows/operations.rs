//! The table of operations.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{Backend, OperationFilter, StateKind};

use crate::build::Build;
use crate::plain::{document, keys, open, open_record, operation, read, try_write, update, write};
use crate::sample::Sample;
use crate::states::state;

/// Each state comes back as it was written, with what was asked for.
pub fn an_operation_is_given_back_as_it_was<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    for kind in StateKind::ALL {
        let sample = Sample::new(kind.as_str());
        let mut record = sample.record(state(kind, &sample, at), at);
        record.due_at = Some(at);
        record.is_dead_letter = true;
        open_record(&backend, &record);
        let other = build.open();
        let row = operation(&other, &sample);
        assert_eq!(row, Some(record.to_row()), "{kind:?}");
        let (scope, status_ref) = (sample.scope(), sample.status_ref());
        read(&other, |rows| {
            assert_eq!(rows.operation_by_ref(&status_ref)?, row, "{kind:?}");
            assert_eq!(rows.proposal(&scope)?, Some(document(1)));
            assert_eq!(rows.receipt(&scope)?, None);
            Ok(())
        });
    }
    let absent = Sample::new("absent");
    read(&backend, |rows| {
        assert_eq!(rows.operation(&absent.scope())?, None);
        assert_eq!(rows.operation_by_ref(&absent.status_ref())?, None);
        assert_eq!(rows.proposal(&absent.scope())?, None);
        Ok(())
    });
}

/// All columns change together.
pub fn an_operation_changes_whole<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let sample = Sample::new("1");
    for from in StateKind::ALL {
        for to in StateKind::ALL {
            open(&backend, &sample, state(from, &sample, at), at);
            let mut record = sample.record(state(to, &sample, at), at);
            record.fence = 7;
            record.due_at = Some(at);
            update(&backend, &record);
            let row = operation(&backend, &sample);
            assert_eq!(row, Some(record.to_row()), "{from:?} to {to:?}");
        }
    }
}

/// What is not there cannot change, and an operation keeps its handle.
pub fn what_is_not_there_cannot_change<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let sample = Sample::new("1");
    let waiting = |sample: &Sample| {
        let state = state(StateKind::AwaitingApproval, sample, at);
        sample.record(state, at).to_row()
    };
    let row = waiting(&sample);
    let changed = try_write(&backend, move |tables| tables.operation_update(&row));
    assert!(matches!(changed, Err(Error::Damaged(_))), "{changed:?}");
    assert_eq!(operation(&backend, &sample), None);

    let before = waiting(&sample);
    let opened = before.clone();
    write(&backend, move |tables| {
        tables.operation_open(&opened, &document(1))
    });
    // The same scope, another request: another handle.
    let other = waiting(&sample.clone().with_number(2));
    assert_eq!(other.scope, before.scope);
    let changed = try_write(&backend, move |tables| tables.operation_update(&other));
    assert!(matches!(changed, Err(Error::Damaged(_))), "{changed:?}");
    assert_eq!(operation(&backend, &sample), Some(before));
}

/// Two operations never share a handle.
pub fn a_handle_names_one_operation<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (one, two) = (Sample::new("1"), Sample::new("2"));
    let first = open(&backend, &one, state(StateKind::Succeeded, &one, at), at);
    let mut second = two.record(state(StateKind::Succeeded, &two, at), at);
    second.terms.status_ref = one.status_ref();
    let row = second.to_row();
    let opened = try_write(&backend, move |tables| {
        tables.operation_open(&row, &document(1))
    });
    assert!(opened.is_err());
    assert_eq!(operation(&backend, &two), None);
    assert_eq!(operation(&backend, &one), Some(first.to_row()));
}

/// Under a scope that had an operation another one takes its place, with nothing left of what was asked and answered.
pub fn a_scope_is_opened_again<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (sample, later) = (Sample::new("1"), Sample::new("2"));
    let failed = open(&backend, &sample, state(StateKind::Failed, &sample, at), at);
    open(
        &backend,
        &later,
        state(StateKind::Succeeded, &later, at),
        at,
    );
    let scope = sample.scope();
    write(&backend, {
        let scope = scope.clone();
        move |tables| tables.receipt_insert(&scope, &document(2))
    });
    // Once for the same request, once for another one.
    for again in [sample.clone(), sample.clone().with_number(2)] {
        let record = again.record(state(StateKind::AwaitingApproval, &again, at), at);
        let row = record.to_row();
        write(&backend, move |tables| {
            tables.operation_open(&row, &document(3))
        });
        read(&backend, |rows| {
            assert_eq!(rows.operation(&scope)?, Some(record.to_row()));
            assert_eq!(rows.proposal(&scope)?, Some(document(3)));
            assert_eq!(rows.receipt(&scope)?, None);
            let by_ref = rows.operation_by_ref(&again.status_ref())?;
            assert_eq!(by_ref, Some(record.to_row()));
            Ok(())
        });
        assert_eq!(all(&backend), ["key-1", "key-2"], "it is the newest");
    }
    let old = read(&backend, |rows| {
        rows.operation_by_ref(&failed.terms.status_ref)
    });
    assert_eq!(old, None, "the old handle names nothing");
}

/// A removed operation leaves nothing behind; one that is not there may be removed.
pub fn an_operation_is_removed_whole<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (gone, kept) = (Sample::new("1"), Sample::new("2"));
    for sample in [&gone, &kept] {
        open(&backend, sample, state(StateKind::Unknown, sample, at), at);
        let scope = sample.scope();
        write(&backend, move |tables| {
            tables.receipt_insert(&scope, &document(2))
        });
    }
    for _ in 0..2 {
        let scope = gone.scope();
        write(&backend, move |tables| tables.operation_remove(&scope));
        read(&backend, |rows| {
            assert_eq!(rows.operation(&gone.scope())?, None);
            assert_eq!(rows.operation_by_ref(&gone.status_ref())?, None);
            assert_eq!(rows.proposal(&gone.scope())?, None);
            assert_eq!(rows.receipt(&gone.scope())?, None);
            assert!(rows.operation(&kept.scope())?.is_some());
            assert_eq!(rows.receipt(&kept.scope())?, Some(document(2)));
            assert_eq!(rows.open_counts()?.unknown, 1);
            Ok(())
        });
        assert_eq!(all(&backend), ["key-2"]);
    }
}

fn all<B: Backend>(backend: &B) -> Vec<String> {
    let found = read(backend, |rows| {
        rows.operations(&OperationFilter::default(), None, 10)
    });
    keys(&found.into_iter().map(|(_, row)| row).collect::<Vec<_>>())
}
