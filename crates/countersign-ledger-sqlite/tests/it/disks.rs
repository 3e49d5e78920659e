//! Disks that are full, cannot be written, fail, or give back something else.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger_sqlite::{Classify, Engine, Limits, OpenError};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;

use crate::children::{Actor, listen, say};
use crate::stage::{Stage, count, numbers, open, write_note};

/// A file system of its own, of one mebibyte.
struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = Some(c"size=1m,mode=700");
        mount(
            "none",
            directory.path(),
            "tmpfs",
            MountFlags::empty(),
            options,
        )
        .expect("this test mounts a small file system: run it as root");
        Self { directory }
    }

    fn ledger(&self) -> PathBuf {
        self.directory.path().join("ledger.db")
    }

    fn read_only(&self) {
        let path = self.directory.path();
        mount_remount(path, MountFlags::RDONLY, c"").unwrap();
    }

    fn writable(&self) {
        mount_remount(self.directory.path(), MountFlags::empty(), c"").unwrap();
    }

    /// Leaves no block free.
    fn fill(&self) -> PathBuf {
        let path = self.directory.path().join("filler");
        let mut file = fs::File::create(&path).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = unmount(self.directory.path(), UnmountFlags::DETACH);
    }
}

/// Writes a note that needs pages of its own.
fn write_long(engine: &Engine, number: i64) -> Result<(), Error> {
    engine.write("long", move |connection, _| {
        let mut insert = connection.prepare_cached(
            "INSERT INTO note (writer, number, half, filler) VALUES ('long', ?1, ?2, zeroblob(20000))",
        ).classify()?;
        insert.execute((number, 0)).classify()?;
        insert.execute((number, 1)).classify()?;
        Ok(())
    })
}

#[test]
fn a_full_disk_is_told_loses_nothing_and_the_service_goes_on() {
    let disk = SmallDisk::new();
    let engine = open(&disk.ledger(), Limits::default()).unwrap();
    let mut written = 0;
    write_long(&engine, written).unwrap();
    let filler = disk.fill();
    // The log's own blocks may hold one or two more.
    let error = loop {
        match write_long(&engine, written + 1) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Unavailable(Cause::DiskFull));
    assert_eq!(write_long(&engine, written + 1), Err(error));
    let before: Vec<i64> = (0..=written).collect();
    assert_eq!(numbers(&engine, "long"), before, "reads go on");

    // After a crash now, what was refused is not there either.
    let copies = Stage::new();
    for suffix in ["", "-wal"] {
        let from = disk.directory.path().join(format!("ledger.db{suffix}"));
        let to = copies.directory().join(format!("ledger.db{suffix}"));
        fs::copy(&from, &to).unwrap();
    }
    assert_eq!(numbers(&copies.open(), "long"), before);

    fs::remove_file(filler).unwrap();
    write_long(&engine, written + 1).unwrap();
    drop(engine);
    let engine = open(&disk.ledger(), Limits::default()).unwrap();
    assert_eq!(
        numbers(&engine, "long"),
        (0..=written + 1).collect::<Vec<_>>()
    );
}

#[test]
fn on_a_full_disk_no_ledger_is_made() {
    let disk = SmallDisk::new();
    let filler = disk.fill();
    let full = OpenError::Ledger(Error::Unavailable(Cause::DiskFull));
    let error = open(&disk.ledger(), Limits::default()).unwrap_err();
    assert!(
        error == full || error == OpenError::Ledger(Error::Unavailable(Cause::Io)),
        "{error}"
    );
    fs::remove_file(filler).unwrap();
    write_note(&open(&disk.ledger(), Limits::default()).unwrap(), "w", 1).unwrap();
}

#[test]
fn on_a_read_only_disk_a_ledger_is_not_opened_for_writing() {
    let disk = SmallDisk::new();
    disk.read_only();
    let read_only = OpenError::Ledger(Error::Unavailable(Cause::ReadOnly));
    assert_eq!(
        open(&disk.ledger(), Limits::default()).unwrap_err(),
        read_only
    );
    disk.writable();
    write_note(&open(&disk.ledger(), Limits::default()).unwrap(), "w", 1).unwrap();
    disk.read_only();
    let error = open(&disk.ledger(), Limits::default()).unwrap_err();
    assert_eq!(error, read_only, "{error}");
    disk.writable();
    assert_eq!(count(&open(&disk.ledger(), Limits::default()).unwrap()), 2);
}

#[test]
fn without_the_right_to_write_a_ledger_is_not_opened() {
    const NOBODY: u32 = 65_534;
    for (file, directory) in [(0o400, 0o700), (0o600, 0o500)] {
        let stage = Stage::new();
        write_note(&stage.open(), "w", 1).unwrap();
        for path in [stage.path(), stage.directory().to_owned()] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY))
                .expect("this test gives files away: run it as root");
        }
        let mode = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode));
        mode(&stage.path(), file).unwrap();
        mode(stage.directory(), directory).unwrap();
        // Root may write everywhere, so somebody else has to try.
        let front = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ];
        let mut child = Actor::start_through(&front, "open", &stage.path());
        let said = child.hear().unwrap();
        assert_eq!(said, "the ledger is not available: it is read-only");
        child.finish();
    }
}

/// A child: its files may not grow beyond a size that the parent has it set.
pub(crate) fn write_limited(ledger: &Path) {
    let engine = open(ledger, Limits::default()).unwrap();
    write_long(&engine, 0).unwrap();
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = |current| Rlimit { current, maximum };
    setrlimit(Resource::Fsize, limit(Some(64 * 1024))).unwrap();
    let failed = (1..20).find_map(|number| write_long(&engine, number).err());
    setrlimit(Resource::Fsize, limit(maximum)).unwrap();
    say(&format!("{failed:?}"));
    listen();
    write_long(&engine, 100).unwrap();
    say("written");
}

#[test]
fn a_commit_that_fails_below_is_unconfirmed_and_the_service_goes_on() {
    let stage = Stage::new();
    // The signal that comes with the error must not end the child.
    let front = ["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""];
    let mut child = Actor::start_through(&front, "write-limited", &stage.path());
    child.expect("Some(Unconfirmed)");
    child.go_on();
    child.expect("written");
    child.finish();
    let numbers = numbers(&stage.open(), "long");
    assert_eq!((numbers.first(), numbers.last()), (Some(&0), Some(&100)));
}

#[test]
fn a_corrupted_page_is_damage_and_what_lies_elsewhere_is_read() {
    let stage = Stage::new();
    let engine = stage.open();
    for number in 0..200 {
        write_note(&engine, "w", number).unwrap();
    }
    engine
        .write("index", |connection, _| {
            connection
                .execute_batch(
                    "CREATE TABLE aside (a INTEGER) STRICT; INSERT INTO aside VALUES (7)",
                )
                .classify()?;
            Ok(())
        })
        .unwrap();
    drop(engine);
    // The second page is the notes' root.
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open(stage.path())
        .unwrap();
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&[0xA5; 4096]).unwrap();
    drop(file);
    let engine = stage.open();
    let damaged = |error: Error| matches!(error, Error::Damaged(_));
    let read = engine.read(|connection, _| {
        connection
            .query_row("SELECT max(number) FROM note", [], |row| {
                row.get::<_, i64>(0)
            })
            .classify()
    });
    assert!(damaged(read.unwrap_err()));
    assert!(damaged(write_note(&engine, "w", 999).unwrap_err()));
    // Those who do not touch the page are written, also beside one that does.
    thread::scope(|scope| {
        for number in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                if number % 2 == 0 {
                    assert!(damaged(write_note(engine, "w", 1000 + number).unwrap_err()));
                } else {
                    engine
                        .write("aside", |connection, _| {
                            connection
                                .execute("INSERT INTO aside VALUES (8)", [])
                                .classify()?;
                            Ok(())
                        })
                        .unwrap();
                }
            });
        }
    });
    let aside = engine.read(|connection, _| {
        connection
            .query_row("SELECT sum(a) FROM aside", [], |row| row.get::<_, i64>(0))
            .classify()
    });
    assert_eq!(aside, Ok(7 + 4 * 8));
    assert!(damaged(engine.check().unwrap_err()));
    let copy = stage.directory().join("copy.db");
    assert!(engine.back_up(&copy).is_err());
    assert!(!copy.exists(), "a damaged copy gets no name");
}
