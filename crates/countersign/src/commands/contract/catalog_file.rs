//! Tool catalogs in files.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::anyhow;
use countersign_contract::Inert;
use countersign_governed::{CATALOG_MAX_BYTES, Catalog, Faults};

use super::{indent, refuse};
use crate::cli::{CatalogArgument, CatalogCommand};
use crate::input;
use crate::output::{Verdict, print_text};
use crate::toml_document::read_toml;

pub(super) fn run(command: &CatalogCommand) -> anyhow::Result<Verdict> {
    let CatalogCommand::Check { file } = command;
    match read(file)? {
        Ok(catalog) => {
            print_text(&describe(&catalog))?;
            Ok(Verdict::Good)
        }
        Err(faults) => refuse("catalog", &faults.to_string()),
    }
}

/// Loads the catalog that an argument names, or the built-in one.
pub(super) fn load(argument: &CatalogArgument) -> anyhow::Result<Cow<'static, Catalog>> {
    let Some(file) = &argument.file else {
        return Ok(Cow::Borrowed(Catalog::colony()));
    };
    let catalog = read(file)?;
    let refused = |faults: Faults| anyhow!("the catalog is not in order:\n{faults}");
    catalog.map(Cow::Owned).map_err(refused)
}

/// A JSON document begins with a brace, and a TOML document never does.
fn read(file: &Path) -> anyhow::Result<Result<Catalog, Faults>> {
    let bytes = input::read("catalog", Some(file), CATALOG_MAX_BYTES)?;
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(Catalog::parse(&bytes));
    }
    Ok(Catalog::from_value(&read_toml("catalog", bytes)?))
}

fn describe(catalog: &Catalog) -> String {
    let mut text = format!("The catalog {} is in order. Its tools:\n", catalog.name());
    for tool in catalog.tools() {
        let grants = if tool.is_grantable() {
            ""
        } else {
            " (no standing grant may authorize it)"
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {}{grants}", tool.name());
        for argument in tool.arguments() {
            let presence = if argument.is_required() {
                "required"
            } else {
                "optional"
            };
            let rule = argument.rule().describe();
            let line = format!("{}: {}, {presence}", argument.name(), Inert::new(&rule));
            text.push_str(&indent(&indent(&line)));
        }
    }
    text
}
