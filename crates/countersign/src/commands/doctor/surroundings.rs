//! The program itself, the clock and the terminal.

use std::time::{Duration, SystemTime};

use crate::approver_key::KeyStore;
use crate::commands::doctor::finding::Finding;
use crate::prompt::Terminal;

/// 2026-01-01, before which this program was not written.
const EARLIEST: Duration = Duration::from_hours(490_896);
/// 2100-01-01.
const LATEST: Duration = Duration::from_hours(1_139_568);

pub(crate) fn findings() -> Vec<Finding> {
    vec![version(), clock(), terminal(), key()]
}

fn version() -> Finding {
    Finding::ok("version", env!("CARGO_PKG_VERSION"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the machine's clock itself is what is looked at"
)]
fn clock() -> Finding {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    if now.is_ok_and(|now| (EARLIEST..LATEST).contains(&now)) {
        return Finding::ok("clock", "it shows a time that can be");
    }
    Finding::problem(
        "clock",
        "it shows a time that cannot be",
        "set this machine's clock: approvals expire by it",
    )
}

fn terminal() -> Finding {
    match Terminal::open() {
        Some(_) => Finding::ok("terminal", "approvals can be asked for here"),
        None => Finding::warning(
            "terminal",
            "there is none to ask for approvals on",
            "run \"countersign approvals\" in a terminal of your own",
        ),
    }
}

fn key() -> Finding {
    match KeyStore::open().and_then(|store| store.all()) {
        Ok(keys) if keys.is_empty() => Finding::warning(
            "key",
            "no approver has one yet, so nothing is approved",
            "make one with \"countersign approver create\", or with the first approval",
        ),
        Ok(_) => Finding::ok("key", "approvals are signed"),
        Err(error) => Finding::problem(
            "key",
            format!("the approvers' keys cannot be used: {error:#}"),
            "see \"countersign approver show\"",
        ),
    }
}
