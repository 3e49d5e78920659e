//! `countersign ledger`.

use std::time::Duration;

use countersign_canonical::Value;
use countersign_ledger::Inspection as _;
use countersign_ledger_sqlite::{Checked, LEDGER, MAX_FINDINGS, Pending, restore};

use crate::cli::{LedgerArgument, LedgerArguments, LedgerCommand};
use crate::commands::operations::list::before;
use crate::host_ledger::{LedgerLocation, open_existing};
use crate::ledger_advice::{failed, unopened};
use crate::operation_json::number;
use crate::output::{Verdict, complain, print_json};

pub(crate) fn run(arguments: &LedgerArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        LedgerCommand::Check { json, ledger } => check(ledger, *json),
        LedgerCommand::Backup { to, ledger } => {
            let ledger = open_existing(ledger)?;
            let engine = ledger.backend().engine();
            engine.back_up(to).map_err(|error| unopened(&error))?;
            complain("the copy is complete");
            Ok(Verdict::Good)
        }
        LedgerCommand::Restore { from, ledger } => {
            let location = LedgerLocation::or_default(ledger.ledger.as_ref())?;
            restore(from, &location.file, &LEDGER).map_err(|error| unopened(&error))?;
            complain(
                "restored; it does not know what happened since the backup: look before you approve what waits",
            );
            Ok(Verdict::Good)
        }
        LedgerCommand::Prune {
            older_than,
            json,
            ledger,
        } => prune(ledger, *older_than, *json),
        LedgerCommand::Migrate { json, ledger, .. } => migrate(ledger, *json),
    }
}

fn check(argument: &LedgerArgument, as_json: bool) -> anyhow::Result<Verdict> {
    let ledger = open_existing(argument)?;
    let checked = ledger.backend().check().map_err(failed)?;
    if as_json {
        print_json(&checked_document(&checked))?;
    } else {
        for finding in &checked.findings {
            complain(&finding.to_string());
        }
        complain(&checked_words(&checked));
    }
    Ok(if checked.findings.is_empty() {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

fn checked_document(checked: &Checked) -> Value {
    let findings = checked.findings.iter();
    let findings = findings.map(|finding| finding.to_string().into()).collect();
    Value::from([
        ("schema", "countersign-ledger-check-v1".into()),
        ("operations", number(checked.operations)),
        ("audit_entries", number(checked.audit_entries)),
        ("grants", number(checked.grants)),
        ("findings", Value::Array(findings)),
    ])
}

fn checked_words(checked: &Checked) -> String {
    let seen = format!(
        "{} operations and {} audit entries",
        checked.operations, checked.audit_entries
    );
    match checked.findings.len() {
        0 => format!("the ledger is whole: {seen}"),
        MAX_FINDINGS => {
            "the ledger is damaged, in more places than are listed: stop using it, keep the file, and restore a backup"
                .to_owned()
        }
        _ => format!(
            "the ledger is damaged: {seen} were read; stop using it, keep the file, and restore a backup"
        ),
    }
}

fn prune(
    argument: &LedgerArgument,
    older_than: Duration,
    as_json: bool,
) -> anyhow::Result<Verdict> {
    let ledger = open_existing(argument)?;
    let now = ledger.now().map_err(failed)?;
    let removed = ledger
        .backend()
        .prune(before(now, older_than))
        .map_err(failed)?;
    if as_json {
        print_json(&Value::from([
            ("schema", "countersign-ledger-prune-v1".into()),
            ("removed", number(removed)),
        ]))?;
    } else {
        complain(&format!("removed {removed} operations without effect"));
    }
    Ok(Verdict::Good)
}

fn migrate(argument: &LedgerArgument, as_json: bool) -> anyhow::Result<Verdict> {
    let location = LedgerLocation::or_default(argument.ledger.as_ref())?;
    let pending = LEDGER
        .pending(&location.file)
        .map_err(|error| unopened(&error))?;
    let Pending { version, missing } = &pending;
    if as_json {
        let missing = missing.iter().map(|name| Value::from(*name)).collect();
        print_json(&Value::from([
            ("schema", "countersign-ledger-migrate-v1".into()),
            ("version", number((*version).into())),
            ("missing", Value::Array(missing)),
        ]))?;
    } else if missing.is_empty() {
        complain(&format!("the ledger has version {version}, the last one"));
    } else {
        let missing = missing.join(", ");
        complain(&format!(
            "the ledger has version {version}; the next command that opens it will apply {missing}"
        ));
    }
    Ok(if missing.is_empty() {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}
