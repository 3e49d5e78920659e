//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! - `verify` is the whole gate and changes no file of the source tree; `fix` is the one that does.
//! - `test` prepares what the tests need on a fresh machine, says what it does, and runs them all.
//! - `dist` makes what is handed to users: a static binary, and a Python wheel that carries it.
//! - `bench`, `fuzz`, `simulate` and `soak` run what is too slow for the gate.
//!
//! The rules that `verify` holds the workspace to are data in [`rules`]; `direction`, `outside` and `layout` evaluate
//! them over facts read by `metadata`, so that each can be tested on a made-up workspace.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a build tool at the outermost edge: it reads arguments, starts programs, measures time and prints"
)]

mod bench;
mod conformance;
mod daemon;
mod direction;
mod dist;
mod fix;
mod fuzz;
mod layout;
mod metadata;
mod node;
mod outside;
mod program;
mod python;
mod rules;
mod simulate;
mod soak;
mod stage;
mod system;
mod test;
mod tool;
mod verdicts;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

const USAGE: &str = "\
The project's own commands.

Usage: cargo xtask COMMAND

  verify [STAGE...]               Run the whole gate, or some stages of it; change nothing.
  fix                             Format, and apply what clippy can fix by itself.
  test [-- ARGS]                  Prepare this machine for the tests and run them.
                                  ARGS go to `cargo test`, such as `-- -p countersign-canonical`.
  conformance                     Run the official MCP conformance suite, with us in front of a server and without.
  dist [--check]                  Make the static Linux binary and the wheel that carries it, and try them
                                  in an empty root directory and as Python's installers install it.
  bench [NAME] [-- ARGS]          Run the benchmarks, or the one called NAME.
  fuzz [TARGET] [--seconds N]     Run every fuzz target, or one, for N seconds each (60).
  simulate [--seeds N] [--from S] [--ledger memory|sqlite]
                                  Simulate N worlds around one ledger (20000), and print the
                                  shortest list of actions that breaks an invariant.
  soak [--kills N]                Kill a process that performs writes N times (1000), and count what was done.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<()> {
    let root = workspace_root()?;
    let Some((command, rest)) = arguments.split_first() else {
        bail!("no command given\n\n{USAGE}");
    };
    match command.as_str() {
        "verify" => verify::run(&root, rest),
        "fix" => {
            refuse_arguments(command, rest)?;
            fix::run(&root)
        }
        "test" => test::run(
            &root,
            after_separator(command, rest)?,
            test::Snapshots::Review,
        ),
        "conformance" => {
            refuse_arguments(command, rest)?;
            conformance::run(&root)
        }
        "dist" => dist::run(&root, rest),
        "bench" => bench::run(&root, rest),
        "fuzz" => fuzz::run(&root, rest),
        "simulate" => simulate::run(&root, rest),
        "soak" => soak::run(&root, rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        unknown => bail!("there is no command `{unknown}`\n\n{USAGE}"),
    }
}

fn workspace_root() -> anyhow::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_path_buf)
        .context("the workspace root is the folder above `xtask`, and there is none")
}

fn refuse_arguments(command: &str, arguments: &[String]) -> anyhow::Result<()> {
    match arguments.first() {
        None => Ok(()),
        Some(first) => bail!("`cargo xtask {command}` takes no arguments, and got `{first}`"),
    }
}

fn after_separator<'a>(command: &str, arguments: &'a [String]) -> anyhow::Result<&'a [String]> {
    match arguments.split_first() {
        None => Ok(&[]),
        Some((separator, rest)) if separator == "--" => Ok(rest),
        Some((first, _)) => bail!(
            "`cargo xtask {command}` got `{first}`: put arguments for cargo after `--`, as in `cargo xtask {command} -- {first}`"
        ),
    }
}
