//! Parts of the tests that other processes play: this binary, started again with a role.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use countersign_ledger_sqlite::Limits;

use crate::stage;
use crate::{crashes, disks, processes};

const ROLE: &str = "COUNTERSIGN_TEST_ROLE";
const LEDGER: &str = "COUNTERSIGN_TEST_LEDGER";
/// What a child has to say stands on lines of this beginning, among those of the test harness.
const MARK: &str = "child: ";

/// A running child. Dropped, it is killed.
pub(crate) struct Actor {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Actor {
    pub(crate) fn start(role: &str, ledger: &Path) -> Self {
        Self::start_through(&[], role, ledger)
    }

    /// Starts it with another program in front, which executes it.
    pub(crate) fn start_through(front: &[&str], role: &str, ledger: &Path) -> Self {
        let this = std::env::current_exe().unwrap();
        let mut words: Vec<_> = front.iter().map(PathBuf::from).collect();
        words.push(this);
        #[expect(
            clippy::disallowed_methods,
            reason = "a test of several processes starts some"
        )]
        let mut command = Command::new(&words[0]);
        let mut process = command
            .args(&words[1..])
            .args([
                "--exact",
                "children::play",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(ROLE, role)
            .env(LEDGER, ledger)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = process.stdout.take().unwrap();
        Self {
            stdin: process.stdin.take(),
            lines: BufReader::new(stdout).lines(),
            process,
        }
    }

    /// The next thing that the child says; `None` when it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            // The harness may have begun the line.
            if let Some((_, said)) = line.split_once(MARK) {
                return Some(said.to_owned());
            }
        }
    }

    pub(crate) fn expect(&mut self, words: &str) {
        assert_eq!(self.hear().as_deref(), Some(words));
    }

    /// Lets a child that listens go on.
    pub(crate) fn go_on(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for its end, which must be a good one.
    pub(crate) fn finish(mut self) {
        self.stdin = None;
        while self.hear().is_some() {}
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn say(words: &str) {
    println!("{MARK}{words}");
}

/// Waits until the parent lets it go on.
pub(crate) fn listen() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[test]
fn play() {
    #[expect(
        clippy::disallowed_methods,
        reason = "how a test tells its child what to do"
    )]
    let (role, ledger) = (std::env::var(ROLE), std::env::var_os(LEDGER));
    // Among the other tests it has no role; they start it with one.
    let (Ok(role), Some(ledger)) = (role, ledger) else {
        return;
    };
    let ledger = PathBuf::from(ledger);
    match role.split_once(' ').unwrap_or((&role, "")) {
        ("write", name) => processes::write_many(&ledger, name),
        ("announce", _) => processes::write_when_told(&ledger),
        ("hold", _) => processes::hold_lock(&ledger),
        ("write-until-killed", name) => crashes::write_until_killed(&ledger, name),
        ("write-limited", _) => disks::write_limited(&ledger),
        ("open", _) => {
            let opened = stage::open(&ledger, Limits::default());
            say(&opened.map_or_else(|error| error.to_string(), |_| "opened".to_owned()));
        }
        (other, _) => panic!("no such role: {other}"),
    }
}
