//! Several processes on one file.

use std::path::Path;
use std::thread;
use std::time::Duration;

use countersign_dispatch::ledger::Error;
use countersign_ledger_sqlite::Limits;

use crate::children::{Actor, listen, say};
use crate::stage::{IMPATIENT, Stage, count, now, numbers, open, raw, write_note};

const THREADS: i64 = 4;
const EACH: i64 = 50;

/// A child: writes from several threads, and says how long the slowest write took.
pub(crate) fn write_many(ledger: &Path, name: &str) {
    let engine = open(ledger, Limits::default()).unwrap();
    say("ready");
    listen();
    let slowest = thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let engine = &engine;
                scope.spawn(move || {
                    let mut slowest = Duration::ZERO;
                    for number in 0..EACH {
                        let started = now();
                        write_note(engine, name, thread * EACH + number).unwrap();
                        slowest = slowest.max(started.elapsed());
                    }
                    slowest
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|w| w.join().unwrap())
            .max()
            .unwrap()
    });
    say(&slowest.as_millis().to_string());
}

/// A child: writes one note as soon as it is told to.
pub(crate) fn write_when_told(ledger: &Path) {
    let engine = open(ledger, Limits::default()).unwrap();
    say("ready");
    listen();
    write_note(&engine, "announced", 1).unwrap();
    say("written");
}

/// A child: keeps the write lock until it is told to let go.
pub(crate) fn hold_lock(ledger: &Path) {
    let connection = raw(ledger);
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    say("held");
    listen();
    connection.execute_batch("ROLLBACK").unwrap();
    say("released");
}

#[test]
fn six_processes_write_to_one_file() {
    let stage = Stage::new();
    let names = ["p1", "p2", "p3", "p4", "p5", "p6"];
    let mut children: Vec<_> = names
        .iter()
        .map(|name| Actor::start(&format!("write {name}"), &stage.path()))
        .collect();
    for child in &mut children {
        child.expect("ready");
    }
    for child in &mut children {
        child.go_on();
    }
    for mut child in children {
        let slowest: u64 = child.hear().unwrap().parse().unwrap();
        assert!(slowest < 5_000, "a write took {slowest} ms");
        child.finish();
    }
    let engine = stage.open();
    for name in names {
        assert_eq!(
            numbers(&engine, name),
            (0..THREADS * EACH).collect::<Vec<_>>()
        );
    }
    assert_eq!(count(&engine), 6 * THREADS * EACH * 2);
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for_within_bounds() {
    let stage = Stage::new();
    let engine = open(&stage.path(), IMPATIENT).unwrap();
    let mut holder = Actor::start("hold", &stage.path());
    holder.expect("held");
    let started = now();
    assert_eq!(write_note(&engine, "w", 1), Err(Error::Busy));
    let waited = started.elapsed();
    assert!(waited >= IMPATIENT.lock_wait, "{waited:?}");
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    assert_eq!(count(&engine), 0, "reads go on");

    // One that waits long enough gets through when the lock is free.
    thread::scope(|scope| {
        let patient = open(&stage.path(), Limits::default()).unwrap();
        let write = scope.spawn(move || write_note(&patient, "w", 2));
        holder.go_on();
        holder.expect("released");
        write.join().unwrap().unwrap();
    });
    write_note(&engine, "w", 3).unwrap();
    assert_eq!(numbers(&engine, "w"), [2, 3]);
}

#[test]
fn a_killed_holder_of_the_lock_holds_nobody_up() {
    let stage = Stage::new();
    let engine = stage.open();
    let mut holder = Actor::start("hold", &stage.path());
    holder.expect("held");
    holder.kill();
    write_note(&engine, "w", 1).unwrap();
}
