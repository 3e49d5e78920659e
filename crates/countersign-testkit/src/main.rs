//! Runs simulations for longer than a test does: `cargo xtask simulate`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a development program at the outermost edge: it reads its arguments and prints what it found"
)]

use std::process::ExitCode;

use countersign_testkit::{Keeper, Listed, Setting, find};

/// How many seeds are gone through between two signs of life.
const CHUNK: u64 = 1000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(plan) = Plan::read(&arguments) {
        return simulate(&plan);
    }
    eprintln!("usage: simulate --seeds N [--from S] [--ledger memory|sqlite]");
    ExitCode::FAILURE
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Plan {
    seeds: u64,
    from: u64,
    setting: Setting,
}

impl Plan {
    fn read(arguments: &[String]) -> Option<Self> {
        let mut plan = Self::default();
        for pair in arguments.chunks(2) {
            let [name, value] = pair else {
                return None;
            };
            match (name.as_str(), value.as_str()) {
                ("--seeds", number) => plan.seeds = number.parse().ok()?,
                ("--from", number) => plan.from = number.parse().ok()?,
                ("--ledger", "memory") => plan.setting.keeper = Keeper::Memory,
                ("--ledger", "sqlite") => plan.setting.keeper = Keeper::Sqlite,
                _ => return None,
            }
        }
        (plan.seeds > 0).then_some(plan)
    }
}

fn simulate(plan: &Plan) -> ExitCode {
    let end = plan.from.saturating_add(plan.seeds);
    let mut from = plan.from;
    while from < end {
        let to = end.min(from.saturating_add(CHUNK));
        if let Some(found) = find(from..to, plan.setting) {
            println!("seed {}: {}", found.seed, found.violation.invariant);
            println!("  {}", found.violation.said);
            println!(
                "the shortest list that fails, after {}:",
                found.violation.after
            );
            print!("{}", Listed(&found.actions));
            return ExitCode::FAILURE;
        }
        eprintln!("{to}: nothing found");
        from = to;
    }
    println!(
        "{} worlds from seed {}: every invariant holds",
        plan.seeds, plan.from
    );
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_seeds_and_a_ledger() {
        let read = |line: &str| {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            Plan::read(&arguments)
        };
        let plan = read("--seeds 5 --from 7 --ledger sqlite").unwrap();
        assert_eq!((plan.seeds, plan.from), (5, 7));
        assert_eq!(plan.setting.keeper, Keeper::Sqlite);
        for line in [
            "",
            "--seeds",
            "--seeds x",
            "--seeds 1 --ledger paper",
            "--seeds 0",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
