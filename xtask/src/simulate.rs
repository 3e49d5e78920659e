//! The simulation of the ledger, for longer than the gate runs it. This tool depends on no product crate: it has cargo build
//! and start the simulator.

use std::path::Path;

use crate::program::Program;

/// How many worlds are gone through where nobody says.
const SEEDS: &str = "20000";

pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let mut simulator = Program::cargo(root)
        .arguments(["run", "--locked", "--release", "--package"])
        .arguments(["countersign-testkit", "--bin", "simulate", "--"])
        .arguments(arguments);
    if !arguments.iter().any(|argument| argument == "--seeds") {
        simulator = simulator.arguments(["--seeds", SEEDS]);
    }
    simulator.run()
}
