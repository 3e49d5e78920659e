//! The ledger, and the directory and disk it is on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign_ledger_sqlite::LEDGER;

use crate::cli::LedgerArgument;
use crate::commands::doctor::finding::Finding;
use crate::host_ledger::{LedgerLocation, data_directory, open_existing};

/// Below this a warning is given.
const LOW_BYTES: u64 = 256 << 20;
/// Below this nothing is sure to be recorded.
const TOO_LOW_BYTES: u64 = 16 << 20;

pub(crate) fn findings(named: Option<&LedgerLocation>) -> anyhow::Result<Vec<Finding>> {
    let file = match named {
        Some(location) => location.file.clone(),
        None => data_directory()?.join("ledger.db"),
    };
    let directory = match file.parent().filter(|path| !path.as_os_str().is_empty()) {
        Some(directory) => directory,
        None => Path::new("."),
    };
    let mut findings = vec![mode(directory), space(directory)];
    if fs::symlink_metadata(&file).is_ok() {
        findings.push(content(&file));
    } else if named.is_some() {
        findings.push(Finding::problem(
            "ledger",
            "there is no such file",
            "name the one that is used, with --ledger sqlite:PATH",
        ));
    } else {
        findings.push(Finding::ok(
            "ledger",
            "it will be made when it is first needed",
        ));
    }
    Ok(findings)
}

fn mode(directory: &Path) -> Finding {
    let Ok(metadata) = fs::metadata(directory) else {
        return Finding::ok("directory", "it will be made when it is first needed");
    };
    let open_to_others = metadata.permissions().mode() & 0o077;
    if open_to_others == 0 {
        return Finding::ok("directory", "it is the owner's alone");
    }
    Finding::warning(
        "directory",
        "others may look into the ledger's directory",
        "chmod 700 on it",
    )
}

fn space(directory: &Path) -> Finding {
    // Where the directory is not there yet, the disk is that of the nearest one above it.
    let existing = directory.ancestors().find(|path| path.is_dir());
    let found = existing.and_then(|path| rustix::fs::statvfs(path).ok());
    let Some(found) = found else {
        return Finding::warning(
            "disk",
            "nobody can tell how much room there is",
            "look at the ledger's directory",
        );
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let said = format!("{} MiB are free", free >> 20);
    let remedy = "make room where the ledger is: what cannot be recorded is not done";
    match free {
        0..TOO_LOW_BYTES => Finding::problem("disk", said, remedy),
        TOO_LOW_BYTES..LOW_BYTES => Finding::warning("disk", said, remedy),
        LOW_BYTES.. => Finding::ok("disk", said),
    }
}

fn content(file: &Path) -> Finding {
    let look = "\"countersign ledger check\" tells more; keep the file, and restore a backup";
    let pending = match LEDGER.pending(file) {
        Ok(pending) => pending,
        Err(error) => {
            return Finding::problem(
                "ledger",
                error.to_string(),
                "\"countersign ledger check\" tells what to do",
            );
        }
    };
    if !pending.missing.is_empty() {
        return Finding::warning(
            "ledger",
            format!(
                "it has version {}, and an older form than this program writes",
                pending.version
            ),
            "make a backup; the next command that opens it brings it up to date",
        );
    }
    let argument = LedgerArgument {
        ledger: Some(LedgerLocation {
            file: file.to_path_buf(),
        }),
    };
    let checked = match open_existing(&argument) {
        Ok(ledger) => ledger.backend().check(),
        Err(error) => return Finding::problem("ledger", format!("{error:#}"), look),
    };
    match checked {
        Ok(checked) if checked.findings.is_empty() => Finding::ok(
            "ledger",
            format!(
                "it is whole: {} operations and {} audit entries",
                checked.operations, checked.audit_entries
            ),
        ),
        Ok(checked) => {
            let count = checked.findings.len();
            Finding::problem(
                "ledger",
                format!("it is damaged in {count} places or more"),
                look,
            )
        }
        Err(error) => Finding::problem("ledger", error.to_string(), look),
    }
}
