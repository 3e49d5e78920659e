//! Reading what the user names. Messages say what was read, not where it lies.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use countersign_canonical::{Limits, Value, parse};

/// Reads a file, or standard input where none is named, up to a limit.
pub(crate) fn read(what: &str, file: Option<&Path>, max_bytes: usize) -> anyhow::Result<Vec<u8>> {
    let bytes = match file.filter(|path| path.as_os_str() != "-") {
        Some(path) => File::open(path).and_then(|file| read_limited(file, max_bytes)),
        None => read_limited(io::stdin().lock(), max_bytes),
    };
    let bytes =
        bytes.map_err(|error| anyhow::anyhow!("cannot read the {what}: {}", describe(&error)))?;
    if bytes.len() > max_bytes {
        bail!("the {what} has more than {max_bytes} bytes");
    }
    Ok(bytes)
}

/// Reads a file of strict JSON.
pub(crate) fn read_json(what: &str, file: &Path, limits: &Limits) -> anyhow::Result<Value> {
    let bytes = read(what, Some(file), limits.bytes)?;
    parse(&bytes, limits).with_context(|| format!("the {what} is not strict JSON"))
}

/// One byte more than allowed shows that there is too much, without reading all of it.
fn read_limited(source: impl io::Read, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max_bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    source.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The error without the number that the system gives it.
pub(crate) fn describe(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "there is no such file".to_owned();
    }
    error.kind().to_string()
}
