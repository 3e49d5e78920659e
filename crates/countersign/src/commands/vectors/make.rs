//! New vectors of governed actions: documents that keep the contract, and documents that break it in one place.

mod arguments;
mod change;
mod documents;

use std::io::{self, BufWriter, Write as _};

use anyhow::Context as _;
use countersign_canonical::{Object, Utf8, Value, encode_into};

use super::governed;
use super::random::Random;
use crate::cli::GovernedKind;

const KINDS: [GovernedKind; 6] = [
    GovernedKind::ToolArgs,
    GovernedKind::Intent,
    GovernedKind::IntentBuild,
    GovernedKind::ExecutionRequest,
    GovernedKind::Gate,
    GovernedKind::ExecutionResult,
];

/// Writes vectors with their answers, one a line.
pub(super) fn make_lines(
    output: impl io::Write,
    seed: u64,
    count: u64,
    kind: Option<GovernedKind>,
) -> anyhow::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 16, output);
    let mut seeds = Random::new(seed);
    let mut kinds = KINDS.into_iter().cycle();
    let mut line = Vec::new();
    for _ in 0..count {
        let in_turn = kinds.next().unwrap_or(GovernedKind::ToolArgs);
        // A generator of its own for each line keeps a line the same when an earlier one is made otherwise.
        let vector = make(kind.unwrap_or(in_turn), &mut Random::new(seeds.next()))?;
        line.clear();
        encode_into::<Utf8>(&vector, &mut line);
        line.push(b'\n');
        output.write_all(&line)?;
    }
    output.flush()?;
    Ok(())
}

fn make(kind: GovernedKind, random: &mut Random) -> anyhow::Result<Value> {
    let mut vector: Object = documents::question(kind, random);
    let answer = governed::answer(&vector).context("a vector that was made has no answer")?;
    for (name, value) in answer {
        vector.insert(name, value);
    }
    Ok(vector.into())
}
