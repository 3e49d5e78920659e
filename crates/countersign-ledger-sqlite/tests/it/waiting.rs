//! Waiting for changes, of this process and of others.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::children::Actor;
use crate::stage::{Stage, now, numbers, sleep, write_note};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn a_change_in_this_process_wakes_at_once() {
    let stage = Stage::new();
    let engine = stage.open();
    let since = engine.version();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            assert_ne!(engine.wait(since, LONG), since);
            now()
        });
        sleep(Duration::from_millis(50));
        write_note(&engine, "w", 1).unwrap();
        let written = now();
        let woken = waiter.join().unwrap();
        let took = woken.saturating_duration_since(written);
        assert!(took < Duration::from_millis(100), "{took:?}");
    });
}

#[test]
fn a_change_in_another_process_wakes_within_a_tenth_of_a_second() {
    let stage = Stage::new();
    let engine = stage.open();
    let mut child = Actor::start("announce", &stage.path());
    child.expect("ready");
    let (sender, woken) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..8 {
            let (engine, sender) = (&engine, sender.clone());
            scope.spawn(move || {
                loop {
                    let since = engine.version();
                    if !numbers(engine, "announced").is_empty() {
                        break;
                    }
                    assert_ne!(engine.wait(since, LONG), since, "never woken");
                }
                sender.send(now()).unwrap();
            });
        }
        sleep(Duration::from_millis(200));
        child.go_on();
        child.expect("written");
        let written = now();
        for _ in 0..8 {
            let took = woken.recv().unwrap().saturating_duration_since(written);
            assert!(took < Duration::from_millis(100), "{took:?}");
        }
    });
    child.finish();
}

#[test]
fn a_change_between_the_look_and_the_wait_is_not_missed() {
    let stage = Stage::new();
    let engine = stage.open();
    // The watch has looked before, and nobody waits any more.
    engine.wait(engine.version(), Duration::from_millis(60));
    let mut child = Actor::start("announce", &stage.path());
    child.expect("ready");
    let since = engine.version();
    assert!(numbers(&engine, "announced").is_empty());
    child.go_on();
    child.expect("written");
    child.finish();
    let started = now();
    assert_ne!(engine.wait(since, LONG), since);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn without_a_change_the_time_comes() {
    let stage = Stage::new();
    let engine = stage.open();
    // The first look may wake without a change.
    engine.wait(engine.version(), Duration::from_millis(100));
    let started = now();
    let since = engine.version();
    assert_eq!(engine.wait(since, Duration::from_millis(150)), since);
    assert!(started.elapsed() >= Duration::from_millis(150));
    // A transaction that writes nothing is no change.
    let since = engine.version();
    engine.write("nothing", |_, _| Ok(())).unwrap();
    assert_eq!(engine.wait(since, Duration::from_millis(100)), since);
}
