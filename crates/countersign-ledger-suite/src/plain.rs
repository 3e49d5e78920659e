//! Transactions without a story: what the cases of single tables are written with.

use countersign_dispatch::ledger::Error;
use countersign_ledger::{Backend, Document, Moment, OperationRow, Record, Rows, State, Tables};

use crate::sample::{Sample, json};

/// One transaction that has to succeed.
pub(crate) fn write<B: Backend, T: Send + 'static>(
    backend: &B,
    body: impl FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
) -> T {
    try_write(backend, body).unwrap()
}

pub(crate) fn try_write<B: Backend, T: Send + 'static>(
    backend: &B,
    body: impl FnMut(&mut dyn Tables) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    backend.write("suite", body)
}

pub(crate) fn read<B: Backend, T>(
    backend: &B,
    body: impl FnOnce(&mut dyn Rows) -> Result<T, Error>,
) -> T {
    backend.read("suite", body).unwrap()
}

/// Opens an operation in a state.
pub(crate) fn open<B: Backend>(backend: &B, sample: &Sample, state: State, at: Moment) -> Record {
    let record = sample.record(state, at);
    open_record(backend, &record);
    record
}

pub(crate) fn open_record<B: Backend>(backend: &B, record: &Record) {
    let row = record.to_row();
    write(backend, move |tables| {
        tables.operation_open(&row, &document(1))
    });
}

pub(crate) fn update<B: Backend>(backend: &B, record: &Record) {
    let row = record.to_row();
    write(backend, move |tables| tables.operation_update(&row));
}

pub(crate) fn operation<B: Backend>(backend: &B, sample: &Sample) -> Option<OperationRow> {
    read(backend, |rows| rows.operation(&sample.scope()))
}

/// Some document. A back-end does not care which.
pub(crate) fn document(number: u32) -> Document {
    Document::of(&json(&format!(
        r#"{{"number": {number}, "text": "\u0000 ä 😀"}}"#
    )))
}

/// The keys of operations, to compare lists by.
pub(crate) fn keys(rows: &[OperationRow]) -> Vec<String> {
    let keys = rows.iter().map(|row| row.scope.key.as_str().to_owned());
    keys.collect()
}
