//! Group commit: who is together in one, and who harms whom.

use std::panic;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger::{LedgerClock, Moment};
use countersign_ledger_sqlite::{Classify, Engine, Limits};

use crate::stage::{IMPATIENT, SCHEMA, Stage, count, now, numbers, open, put, write_note};

/// Holds the writer in a transaction until the sender is dropped.
fn hold_writer<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    engine: &'scope Engine,
) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel();
    let begun = Arc::new(Barrier::new(2));
    let mut to_begin = Some(Arc::clone(&begun));
    scope.spawn(move || {
        engine
            .write("hold", move |_, _| {
                // A body may run twice.
                if let Some(barrier) = to_begin.take() {
                    barrier.wait();
                }
                let _: Result<(), _> = held.recv();
                Ok(())
            })
            .unwrap();
    });
    begun.wait();
    release
}

#[test]
fn neighbours_share_one_commit() {
    let stage = Stage::new();
    let engine = stage.open();
    thread::scope(|scope| {
        let release = hold_writer(scope, &engine);
        let writers: Vec<_> = (0..20)
            .map(|number| {
                let engine = &engine;
                scope.spawn(move || write_note(engine, "a", number))
            })
            .collect();
        wait_until_queued(&engine, 20);
        drop(release);
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
    });
    let counts = engine.counts();
    assert_eq!(counts.transactions, 21);
    assert_eq!(
        counts.commits, 1,
        "all of them waited while the first was under way"
    );
    assert_eq!(numbers(&engine, "a").len(), 20);
}

/// Waits until so many transactions are in the queue.
fn wait_until_queued(engine: &Engine, transactions: usize) {
    while engine.queued() < transactions {
        thread::yield_now();
    }
}

#[test]
fn a_batch_has_its_bound() {
    let stage = Stage::new();
    let limits = Limits {
        batch: 8,
        ..Limits::default()
    };
    let engine = open(&stage.path(), limits).unwrap();
    thread::scope(|scope| {
        let release = hold_writer(scope, &engine);
        for number in 0..23 {
            let engine = &engine;
            scope.spawn(move || write_note(engine, "a", number).unwrap());
        }
        wait_until_queued(&engine, 23);
        drop(release);
    });
    assert_eq!(engine.counts().transactions, 24);
    assert_eq!(engine.counts().commits, 3);
}

#[test]
fn a_failing_or_panicking_neighbour_undoes_only_itself() {
    // The panic's message belongs to this test; it would only look like a failure.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let stage = Stage::new();
    let engine = stage.open();
    let results: Vec<_> = thread::scope(|scope| {
        let release = hold_writer(scope, &engine);
        let writers: Vec<_> = (0..30)
            .map(|number| {
                let engine = &engine;
                scope.spawn(move || {
                    engine.write("mixed", move |connection, _| {
                        put(connection, "m", number, 0)?;
                        match number % 3 {
                            0 => put(connection, "m", number, 1),
                            // The row is there already.
                            1 => put(connection, "m", number, 0),
                            _ => panic!("a body panics"),
                        }
                    })
                })
            })
            .collect();
        wait_until_queued(&engine, 30);
        drop(release);
        writers.into_iter().map(|w| w.join().unwrap()).collect()
    });
    panic::set_hook(hook);
    for (number, result) in results.into_iter().enumerate() {
        let expected = if number % 3 == 0 {
            Ok(())
        } else {
            Err(Error::Unavailable(Cause::Fault))
        };
        assert_eq!(result, expected, "note {number}");
    }
    assert_eq!(engine.counts().commits, 1);
    let kept: Vec<i64> = (0..30).filter(|number| number % 3 == 0).collect();
    assert_eq!(numbers(&engine, "m"), kept);
    write_note(&engine, "after", 1).unwrap();
}

#[test]
fn a_body_that_undoes_the_whole_batch_is_refused_and_its_neighbours_run_again() {
    let stage = Stage::new();
    let engine = stage.open();
    let runs = Arc::new(AtomicU32::new(0));
    thread::scope(|scope| {
        let release = hold_writer(scope, &engine);
        let good = {
            let (engine, runs) = (&engine, Arc::clone(&runs));
            scope.spawn(move || {
                engine.write("good", move |connection, _| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    put(connection, "g", 1, 0)?;
                    put(connection, "g", 1, 1)
                })
            })
        };
        wait_until_queued(&engine, 1);
        let bad = {
            let engine = &engine;
            scope.spawn(move || {
                // What SQLite does by itself when memory or disk end in the middle of a statement.
                engine.write("bad", |connection, _| {
                    connection.execute_batch("ROLLBACK").classify()?;
                    Err::<(), _>(Error::Unavailable(Cause::DiskFull))
                })
            })
        };
        wait_until_queued(&engine, 2);
        drop(release);
        assert_eq!(bad.join().unwrap(), Err(Error::Unavailable(Cause::Fault)));
        assert_eq!(good.join().unwrap(), Ok(()));
    });
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    assert_eq!(numbers(&engine, "g"), [1]);
}

#[test]
fn a_full_queue_turns_callers_away_in_time() {
    let stage = Stage::new();
    let engine = open(&stage.path(), IMPATIENT).unwrap();
    thread::scope(|scope| {
        let release = hold_writer(scope, &engine);
        for number in 0..4 {
            let engine = &engine;
            scope.spawn(move || write_note(engine, "a", number).unwrap());
        }
        wait_until_queued(&engine, 4);
        let started = now();
        assert_eq!(write_note(&engine, "late", 1), Err(Error::Busy));
        let waited = started.elapsed();
        assert!(waited >= IMPATIENT.place_wait, "{waited:?}");
        assert!(waited < Duration::from_secs(5), "{waited:?}");
        drop(release);
    });
    assert_eq!(numbers(&engine, "a").len(), 4);
    assert!(numbers(&engine, "late").is_empty());
}

#[test]
fn whoever_leaves_before_its_turn_was_not_written() {
    let stage = Stage::new();
    let limits = Limits {
        answer_wait: Duration::from_millis(200),
        ..IMPATIENT
    };
    let engine = open(&stage.path(), limits).unwrap();
    let (release, held) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (started, is_started) = mpsc::channel();
        let held_body = {
            let engine = &engine;
            scope.spawn(move || {
                engine.write("hold", move |connection, _| {
                    started.send(()).unwrap();
                    let _ = held.recv();
                    put(connection, "held", 1, 0)?;
                    put(connection, "held", 1, 1)
                })
            })
        };
        is_started.recv().unwrap();
        assert_eq!(write_note(&engine, "gone", 1), Err(Error::Busy));
        assert_eq!(held_body.join().unwrap(), Err(Error::Unconfirmed));
        drop(release);
        write_note(&engine, "next", 1).unwrap();
    });
    assert!(numbers(&engine, "gone").is_empty());
    assert_eq!(numbers(&engine, "held"), [1], "it was written after all");
}

#[test]
fn closing_finishes_what_was_accepted() {
    let stage = Stage::new();
    let engine = Arc::new(stage.open());
    let writers: Vec<_> = (0..50)
        .map(|number| {
            let engine = Arc::clone(&engine);
            // The last of them drops the engine.
            thread::spawn(move || write_note(&engine, "a", number))
        })
        .collect();
    drop(engine);
    for writer in writers {
        writer.join().unwrap().unwrap();
    }
    assert_eq!(numbers(&stage.open(), "a").len(), 50);
    assert!(
        !stage
            .directory()
            .join("ledger.db-wal")
            .metadata()
            .is_ok_and(|m| m.len() > 0)
    );
}

#[derive(Debug)]
struct CountingClock(AtomicU32);

impl LedgerClock for CountingClock {
    fn now(&self) -> Result<Moment, Error> {
        Moment::from_milliseconds(self.0.fetch_add(1, Ordering::Relaxed).into())
            .ok_or(Error::Unavailable(Cause::Clock))
    }
}

#[test]
fn a_batch_has_one_time_and_later_ones_a_later() {
    let stage = Stage::new();
    let clock = Arc::new(CountingClock(AtomicU32::new(7)));
    let engine = Engine::open(&stage.path(), SCHEMA, Limits::default(), clock).unwrap();
    for expected in 7..10 {
        let moment = engine.write("time", |_, now| Ok(now)).unwrap();
        assert_eq!(moment.as_milliseconds(), expected);
    }
}

#[derive(Debug)]
struct BrokenClock;

impl LedgerClock for BrokenClock {
    fn now(&self) -> Result<Moment, Error> {
        panic!("a clock of somebody else's breaks")
    }
}

#[test]
fn nobody_waits_for_a_writer_that_has_ended() {
    let stage = Stage::new();
    let clock = Arc::new(BrokenClock);
    let engine = Engine::open(&stage.path(), SCHEMA, Limits::default(), clock).unwrap();
    let started = now();
    assert_eq!(write_note(&engine, "w", 1), Err(Error::Unconfirmed));
    let closed = Err(Error::Unavailable(Cause::Closed));
    // The thread's end may still be under way.
    while write_note(&engine, "w", 2) != closed {
        assert!(started.elapsed() < Duration::from_secs(20));
    }
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(numbers(&stage.open(), "w").is_empty());
}

#[test]
fn a_clock_that_tells_no_time_is_an_error_and_the_writer_goes_on() {
    #[derive(Debug)]
    struct LateClock(AtomicU32);
    impl LedgerClock for LateClock {
        fn now(&self) -> Result<Moment, Error> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Err(Error::Unavailable(Cause::Clock)),
                _ => Ok(Moment::MAX),
            }
        }
    }
    let stage = Stage::new();
    let clock = Arc::new(LateClock(AtomicU32::new(0)));
    let engine = Engine::open(&stage.path(), SCHEMA, Limits::default(), clock).unwrap();
    let no_time = Err(Error::Unavailable(Cause::Clock));
    assert_eq!(write_note(&engine, "w", 1), no_time);
    write_note(&engine, "w", 2).unwrap();
    assert_eq!(numbers(&stage.open(), "w"), [2]);
}

#[test]
fn many_threads_lose_nothing() {
    const THREADS: i64 = 16;
    const EACH: i64 = 50;
    let stage = Stage::new();
    let engine = stage.open();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let engine = &engine;
            scope.spawn(move || {
                for number in 0..EACH {
                    write_note(engine, &format!("t{thread}"), number).unwrap();
                    // Read your own writes.
                    if number % 10 == 0 {
                        let seen = numbers(engine, &format!("t{thread}"));
                        assert_eq!(seen.len(), usize::try_from(number + 1).unwrap());
                    }
                }
            });
        }
    });
    assert_eq!(count(&engine), THREADS * EACH * 2);
    let counts = engine.counts();
    assert_eq!(i64::try_from(counts.transactions).unwrap(), THREADS * EACH);
    assert!(counts.commits < counts.transactions, "{counts:?}");
}

#[test]
fn a_reader_cannot_write_and_leaves_no_transaction_behind() {
    let stage = Stage::new();
    let engine = open(&stage.path(), IMPATIENT).unwrap();
    for _ in 0..10 {
        let refused = engine.read(|connection, _| put(connection, "r", 1, 0));
        assert_eq!(refused, Err(Error::Unavailable(Cause::ReadOnly)));
    }
    write_note(&engine, "w", 1).unwrap();
    assert_eq!(numbers(&engine, "w"), [1]);
}

#[test]
fn a_read_sees_one_moment_and_too_many_reads_are_turned_away() {
    let stage = Stage::new();
    let engine = open(&stage.path(), IMPATIENT).unwrap();
    let count = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT count(*) FROM note", [], |row| row.get::<_, i64>(0))
    };
    engine
        .read(|first, _| {
            assert_eq!(count(first).classify()?, 0);
            write_note(&engine, "w", 1)?;
            assert_eq!(count(first).classify()?, 0, "the snapshot stays");
            engine.read(|second, _| {
                assert_eq!(count(second).classify()?, 2);
                assert_eq!(engine.read(|_, _| Ok(())), Err(Error::Busy));
                Ok(())
            })
        })
        .unwrap();
}
