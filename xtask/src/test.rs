//! Every test of the workspace, after preparing what they need; nothing is skipped because something is missing.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::program::Program;
use crate::{node, python, system};

/// What to do with a snapshot that does not match.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Snapshots {
    /// Write the new one beside it, for a person to look at.
    Review,
    /// Write nothing.
    Check,
}

/// Prepares the machine and runs `cargo test`: all packages, unless `arguments` choose.
pub(crate) fn run(root: &Path, arguments: &[String], snapshots: Snapshots) -> anyhow::Result<()> {
    system::ensure(root, &[system::GIT, system::PYTHON])?;
    let mut program = Program::cargo(root).arguments(["test", "--locked"]);
    for environment in &python::ENVIRONMENTS {
        let interpreter = python::ensure(root, environment)?;
        program = program.environment(environment.variable, interpreter);
    }
    let node = node::ensure(root)?;
    program = program
        .environment(node::RUNTIME_VARIABLE, node.runtime)
        .environment(node::MODULES_VARIABLE, node.modules);
    if arguments.is_empty() {
        program = program.arguments(["--workspace", "--no-fail-fast"]);
    }
    program = program.arguments(arguments);
    match snapshots {
        Snapshots::Review => {}
        Snapshots::Check => program = program.environment("INSTA_UPDATE", "no"),
    }
    let mut total = Total::default();
    let result = program.stream(|line| total.count(line));
    println!("\ntotal: {total}");
    result.context("not every test passed")?;
    if arguments.is_empty() && total.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// The sum over all test binaries, each of which prints its own.
#[derive(Debug, Default)]
struct Total {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Total {
    /// Counts a line such as `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; …`; others do not count.
    fn count(&mut self, line: &str) {
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Total {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)?;
        match self.ignored {
            0 => Ok(()),
            ignored => write!(formatter, ", {ignored} skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_the_sum_of_all_binaries() {
        let mut total = Total::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test parser::reads ... ok",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 4 filtered out; finished in 1.20s",
            "test result: ok",
        ] {
            total.count(line);
        }
        assert_eq!(total.to_string(), "15 passed, 2 failed");
        total.count("test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        assert_eq!(total.to_string(), "16 passed, 2 failed, 2 skipped");
    }
}
