//! Approvals made earlier, in a file that only its owner can write.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use countersign_canonical::{Limits, Value, indented, parse};
use countersign_contract::{FaultCollector, Path as Place, Problem};
use countersign_policy::{Approval, read_approval};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::input::describe;

const OWN_FILE: &str = "the approvals must be a regular file of your own, no link, that nobody else can read or write \
                        (chmod 600)";
const SCHEMA: &str = "countersign-approvals-v1";
/// The most approvals of one file.
const MAX_APPROVALS: usize = 1024;

/// Refuses a place where the approvals could not be written, before anybody is asked for them.
pub(super) fn check_new(file: &Path) -> anyhow::Result<()> {
    let directory = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    };
    if !directory.is_dir() {
        bail!("there is no directory to write the approvals into");
    }
    if file.symlink_metadata().is_ok() {
        bail!("the approvals go to a new file, and this one is there already");
    }
    Ok(())
}

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
        .map_err(|error| {
            anyhow!(
                "cannot write the approvals to a new file: {}",
                describe(&error)
            )
        })
}

/// Reads approvals. Whoever can write the file can approve, so that has to be its owner alone.
pub(super) fn read_approvals(file: &Path) -> anyhow::Result<Vec<Approval>> {
    let limits = Limits::tool_result();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(file)
        .map_err(|error| {
            if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
                anyhow!(OWN_FILE)
            } else {
                unreadable(&error)
            }
        })?;
    check_owner(&opened)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(limits.bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    opened
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    let value = parse(&bytes, &limits).context("the approvals are not strict JSON")?;
    let mut faults = FaultCollector::new();
    let approvals = read_document(&value, &mut faults);
    faults
        .finish_with(approvals)
        .map_err(|faults| anyhow!("{faults}"))
        .context("the approvals are not in order")
}

fn unreadable(error: &io::Error) -> anyhow::Error {
    anyhow!("cannot read the approvals: {}", describe(error))
}

fn check_owner(file: &File) -> anyhow::Result<()> {
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_file() || !is_own || metadata.mode() & 0o077 != 0 {
        bail!(OWN_FILE);
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
