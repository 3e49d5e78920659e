//! `countersign demo`.

use crate::cli::DemoArguments;
use crate::output::Verdict;

pub(crate) fn run(_: &DemoArguments) -> anyhow::Result<Verdict> {
    anyhow::bail!("not there yet")
}
