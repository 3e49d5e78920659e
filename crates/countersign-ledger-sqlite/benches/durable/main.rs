//! What a durable write costs: whole dispatches through the ledger, against a bare program that writes the same rows.
//!
//! Both sides run in turn on the same disk. The bare program knows every row beforehand, reads nothing and decides nothing;
//! it writes what a dispatch writes, in the same two commits, with as many dispatches in one commit as the ledger had.
//!
//! `--stored N` first puts so many operations into the file; `--callers N` takes that load only.

#![expect(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::string_slice,
    reason = "a benchmark prints what it measures, and stops where something is wrong"
)]

mod bare;
mod host;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign_ledger::Work;
use countersign_ledger_sqlite::Counts;

use crate::bare::Bare;
use crate::host::Host;

/// Callers at once, and how many dispatches all of them make.
const LOADS: [(u64, u64); 4] = [(1, 1_000), (8, 4_000), (64, 12_800), (256, 25_600)];
/// How often each load is run on both sides.
const ROUNDS: u64 = 3;
const UNFINISHED: u64 = 10_000;

fn main() {
    let stored = argument("--stored").unwrap_or(0);
    let only = argument("--callers");
    let directory = tempfile::tempdir_in(".").expect("a directory on the disk that is measured");
    let path = directory.path().join("ledger.db");
    let sample = bare::sample(&directory.path().join("sample.db"));
    if stored > 0 {
        let started = now();
        drop(Host::open(&path));
        bare::fill(&path, &sample, stored);
        println!("{stored} operations stored in {:.0?}", started.elapsed());
    }
    println!("callers  writes/s  bare/s   ratio  p50 ms  p99 ms  batch");
    let mut run = 0;
    for (callers, dispatches) in LOADS {
        if only.is_some_and(|only| only != callers) {
            continue;
        }
        for _ in 0..ROUNDS {
            run += 1;
            let ours = ledger(&path, run, callers, dispatches);
            run += 1;
            let bare = bare_program(&path, &sample, run, ours.batch(), dispatches);
            println!(
                "{callers:>7} {:>9.0} {bare:>8.0} {:>7.2} {:>7.2} {:>7.2} {:>6.1}",
                ours.rate,
                ours.rate / bare,
                milliseconds(ours.median),
                milliseconds(ours.slow),
                ours.batch(),
            );
        }
    }
    size(&directory.path().join("size.db"));
    recovery(&directory.path().join("recovery.db"));
}

struct Measured {
    rate: f64,
    median: Duration,
    slow: Duration,
    counts: Counts,
}

impl Measured {
    /// How many transactions a commit held.
    fn batch(&self) -> f64 {
        ratio(self.counts.transactions, self.counts.commits)
    }
}

/// Whole dispatches by so many callers.
fn ledger(path: &Path, run: u64, callers: u64, dispatches: u64) -> Measured {
    let host = Host::open(path);
    let each = dispatches / callers;
    let prepared: Vec<Vec<_>> = (0..callers)
        .map(|caller| {
            let numbers = (0..each).map(|number| format!("{run}-{caller}-{number}"));
            numbers.map(|name| host.call(&name)).collect()
        })
        .collect();
    let started = now();
    let mut latencies: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = prepared
            .iter()
            .map(|calls| {
                let host = &host;
                scope.spawn(move || {
                    let took = calls.iter().map(|(call, approval)| {
                        let started = now();
                        host.dispatch(call, approval);
                        started.elapsed()
                    });
                    took.collect::<Vec<_>>()
                })
            })
            .collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|took| took.expect("no dispatch panics"))
            .collect()
    });
    let elapsed = started.elapsed();
    latencies.sort_unstable();
    let at = |share: usize| latencies[(latencies.len() - 1) * share / 100];
    Measured {
        rate: per_second(each * callers, elapsed),
        median: at(50),
        slow: at(99),
        counts: host.counts(),
    }
}

fn bare_program(path: &Path, sample: &bare::Sample, run: u64, batch: f64, dispatches: u64) -> f64 {
    let mut bare = Bare::open(path, sample, run);
    let mut done = 0;
    let mut owed = 0.0;
    let started = now();
    while done < dispatches {
        owed += batch;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a batch has at least one and at most some hundred"
        )]
        let count = (owed as u64).max(1);
        owed -= count as f64;
        bare.dispatch(count);
        done += count;
    }
    per_second(done, started.elapsed())
}

fn size(path: &Path) {
    const OPERATIONS: u64 = 20_000;
    ledger(path, 0, 64, OPERATIONS);
    let bytes = std::fs::metadata(path).expect("a ledger").len();
    println!("{} bytes per operation", bytes / OPERATIONS);
}

fn recovery(path: &Path) {
    let lost = Host::open(path);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= UNFINISHED {
                        break;
                    }
                    lost.reserve(&format!("lost-{number}"));
                }
            });
        }
    });
    lost.leave();
    let started = now();
    let host = Host::open(path);
    let mut recovered = 0;
    loop {
        let more = host.ledger.recover(1000).expect("a sound ledger");
        if more == 0 {
            break;
        }
        recovered += more;
    }
    println!(
        "{recovered} unfinished operations recovered in {:.2?}",
        started.elapsed()
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark takes its size from its arguments"
)]
fn argument(name: &str) -> Option<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    let number = arguments.nth(1)?;
    Some(number.parse().expect("a number"))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}
