//! What to do when a ledger cannot do something.

use anyhow::anyhow;
use countersign_dispatch::ledger::{Cause, Error};
use countersign_ledger_sqlite::{OpenError, Refusal};

/// Why a ledger was not opened, and what to do.
pub(crate) fn unopened(error: &OpenError) -> anyhow::Error {
    let advice = match error {
        OpenError::Refused(refusal) => advice_on_file(*refusal),
        OpenError::NotALedger => {
            Some("name another file; if this one was a ledger, restore a backup")
        }
        // The error itself says which program opens it.
        OpenError::Newer { .. } => None,
        OpenError::Ledger(error) => advice(*error),
    };
    advised(&format!("cannot use the ledger: {error}"), advice)
}

/// Why an open ledger did not do what was asked, and what to do.
pub(crate) fn failed(error: Error) -> anyhow::Error {
    advised(&error.to_string(), advice(error))
}

fn advised(error: &str, advice: Option<&str>) -> anyhow::Error {
    match advice {
        Some(advice) => anyhow!("{error}; {advice}"),
        None => anyhow!("{error}"),
    }
}

fn advice_on_file(refusal: Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Missing => {
            Some("name the one that \"countersign turn\" used, with --ledger sqlite:PATH")
        }
        Refusal::Exists => Some("name a file that is not there"),
        Refusal::NoDirectory => Some("make the directory first, for yourself alone (chmod 700)"),
        Refusal::NotAFile(_) | Refusal::Link(_) => Some("name the file itself"),
        Refusal::SecondName(_) => {
            Some("remove the other name, or use a copy made with \"countersign ledger backup\"")
        }
        Refusal::OtherOwner(_) => Some("run this as that user, or name a ledger of your own"),
        // The error itself says how.
        Refusal::OpenToOthers(_) => None,
        Refusal::Unreadable(_) => Some("look at its permissions and at those of its directory"),
    }
}

fn advice(error: Error) -> Option<&'static str> {
    match error {
        // These say so themselves.
        Error::Full { .. } | Error::Busy => None,
        Error::Damaged(_) => Some(
            "\"countersign ledger check\" tells how much is; stop using it, keep the file, and restore a backup",
        ),
        Error::Unconfirmed => Some("run this again: what was written is found, and not done again"),
        Error::Unavailable(cause) => Some(match cause {
            Cause::DiskFull => {
                "make room on the disk, and run this again: nothing that was recorded is lost"
            }
            Cause::ReadOnly => "let it and its directory be written, and run this again",
            Cause::Io => {
                "look after the disk before you go on; what was recorded before is in the ledger or in your backup"
            }
            Cause::Closed => "run this again",
            Cause::Files => {
                "look at the permissions of its directory and at the number of open files"
            }
            Cause::Moved => "put it back, or end all programs that use it before you go on",
            Cause::Resources => "end other programs, and run this again",
            Cause::Fault => "this is a fault of countersign; nothing was written",
            Cause::Clock => "set this machine's clock",
        }),
    }
}
