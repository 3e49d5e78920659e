//! The fuzz targets, which need the nightly toolchain and are no part of the gate.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::program::Program;
use crate::tool;

pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let plan = Plan::parse(arguments)?;
    let known = targets(root)?;
    let chosen = match plan.target {
        None => known,
        Some(target) if known.contains(&target) => vec![target],
        Some(target) => bail!(
            "there is no fuzz target `{target}`: fuzz/fuzz_targets has {}",
            known.join(", ")
        ),
    };
    if !Program::new("rustup", root)
        .arguments(["run", "nightly", "cargo", "--version"])
        .succeeds()
    {
        bail!("fuzzing needs the nightly toolchain: run `rustup toolchain install nightly`");
    }
    let path = tool::CARGO_FUZZ.ensure(root)?;
    for target in chosen {
        let time = format!("-max_total_time={}", plan.seconds);
        Program::new("rustup", root)
            .arguments([
                "run", "nightly", "cargo", "fuzz", "run", &target, "--", &time,
            ])
            .environment("PATH", &path)
            .without_environment("RUSTUP_TOOLCHAIN")
            .without_environment("CARGO")
            .run()
            .with_context(|| {
                format!("fuzz target `{target}` found something; its input lies in fuzz/artifacts")
            })?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
struct Plan {
    target: Option<String>,
    seconds: u32,
}

impl Plan {
    fn parse(arguments: &[String]) -> anyhow::Result<Self> {
        let mut plan = Self {
            target: None,
            seconds: 60,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let seconds = arguments.next().context("`--seconds` needs a number")?;
                plan.seconds = match seconds.parse() {
                    Ok(seconds) if seconds > 0 => seconds,
                    _ => bail!("`--seconds` needs a number above zero, and got `{seconds}`"),
                };
            } else if argument.starts_with('-') {
                bail!("`cargo xtask fuzz` does not know `{argument}`");
            } else if plan.target.replace(argument.clone()).is_some() {
                bail!("`cargo xtask fuzz` takes one target, and got `{argument}` too");
            }
        }
        Ok(plan)
    }
}

fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join("fuzz").join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).context("cannot list fuzz/fuzz_targets")? {
        let path = entry.context("cannot list fuzz/fuzz_targets")?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(
                path.file_stem()
                    .and_then(|name| name.to_str())
                    .map(str::to_owned),
            );
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> anyhow::Result<Plan> {
        Plan::parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn reads_target_and_seconds_in_any_order() {
        let plan = |target: Option<&str>, seconds| Plan {
            target: target.map(str::to_owned),
            seconds,
        };
        assert_eq!(parse("").unwrap(), plan(None, 60));
        assert_eq!(parse("parse --seconds 5").unwrap(), plan(Some("parse"), 5));
        assert_eq!(parse("--seconds 5 parse").unwrap(), plan(Some("parse"), 5));
        for line in [
            "parse more",
            "--seconds",
            "--seconds 0",
            "--seconds -1",
            "--second 5",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
