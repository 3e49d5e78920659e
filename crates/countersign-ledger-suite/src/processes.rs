//! The same races between processes on one set of tables: this test binary, started again with a role.

use std::io::{BufRead, BufReader, Lines, Read, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::build::BuildAcrossProcesses;
use crate::clock::SettableClock;
use crate::race::{Race, racer_name};
use crate::races::{
    Claims, Decisions, Joiners, LastUse, OneApproval, OneApprovalForManyKeys, OneKey,
    OneKeyForManyRequests, StaleHolder,
};
use crate::running::together;
use crate::stage::host;

/// How many processes share the tables.
const PROCESSES: usize = 6;

const RACE: &str = "COUNTERSIGN_SUITE_RACE";
const PLACE: &str = "COUNTERSIGN_SUITE_PLACE";
const TABLES: &str = "COUNTERSIGN_SUITE_TABLES";
/// What a child has to say stands on lines of this beginning, among those of the test harness.
const MARK: &str = "racer ";

/// Runs one race between processes. `child` is the path of the test that plays a process's part.
pub fn run<B: BuildAcrossProcesses>(build: &B, race: &str, child: &str) {
    named::<B>(race)
        .expect("no such race")
        .between_processes(build, child);
}

/// Plays a process's part, where this is one that was started for it.
pub fn play<B: BuildAcrossProcesses>() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how a test tells its child what to do"
    )]
    let told = [RACE, PLACE, TABLES].map(std::env::var_os);
    // Among the other tests it has no part.
    let [Some(race), Some(place), Some(tables)] = told else {
        return;
    };
    let place = place.to_str().and_then(|place| place.parse().ok());
    let race = race.to_str().and_then(named::<B>);
    race.expect("no such race")
        .play(&PathBuf::from(tables), place.expect("no such place"));
}

/// A race whose type is forgotten.
struct Named<B> {
    name: &'static str,
    between_processes: fn(&B, &str),
    play: fn(&Path, usize),
}

impl<B> Named<B> {
    fn between_processes(&self, build: &B, child: &str) {
        (self.between_processes)(build, child);
    }

    fn play(&self, tables: &Path, place: usize) {
        (self.play)(tables, place);
    }
}

fn named<B: BuildAcrossProcesses>(name: &str) -> Option<Named<B>> {
    fn of<R: Race, B: BuildAcrossProcesses>() -> Named<B> {
        Named {
            name: R::NAME,
            between_processes: between_processes::<R, B>,
            play: play_race::<R, B>,
        }
    }
    let all = [
        of::<OneKey, B>(),
        of::<OneKeyForManyRequests, B>(),
        of::<Claims, B>(),
        of::<StaleHolder, B>(),
        of::<Decisions, B>(),
        of::<OneApproval, B>(),
        of::<OneApprovalForManyKeys, B>(),
        of::<Joiners, B>(),
        of::<LastUse, B>(),
    ];
    all.into_iter().find(|race| race.name == name)
}

fn between_processes<R: Race, B: BuildAcrossProcesses>(build: &B, child: &str) {
    R::prepare(build, &host(build, "host-1"));
    let mut racers: Vec<_> = (0..PROCESSES)
        .map(|place| Racer::start(R::NAME, place, &build.location(), child))
        .collect();
    for racer in &mut racers {
        assert_eq!(racer.hear().as_deref(), Some("ready"));
    }
    for racer in &mut racers {
        // Its input ends: all go at once.
        racer.process.stdin = None;
    }
    let mut said = vec![String::new(); R::RACERS];
    for mut racer in racers {
        while let Some(line) = racer.hear() {
            let (number, words) = line.split_once(": ").unwrap();
            words.clone_into(&mut said[number.parse::<usize>().unwrap()]);
        }
        assert!(racer.process.wait().unwrap().success(), "{said:?}");
    }
    build.clock().advance(R::pause());
    R::judge(&host(build, "judge"), &said);
}

/// A process's share of the racers, each a thread with a connection of its own.
fn play_race<R: Race, B: BuildAcrossProcesses>(tables: &Path, place: usize) {
    let clock = SettableClock::default();
    clock.advance(R::pause());
    let build = B::at(tables, clock);
    let mine: Vec<_> = (place..R::RACERS).step_by(PROCESSES).collect();
    let hosts: Vec<_> = mine
        .iter()
        .map(|racer| host(&build, &racer_name(*racer)))
        .collect();
    say("ready");
    stdin().read_to_end(&mut Vec::new()).unwrap();
    let said = together(mine.len(), |number| R::run(&hosts[number], mine[number]));
    for (racer, words) in mine.iter().zip(said) {
        say(&format!("{racer}: {words}"));
    }
}

#[expect(clippy::print_stdout, reason = "the parent listens to it")]
fn say(words: &str) {
    println!("\n{MARK}{words}");
}

/// A running child. Dropped, it is killed.
struct Racer {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn start(race: &str, place: usize, tables: &Path, child: &str) -> Self {
        let this = std::env::current_exe().unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "a test of several processes starts some"
        )]
        let mut command = Command::new(this);
        let mut process = command
            .args(["--exact", child, "--nocapture", "--test-threads=1"])
            .env(RACE, race)
            .env(PLACE, place.to_string())
            .env(TABLES, tables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = process.stdout.take().unwrap();
        Self {
            process,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// The next thing that it says; nothing when it has ended.
    fn hear(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some(said) = line.strip_prefix(MARK) {
                return Some(said.to_owned());
            }
        }
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
