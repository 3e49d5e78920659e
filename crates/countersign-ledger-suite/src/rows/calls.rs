//! The table of call identities, and that of intents: both lead to an operation.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{CallRow, IntentRow, StateKind};

use crate::build::Build;
use crate::plain::{open, operation, read, try_write, write};
use crate::sample::Sample;
use crate::states::state;

fn call_row(sample: &Sample) -> CallRow {
    CallRow {
        fingerprint: sample.fingerprint(),
        scope: sample.scope(),
    }
}

/// Several calls may be bound to one operation; one call to one only.
pub fn a_call_is_bound_once<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (one, other) = (Sample::new("1"), Sample::new("2"));
    for sample in [&one, &other] {
        open(
            &backend,
            sample,
            state(StateKind::Succeeded, sample, at),
            at,
        );
    }
    let joined = one.clone().by_call("joined");
    for sample in [&one, &joined] {
        let (identity, row) = (sample.identity(), call_row(sample));
        write(&backend, move |tables| tables.call_insert(&identity, &row));
    }
    for row in [call_row(&one), call_row(&other)] {
        let identity = one.identity();
        let bound = try_write(&backend, move |tables| tables.call_insert(&identity, &row));
        assert!(matches!(bound, Err(Error::Damaged(_))), "{bound:?}");
    }
    read(&build.open(), |rows| {
        assert_eq!(rows.call(&one.identity())?, Some(call_row(&one)));
        assert_eq!(rows.call(&joined.identity())?, Some(call_row(&joined)));
        assert_eq!(rows.call(&other.identity())?, None);
        Ok(())
    });
}

/// Every part of an identity counts.
pub fn calls_are_told_apart_by_each_part<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let sample = Sample::new("1");
    open(
        &backend,
        &sample,
        state(StateKind::Succeeded, &sample, at),
        at,
    );
    let (identity, row) = (sample.identity(), call_row(&sample));
    write(&backend, move |tables| tables.call_insert(&identity, &row));
    let mut others = vec![
        sample.clone().of_tenant("tenant-b").identity(),
        sample.clone().of_subject("subject-b").identity(),
        sample.clone().by_call("call-2").identity(),
    ];
    let mut response = sample.identity();
    response.response_id = countersign_contract::ResponseId::new("response-2").unwrap();
    others.push(response);
    let mut profile = sample.identity();
    profile.profile = countersign_contract::Profile::AnthropicMessages;
    others.push(profile);
    // Neighbouring parts do not run into each other.
    let mut shifted = sample.identity();
    shifted.response_id = countersign_contract::ResponseId::new("response-1call").unwrap();
    shifted.call_id = countersign_contract::CallId::new("-1").unwrap();
    others.push(shifted);
    read(&backend, |rows| {
        for other in others {
            assert_eq!(rows.call(&other)?, None, "{other:?}");
        }
        Ok(())
    });
}

/// Nothing is bound to what is not there; what is bound outlasts a reopening, and goes with the operation.
pub fn calls_last_as_long_as_their_operation<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let sample = Sample::new("1");
    let insert = || {
        let (identity, row) = (sample.identity(), call_row(&sample));
        try_write(&backend, move |tables| tables.call_insert(&identity, &row))
    };
    assert!(matches!(insert(), Err(Error::Damaged(_))));
    let call = || read(&backend, |rows| rows.call(&sample.identity()));
    assert_eq!(call(), None);
    open(&backend, &sample, state(StateKind::Failed, &sample, at), at);
    insert().unwrap();
    open(
        &backend,
        &sample,
        state(StateKind::Executing, &sample, at),
        at,
    );
    assert_eq!(call(), Some(call_row(&sample)));
    let scope = sample.scope();
    write(&backend, move |tables| tables.operation_remove(&scope));
    assert_eq!(call(), None);
    open(
        &backend,
        &sample,
        state(StateKind::Executing, &sample, at),
        at,
    );
    assert_eq!(call(), None);
    insert().unwrap();
}

/// An intent names its latest effect.
pub fn an_intent_names_its_latest_effect<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (first, second) = (Sample::new("1"), Sample::new("2"));
    let digest = first.intent_digest();
    assert_eq!(read(&backend, |rows| rows.intent(&digest)), None);
    for (generation, sample) in [(0, &first), (1, &second)] {
        open(
            &backend,
            sample,
            state(StateKind::Succeeded, sample, at),
            at,
        );
        let row = IntentRow {
            generation,
            scope: sample.scope(),
        };
        let put = row.clone();
        write(&backend, move |tables| tables.intent_put(&digest, &put));
        assert_eq!(read(&build.open(), |rows| rows.intent(&digest)), Some(row));
    }
    let other = first.with_number(2).intent_digest();
    assert_eq!(read(&backend, |rows| rows.intent(&other)), None);
    // It stays with an operation that is opened again.
    open(
        &backend,
        &second,
        state(StateKind::Executing, &second, at),
        at,
    );
    let found = read(&backend, |rows| rows.intent(&digest)).unwrap();
    assert_eq!((found.generation, found.scope), (1, second.scope()));
}

/// An operation that an intent names stays: without it the same key would be made again.
pub fn an_intent_keeps_its_operation<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let (first, second) = (Sample::new("1"), Sample::new("2"));
    let digest = first.intent_digest();
    let put = |generation, sample: &Sample| {
        let row = IntentRow {
            generation,
            scope: sample.scope(),
        };
        try_write(&backend, move |tables| tables.intent_put(&digest, &row))
    };
    let remove = |sample: &Sample| {
        let scope = sample.scope();
        try_write(&backend, move |tables| tables.operation_remove(&scope))
    };
    assert!(put(0, &first).is_err(), "it names nothing");
    for sample in [&first, &second] {
        open(
            &backend,
            sample,
            state(StateKind::Succeeded, sample, at),
            at,
        );
    }
    put(0, &first).unwrap();
    assert!(remove(&first).is_err());
    assert!(operation(&backend, &first).is_some());
    put(1, &second).unwrap();
    remove(&first).unwrap();
    assert!(remove(&second).is_err());
}
