//! Copies: while others write, complete or not there, and never over something.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use countersign_ledger_sqlite::{Limits, OpenError, Refusal, restore};

use crate::stage::{SCHEMA, Stage, numbers, open, raw, write_note};

#[test]
fn a_copy_is_of_one_moment_while_others_write() {
    let stage = Stage::new();
    let engine = stage.open();
    for number in 0..100 {
        write_note(&engine, "w", number).unwrap();
    }
    let copy = stage.directory().join("copy.db");
    let done = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut number = 100;
            while !done.load(Ordering::Relaxed) {
                write_note(&engine, "w", number).unwrap();
                number += 1;
            }
            number
        });
        engine.back_up(&copy).unwrap();
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    let metadata = fs::metadata(&copy).unwrap();
    assert_eq!((metadata.mode() & 0o777, metadata.nlink()), (0o600, 1));
    let names: Vec<_> = fs::read_dir(stage.directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("ledger.db"))
        .collect();
    assert_eq!(names, ["copy.db"], "one file, and nothing beside it");

    let restored = stage.directory().join("restored.db");
    restore(&copy, &restored, &SCHEMA).unwrap();
    let restored = open(&restored, Limits::default()).unwrap();
    let found = numbers(&restored, "w");
    assert!(found.len() >= 100 && i64::try_from(found.len()).unwrap() <= written);
    assert_eq!(
        found,
        (0..i64::try_from(found.len()).unwrap()).collect::<Vec<_>>()
    );
    write_note(&restored, "new", 1).unwrap();
}

#[test]
fn nothing_is_written_over() {
    let stage = Stage::new();
    let engine = stage.open();
    let taken = stage.directory().join("taken");
    fs::write(&taken, b"precious").unwrap();
    let exists = OpenError::Refused(Refusal::Exists);
    assert_eq!(engine.back_up(&taken).unwrap_err(), exists);
    assert_eq!(engine.back_up(&stage.path()).unwrap_err(), exists);
    let copy = stage.directory().join("copy.db");
    engine.back_up(&copy).unwrap();
    assert_eq!(restore(&copy, &stage.path(), &SCHEMA).unwrap_err(), exists);
    assert_eq!(restore(&copy, &taken, &SCHEMA).unwrap_err(), exists);
    assert_eq!(fs::read(&taken).unwrap(), b"precious");
}

#[test]
fn what_is_no_ledger_is_not_restored() {
    let stage = Stage::new();
    let other = stage.directory().join("other.db");
    raw(&other)
        .execute_batch("CREATE TABLE bookmark (url TEXT)")
        .unwrap();
    fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let to = stage.path();
    assert_eq!(
        restore(&other, &to, &SCHEMA).unwrap_err(),
        OpenError::NotALedger
    );
    assert!(!to.exists());
    let missing = stage.directory().join("missing.db");
    let refused = OpenError::Refused(Refusal::Missing);
    assert_eq!(restore(&missing, &to, &SCHEMA).unwrap_err(), refused);
}
