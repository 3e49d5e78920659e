//! Many who want the same at once, as threads with connections of their own or as processes.

use countersign_ledger::{Backend, DurableLedger};

use crate::build::Build;
use crate::running::together;
use crate::stage::host;

/// A race: what is there before it, what each racer does, and what must hold of all that they say.
pub(crate) trait Race {
    /// Its name, by which another process is told to run it.
    const NAME: &'static str;
    /// How many racers there are.
    const RACERS: usize;

    /// What is there before.
    fn prepare<B: Build>(build: &B, ledger: &DurableLedger<B::Backend>);

    /// How far the clock has moved on when the race begins.
    fn pause() -> std::time::Duration {
        std::time::Duration::ZERO
    }

    /// What a racer does. It says what came of it, in one line.
    fn run<B: Backend>(ledger: &DurableLedger<B>, racer: usize) -> String;

    /// What must hold of what all have said, in the order of their numbers, and of what is stored.
    fn judge<B: Backend>(ledger: &DurableLedger<B>, said: &[String]);
}

/// The host that a racer is.
pub(crate) fn racer_name(racer: usize) -> String {
    format!("racer-{racer}")
}

/// Runs a race between threads, each with a connection of its own.
pub(crate) fn in_threads<R: Race, B: Build>(build: &B) {
    let first = host(build, "host-1");
    R::prepare(build, &first);
    build.clock().advance(R::pause());
    let said = together(R::RACERS, |racer| {
        R::run(&host(build, &racer_name(racer)), racer)
    });
    R::judge(&host(build, "judge"), &said);
}

/// How many have said a line.
pub(crate) fn count(said: &[String], line: &str) -> usize {
    said.iter().filter(|said| *said == line).count()
}
