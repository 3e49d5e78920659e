//! `countersign contract`.

mod build;
mod catalog_file;
mod check;
mod endpoint_catalog;
mod schema;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use countersign_canonical::Value;
use countersign_governed::contract::INTENT_MAX_BYTES;
use countersign_governed::{Catalog, Envelope, Epoch, Faults, Intent, read_document};
use countersign_runtime::{Clock as _, SystemClock};

use crate::cli::{ContractArguments, ContractCommand, NowArgument};
use crate::input;
use crate::output::{Verdict, print_text};

pub(crate) fn run(arguments: &ContractArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        ContractCommand::Check(command) => check::run(command),
        ContractCommand::Build(command) => build::run(command),
        ContractCommand::Schema(arguments) => schema::run(arguments),
        ContractCommand::Catalog(command) => catalog_file::run(command),
    }
}

/// Reads a file whose content is then judged: even what is not JSON is a finding about it.
fn read_bytes(what: &str, file: &Path) -> anyhow::Result<Vec<u8>> {
    input::read(what, Some(file), INTENT_MAX_BYTES)
}

/// The document of a file, or what the contract has against reading it.
fn read_judged(what: &str, file: &Path) -> anyhow::Result<Result<Value, Faults>> {
    Ok(read_document(&read_bytes(what, file)?))
}

/// Reads an intent, bare or in its envelope. Only an envelope has the member `intent`.
fn read_envelope(catalog: &Catalog, document: &Value) -> Result<Envelope, Faults> {
    if document.get("intent").is_some() {
        Envelope::from_value(catalog, document)
    } else {
        Intent::from_value(catalog, document).map(Envelope::build)
    }
}

/// When to judge: as told, else now.
fn time_of(now: &NowArgument) -> anyhow::Result<Epoch> {
    now.time.map_or_else(clock, Ok)
}

fn clock() -> anyhow::Result<Epoch> {
    let now = SystemClock.now().and_then(|now| {
        #[expect(
            clippy::cast_precision_loss,
            reason = "whole seconds up to the year 9999 are exact"
        )]
        let seconds = now.as_unix_seconds() as f64;
        Epoch::from_seconds(seconds)
    });
    now.context("the clock shows a time before 1970 or after 9999")
}

/// Prints why a document is not accepted.
fn refuse(what: &str, reasons: &str) -> anyhow::Result<Verdict> {
    print_text(&format!("The {what} is not accepted:\n{}", indent(reasons)))?;
    Ok(Verdict::Bad)
}

/// Puts each line under a heading.
fn indent(lines: &str) -> String {
    let lines = lines.lines().flat_map(|line| ["  ", line, "\n"]);
    lines.collect()
}

/// Names and values, one pair a line, the values under each other.
fn table(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:width$}  {value}");
    }
    text
}
