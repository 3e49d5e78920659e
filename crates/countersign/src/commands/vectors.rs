//! `countersign vectors`.

mod canonical;
mod governed;
mod make;
mod random;
mod scenarios;

use std::io::{self, BufRead, BufWriter, Read as _, Write as _};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use countersign_canonical::{Limits, Object, Utf8, Value, encode_into, parse};

use crate::cli::{VectorKind, VectorsArguments, VectorsCommand};
use crate::output::Verdict;

/// The most bytes of one line.
const MAX_LINE_BYTES: usize = 256 << 20;
/// The deepest line: vectors hold documents that are too deep for what they ask.
const MAX_LINE_DEPTH: usize = 256;

pub(crate) fn run(arguments: &VectorsArguments) -> anyhow::Result<Verdict> {
    match arguments.command {
        VectorsCommand::Answer { kind } => {
            let answer: fn(&Object) -> anyhow::Result<Object> = match kind {
                VectorKind::Canonical => canonical::answer,
                VectorKind::Governed => governed::answer,
                VectorKind::Scenarios => scenarios::answer,
            };
            answer_lines(io::stdin().lock(), io::stdout().lock(), answer)?;
        }
        VectorsCommand::Make { seed, count, kind } => {
            make::make_lines(io::stdout().lock(), seed, count, kind)?;
        }
    }
    Ok(Verdict::Good)
}

/// Answers line by line, so that memory stays flat however long the input is.
fn answer_lines(
    mut input: impl BufRead,
    output: impl io::Write,
    answer: impl Fn(&Object) -> anyhow::Result<Object>,
) -> anyhow::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 16, output);
    let mut line = Vec::new();
    let mut encoded = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() == MAX_LINE_BYTES {
            bail!("line {number} has more than {MAX_LINE_BYTES} bytes");
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answered = answer_line(&line, &answer).with_context(|| format!("line {number}"))?;
        encoded.clear();
        encode_into::<Utf8>(&answered, &mut encoded);
        encoded.push(b'\n');
        output.write_all(&encoded)?;
    }
    output.flush()?;
    Ok(())
}

/// Answers one line; its `id`, where it has one, comes back with the answer.
fn answer_line(
    line: &[u8],
    answer: impl Fn(&Object) -> anyhow::Result<Object>,
) -> anyhow::Result<Value> {
    let limits = Limits {
        depth: MAX_LINE_DEPTH,
        ..unbounded()
    };
    let vector = parse(line, &limits).context("not strict JSON")?;
    let vector = vector.as_object().context("not an object")?;
    let mut answered = answer(vector)?;
    if let Some(id) = vector.get("id") {
        answered.insert("id".to_owned(), id.clone());
    }
    Ok(answered.into())
}

/// The bytes that a member holds in base64.
fn bytes_member(vector: &Object, name: &str) -> anyhow::Result<Vec<u8>> {
    BASE64
        .decode(text_member(vector, name)?)
        .with_context(|| format!("{name} must be base64"))
}

/// The text that a member holds.
fn text_member<'v>(vector: &'v Object, name: &str) -> anyhow::Result<&'v str> {
    let text = vector.get(name).and_then(Value::as_str);
    text.with_context(|| format!("{name} must be a string"))
}

/// The protocol's own depth, and no other bounds: a line is bounded already.
fn unbounded() -> Limits {
    Limits {
        nodes: usize::MAX,
        ..Limits::tool_result()
    }
    .with_bytes(usize::MAX)
}
