//! `countersign turn`.

use crate::cli::TurnArguments;
use crate::output::Verdict;

pub(crate) fn run(_: &TurnArguments) -> anyhow::Result<Verdict> {
    anyhow::bail!("not there yet")
}
