//! Real crashes: a process that performs writes for many clients is killed at random moments, again and again, while the clients
//! go on asking. Afterwards the downstream's own count per key is at most one, and every success that was told is there.

mod host;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use countersign_ledger::{Inspection, OperationFilter, StateKind, Work};

use self::host::{Downstream, Host};

/// How often the process is killed; more with the variable.
const KILLS: u32 = 40;
const KILLS_VARIABLE: &str = "COUNTERSIGN_KILLS";
/// Tells the test binary, started again, to be the process.
const PLACE_VARIABLE: &str = "COUNTERSIGN_KILLS_PLACE";
/// How long the last recovery may take.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn a_process_killed_at_random_moments_acts_once_and_forgets_nothing() {
    let place = tempfile::tempdir().unwrap();
    let kills = variable(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().unwrap());
    let seed = u64::from(std::process::id());
    let mut random = fastrand::Rng::with_seed(seed);
    println!("{kills} kills, moments from seed {seed}");
    for round in 0..kills {
        let mut process = start(place.path(), round);
        wait_until_it_serves(&mut process);
        pause(Duration::from_millis(random.u64(20..250)));
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let host = Host::open(place.path(), kills);
    let downstream = Downstream::at(place.path());
    settle(&host);
    let effects = counts(&downstream.effects());
    let told = counts(&lines(&place.path().join(host::TOLD)));
    let succeeded = keys_in(&host, &[StateKind::Succeeded]);
    println!(
        "{} effects, {} told, {} succeeded",
        effects.len(),
        told.len(),
        succeeded.len()
    );
    for (key, count) in &effects {
        assert_eq!(*count, 1, "{key} acted more than once");
        assert!(succeeded.contains_key(key), "{key} acted, and nobody knows");
    }
    for key in told.keys() {
        assert!(succeeded.contains_key(key), "{key} was told and is lost");
    }
    for key in succeeded.keys() {
        assert!(
            effects.contains_key(key),
            "{key} is a success without an effect"
        );
    }
    // The killing has to have hit something, or this test shows nothing.
    assert!(told.len() > 20, "hardly anything was done");
    assert!(!keys_in(&host, &StateKind::ALL).is_empty());
}

/// Works until nothing is under way any more: what the downstream has a receipt for is known then.
fn settle(host: &Host) {
    let begun = now();
    loop {
        host.tick();
        let (open, _) = host.ledger.open_counts().unwrap();
        let unasked = open.unknown - open.dead_letters;
        if open.executing + open.reserved + unasked == 0 {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "stuck: {open:?}");
        pause(Duration::from_millis(20));
    }
}

fn keys_in(host: &Host, states: &[StateKind]) -> BTreeMap<String, u32> {
    let filter = OperationFilter {
        states: states.to_vec(),
        ..OperationFilter::default()
    };
    let (mut keys, mut after) = (BTreeMap::new(), None);
    loop {
        let page = host.ledger.operations(&filter, after, 500).unwrap();
        for record in page.items {
            *keys
                .entry(record.scope.key.as_str().to_owned())
                .or_default() += 1;
        }
        after = page.next;
        if after.is_none() {
            return keys;
        }
    }
}

fn counts(lines: &[String]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line.clone()).or_default() += 1;
    }
    counts
}

/// Whole lines; a kill may have cut the last one off.
fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(str::to_owned).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "this test starts itself again, to be killed"
)]
fn start(place: &Path, round: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::play", "--nocapture", "--test-threads=1"])
        .env(PLACE_VARIABLE, format!("{round}:{}", place.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// However long it takes to start where others want the processor.
fn wait_until_it_serves(process: &mut Child) {
    let output = BufReader::new(process.stdout.take().unwrap());
    let mut lines = output.lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains(host::SERVES)), "it ended");
}

/// The process that is killed. Among the other tests it has nothing to do.
#[test]
fn play() {
    let Some(place) = variable(PLACE_VARIABLE) else {
        return;
    };
    let (round, place) = place.split_once(':').unwrap();
    host::serve(Path::new(place), round.parse().unwrap());
}

#[expect(clippy::disallowed_methods, reason = "how a test tells its child")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "real processes are waited for in real time"
)]
fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

#[expect(clippy::disallowed_methods, reason = "a test bounds its own waiting")]
fn now() -> Instant {
    Instant::now()
}
