//! Approvals made earlier, in a file that only its owner can write.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use countersign_canonical::{Limits, Value, indented, parse};
use countersign_contract::{FaultCollector, Path as Place, Problem};
use countersign_policy::{Approval, read_approval};
use rustix::fs::OFlags;

const SCHEMA: &str = "countersign-approvals-v1";
/// The most approvals of one file.
const MAX_APPROVALS: usize = 1024;

/// Writes the approvals to a file that must not be there yet.
pub(super) fn write_approvals(file: &Path, approvals: &[Approval]) -> anyhow::Result<()> {
    let list = approvals.iter().map(Approval::to_value).collect();
    let document = Value::from([("schema", SCHEMA.into()), ("approvals", Value::Array(list))]);
    let mut bytes = indented(&document);
    bytes.push(b'\n');
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .context("cannot write the approvals to a new file")
}

/// Reads approvals. Whoever can write the file can approve, so that has to be its owner alone.
pub(super) fn read_approvals(file: &Path) -> anyhow::Result<Vec<Approval>> {
    let limits = Limits::tool_result();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(file)
        .context("cannot read the approvals")?;
    check_owner(&opened)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(limits.bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    opened
        .take(limit)
        .read_to_end(&mut bytes)
        .context("cannot read the approvals")?;
    let value = parse(&bytes, &limits).context("the approvals are not strict JSON")?;
    let mut faults = FaultCollector::new();
    let approvals = read_document(&value, &mut faults);
    faults
        .finish_with(approvals)
        .map_err(|faults| anyhow!("{faults}"))
        .context("the approvals are not in order")
}

fn check_owner(file: &File) -> anyhow::Result<()> {
    let metadata = file.metadata().context("cannot look at the approvals")?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_file() || !is_own || metadata.mode() & 0o077 != 0 {
        bail!(
            "the approvals must be a regular file of your own that nobody else can read or write \
             (chmod 600)"
        );
    }
    Ok(())
}

fn read_document(value: &Value, faults: &mut FaultCollector) -> Option<Vec<Approval>> {
    let object = faults.exact_object(&Place::root(), value, &["schema", "approvals"])?;
    if object.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
        faults.push(Place::fixed("schema"), Problem::Expected(SCHEMA));
    }
    let path = Place::fixed("approvals");
    let items = object.get("approvals").and_then(Value::as_array);
    let items = items.filter(|items| items.len() <= MAX_APPROVALS);
    let items = faults.take(
        &path,
        items.ok_or(Problem::Expected("a list of at most 1024 items")),
    )?;
    let approvals = items.iter().enumerate();
    let approvals = approvals.map(|(index, item)| read_approval(&path.index(index), item, faults));
    approvals.collect()
}
