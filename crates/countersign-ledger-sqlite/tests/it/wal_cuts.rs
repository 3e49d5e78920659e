//! A crash of the machine may lose the end of the write-ahead log, anywhere: within a transaction, within a frame.
//!
//! Whatever is lost, what is left is a beginning of what happened, in whole transactions.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use countersign_ledger::{AuditEntry, Inspection};
use countersign_shop::Disturbance;

use crate::host::Host;
use crate::stage::{Stage, raw};

const HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

#[test]
fn every_cut_of_the_log_leaves_a_beginning_in_whole_transactions() {
    let stage = Stage::new();
    let host = eventful_host(&stage);
    let whole = trail(&host);
    let file = fs::read(stage.path()).unwrap();
    let log = fs::read(stage.directory().join("ledger.db-wal")).unwrap();
    let frames = (log.len() - HEADER) / FRAME;
    assert!(
        frames > 100,
        "{frames} frames are too few to mean something"
    );

    let mut cuts = vec![0, HEADER / 2, HEADER];
    for frame in 0..frames {
        let begin = HEADER + frame * FRAME;
        cuts.extend([begin + 24 + 2048, begin + FRAME]);
    }
    let mut lengths = vec![0; cuts.len()];
    thread::scope(|scope| {
        let halves = cuts.len() / 2;
        let (first, second) = lengths.split_at_mut(halves);
        for (lengths, range) in [(first, 0..halves), (second, halves..cuts.len())] {
            let (cuts, file, log, whole) = (&cuts[range], &file, &log, &whole);
            scope.spawn(move || {
                for (length, cut) in lengths.iter_mut().zip(cuts) {
                    *length = entries_after(file, &log[..*cut], whole);
                }
            });
        }
    });
    assert!(lengths.is_sorted(), "less is lost the later the cut is");
    assert_eq!(lengths.last(), Some(&whole.len()));
    // Each commit is the last one of some cut. One thread's seven transactions stand in seven of them, however many of the
    // others' join; the first cuts leave nothing.
    lengths.dedup();
    assert!(lengths.len() >= 8, "{lengths:?}");
}

#[test]
fn every_flipped_byte_of_the_log_leaves_a_beginning_in_whole_transactions() {
    let stage = Stage::new();
    let host = eventful_host(&stage);
    let whole = trail(&host);
    let file = fs::read(stage.path()).unwrap();
    let log = fs::read(stage.directory().join("ledger.db-wal")).unwrap();
    for position in flips(HEADER..log.len()) {
        let mut log = log.clone();
        log[position] ^= 0x40;
        entries_after(&file, &log, &whole);
    }
}

/// Positions all over the log, prime to the length of a frame.
fn flips(range: Range<usize>) -> impl Iterator<Item = usize> {
    range.step_by(7919)
}

/// Several processes' worth of dispatches, proposals and lost answers, the log still beside the file.
fn eventful_host(stage: &Stage) -> Host {
    let host = Host::open(&stage.path());
    thread::scope(|scope| {
        for thread in 0..3 {
            let host = &host;
            scope.spawn(move || {
                for number in 0..4 {
                    let call = host.call(&format!("{thread}-{number}"));
                    match number {
                        0 | 1 => host.dispatch(&call),
                        2 => host.dispatch_with(&call, &[], Disturbance::None),
                        _ => host.dispatch_with(
                            &call,
                            &[host.approval(&call)],
                            Disturbance::AnswerLost,
                        ),
                    }
                    .unwrap();
                }
            });
        }
    });
    host
}

fn trail(host: &Host) -> Vec<AuditEntry> {
    host.ledger
        .audit(&host.principal.tenant_id, 0, 1000)
        .unwrap()
}

/// Opens what a crash left, and tells how many entries of the whole trail it has.
fn entries_after(file: &[u8], log: &[u8], whole: &[AuditEntry]) -> usize {
    let stage = Stage::new();
    let log_path = stage.directory().join("ledger.db-wal");
    for (path, bytes) in [(&stage.path(), file), (&log_path, log)] {
        fs::write(path, bytes).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
    }

    let host = Host::open(&stage.path());
    let checked = host.ledger.backend().check().unwrap();
    assert_eq!(checked.findings, [], "log of {} bytes", log.len());
    let left = trail(&host);
    assert!(whole.starts_with(&left), "log of {} bytes", log.len());
    // No operation without its entry, and no entry without its operation.
    let begun = left
        .iter()
        .filter(|entry| entry.event == "begun" || entry.event == "proposed");
    assert_eq!(u64::try_from(begun.count()).unwrap(), checked.operations);
    // And it goes on from there.
    assert_eq!(host.dispatch(&host.call("after")).unwrap(), "succeeded");
    drop(host);
    let whole_file: String = raw(&stage.path())
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(whole_file, "ok");
    left.len()
}
