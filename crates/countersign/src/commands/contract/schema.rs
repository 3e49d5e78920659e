//! `countersign contract schema`.

use anyhow::{Context as _, anyhow};
use countersign_canonical::Value;
use countersign_governed::{Catalog, Dialect, Tool};

use super::catalog_file;
use crate::cli::SchemaArguments;
use crate::output::{Verdict, print_json};

pub(super) fn run(arguments: &SchemaArguments) -> anyhow::Result<Verdict> {
    let catalog = catalog_file::load(&arguments.catalog)?;
    let dialect = match &arguments.dialect {
        Some(name) => Some(Dialect::from_name(name).context("there is no such interface")?),
        None => None,
    };
    let tool = match &arguments.tool {
        Some(name) => Some(find(&catalog, name)?),
        None => None,
    };
    let printed = match (tool, dialect) {
        (Some(tool), Some(dialect)) => tool.definition(dialect),
        (Some(tool), None) => tool.schema(),
        (None, Some(dialect)) => catalog.definitions(dialect),
        (None, None) => {
            let schemas = catalog
                .tools()
                .map(|tool| (tool.name().as_str().to_owned(), tool.schema()));
            Value::Object(schemas.collect())
        }
    };
    print_json(&printed)?;
    Ok(Verdict::Good)
}

fn find<'c>(catalog: &'c Catalog, name: &str) -> anyhow::Result<&'c Tool> {
    catalog.tool(name).ok_or_else(|| {
        let names: Vec<_> = catalog.tools().map(|tool| tool.name().as_str()).collect();
        anyhow!(
            "the catalog {} has no such tool; it has: {}",
            catalog.name(),
            names.join(", ")
        )
    })
}
