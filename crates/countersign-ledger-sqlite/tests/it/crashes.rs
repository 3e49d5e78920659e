//! Processes that are killed while they write.

use std::path::Path;
use std::thread;

use countersign_ledger_sqlite::Limits;

use crate::children::{Actor, say};
use crate::stage::{Stage, numbers, open, raw, write_note};

const THREADS: usize = 3;

/// A child: writes without end, and says what was acknowledged.
pub(crate) fn write_until_killed(ledger: &Path, name: &str) {
    let engine = open(ledger, Limits::default()).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let engine = &engine;
            let writer = format!("{name}-{thread}");
            scope.spawn(move || {
                for number in 0.. {
                    write_note(engine, &writer, number).unwrap();
                    say(&format!("{writer} {number}"));
                }
            });
        }
    });
}

#[test]
fn what_was_acknowledged_before_a_kill_is_there_and_nothing_is_torn() {
    let stage = Stage::new();
    // One process lives on, so that the log is not rebuilt for the next.
    let survivor = stage.open();
    for round in 0..12 {
        let name = format!("round{round}");
        let mut child = Actor::start(&format!("write-until-killed {name}"), &stage.path());
        let mut acknowledged = vec![-1; THREADS];
        for _ in 0..5 + round * 7 {
            note(&mut acknowledged, &child.hear().unwrap());
        }
        child.kill();
        // What it had said before it died.
        while let Some(said) = child.hear() {
            note(&mut acknowledged, &said);
        }
        write_note(&survivor, "survivor", round).unwrap();
        for (thread, last) in acknowledged.into_iter().enumerate() {
            let found = numbers(&survivor, &format!("{name}-{thread}"));
            let expected: Vec<i64> = (0..i64::try_from(found.len()).unwrap()).collect();
            assert_eq!(found, expected, "without gaps");
            assert!(
                found.last().copied().unwrap_or(-1) >= last,
                "{last} was acknowledged"
            );
        }
    }
    drop(survivor);
    let whole: String = raw(&stage.path())
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
}

/// A line that the kill has cut short counts for nothing.
fn note(acknowledged: &mut [i64], said: &str) {
    let parsed = said.split_once(' ').and_then(|(writer, number)| {
        let thread: usize = writer.rsplit_once('-')?.1.parse().ok()?;
        Some((thread, number.parse::<i64>().ok()?))
    });
    if let Some((thread, number)) = parsed {
        acknowledged[thread] = acknowledged[thread].max(number);
    }
}
