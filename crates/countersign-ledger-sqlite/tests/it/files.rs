//! Which files are taken for a ledger.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger_sqlite::{Limits, OpenError, Part, Refusal};

use crate::stage::{IMPATIENT, Stage, count, open, raw, write_note};

fn refusal(path: &Path) -> Refusal {
    match open(path, Limits::default()) {
        Err(OpenError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A closed ledger with a note in it.
fn closed_ledger() -> Stage {
    let stage = Stage::new();
    write_note(&stage.open(), "w", 1).unwrap();
    stage
}

#[test]
fn a_new_ledger_is_its_owners_only() {
    let stage = Stage::new();
    let engine = stage.open();
    write_note(&engine, "w", 1).unwrap();
    let mut names = 0;
    for entry in fs::read_dir(stage.directory()).unwrap() {
        let metadata = entry.unwrap().metadata().unwrap();
        assert_eq!(metadata.mode() & 0o777, 0o600);
        names += 1;
    }
    assert_eq!(names, 3, "the ledger, its log, and the log's index");
}

#[test]
fn a_file_that_others_may_read_or_write_is_refused_until_they_may_not() {
    for mode in [0o644, 0o640, 0o620, 0o602, 0o601, 0o666] {
        let stage = closed_ledger();
        set_mode(&stage.path(), mode);
        assert_eq!(refusal(&stage.path()), Refusal::OpenToOthers(Part::Ledger));
        set_mode(&stage.path(), 0o600);
        assert_eq!(count(&stage.open()), 2);
    }
}

#[test]
fn a_link_is_refused_wherever_it_leads() {
    let stage = closed_ledger();
    let link = stage.directory().join("link.db");
    symlink(stage.path(), &link).unwrap();
    assert_eq!(refusal(&link), Refusal::Link(Part::Ledger));
    let dangling = stage.directory().join("dangling.db");
    symlink(stage.directory().join("nowhere.db"), &dangling).unwrap();
    assert_eq!(refusal(&dangling), Refusal::Link(Part::Ledger));
    assert!(!stage.directory().join("nowhere.db").exists());
}

#[test]
fn a_directory_may_be_reached_through_a_link() {
    let stage = closed_ledger();
    let elsewhere = Stage::new();
    let link = elsewhere.directory().join("there");
    symlink(stage.directory(), &link).unwrap();
    assert_eq!(
        count(&open(&link.join("ledger.db"), Limits::default()).unwrap()),
        2
    );
}

#[test]
fn a_second_name_is_refused() {
    let stage = closed_ledger();
    let second = stage.directory().join("second.db");
    fs::hard_link(stage.path(), &second).unwrap();
    assert_eq!(refusal(&stage.path()), Refusal::SecondName(Part::Ledger));
    assert_eq!(refusal(&second), Refusal::SecondName(Part::Ledger));
    fs::remove_file(second).unwrap();
    assert_eq!(count(&stage.open()), 2);
}

#[test]
fn another_owners_file_is_refused() {
    let stage = closed_ledger();
    chown(stage.path(), Some(12_345), None).expect("this test gives a file away: run it as root");
    assert_eq!(refusal(&stage.path()), Refusal::OtherOwner(Part::Ledger));
}

#[test]
fn a_planted_log_is_refused() {
    let stage = closed_ledger();
    let log = stage.directory().join("ledger.db-wal");
    symlink("/etc/hostname", &log).unwrap();
    assert_eq!(refusal(&stage.path()), Refusal::Link(Part::Beside));
    fs::remove_file(&log).unwrap();
    fs::write(&log, b"frames").unwrap();
    set_mode(&log, 0o666);
    assert_eq!(refusal(&stage.path()), Refusal::OpenToOthers(Part::Beside));
}

#[test]
fn what_is_no_file_or_has_no_place_is_refused() {
    let stage = Stage::new();
    assert_eq!(refusal(stage.directory()), Refusal::NotAFile(Part::Ledger));
    let nowhere = stage.directory().join("no/such/ledger.db");
    assert_eq!(refusal(&nowhere), Refusal::NoDirectory);
    assert_eq!(refusal(Path::new("/")), Refusal::NoDirectory);
}

#[test]
fn a_file_of_another_kind_is_refused_and_not_touched() {
    let stage = Stage::new();
    fs::write(stage.path(), b"Dear diary, ".repeat(1000)).unwrap();
    set_mode(&stage.path(), 0o600);
    let before = fs::read(stage.path()).unwrap();
    assert_eq!(
        open(&stage.path(), IMPATIENT).unwrap_err(),
        OpenError::NotALedger
    );
    assert!(fs::read(stage.path()).unwrap() == before);

    let other = stage.directory().join("other.db");
    raw(&other)
        .execute_batch("CREATE TABLE bookmark (url TEXT)")
        .unwrap();
    set_mode(&other, 0o600);
    let before = fs::read(&other).unwrap();
    assert_eq!(open(&other, IMPATIENT).unwrap_err(), OpenError::NotALedger);
    assert!(fs::read(&other).unwrap() == before);
}

#[test]
fn a_ledger_that_is_moved_or_replaced_takes_no_more_writes() {
    for replaced in [false, true] {
        let stage = Stage::new();
        let engine = stage.open();
        write_note(&engine, "w", 1).unwrap();
        let aside = stage.directory().join("aside.db");
        fs::rename(stage.path(), &aside).unwrap();
        if replaced {
            fs::copy(&aside, stage.path()).unwrap();
        }
        let moved = Error::Unavailable(Cause::Moved);
        assert_eq!(write_note(&engine, "w", 2), Err(moved));
        assert_eq!(engine.read(|_, _| Ok(())), Err(moved));
        if replaced {
            fs::remove_file(stage.path()).unwrap();
        }
        fs::rename(&aside, stage.path()).unwrap();
        write_note(&engine, "w", 3).unwrap();
    }
}
