//! Tool catalogs: the tools a model may propose, as data.

mod document;
mod provider;
mod rule;
mod schema;
mod template;
mod tool;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use countersign_canonical::{Limits, Value, parse};

use crate::fault::{BindingReason, DocumentReason, Faults, Report};
use crate::place::Path;

pub use document::{CATALOG_SCHEMA, MAXIMUM_ARGUMENTS, MAXIMUM_TOOLS};
pub use provider::Dialect;
pub use rule::ArgumentRule;
pub use schema::{BEYOND_SCHEMA, BeyondSchema};
pub use template::{Display, PREVIEW_MAX_CHARS, Template, preview};
pub use tool::{Argument, Arguments, Presence, Tool};

/// Largest catalog document, in bytes.
pub const CATALOG_MAX_BYTES: usize = 1024 * 1024;

/// The tools that may be proposed under one contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    name: String,
    tools: BTreeMap<String, Tool>,
}

impl Catalog {
    /// Reads a catalog from a JSON document, or says everything that is wrong with it.
    pub fn parse(input: &[u8]) -> Result<Self, Faults> {
        Self::from_value(&read(input, CATALOG_MAX_BYTES)?)
    }

    /// Reads a catalog from a document that was parsed elsewhere, such as TOML.
    pub fn from_value(document: &Value) -> Result<Self, Faults> {
        let mut report = Report::default();
        let catalog = document::catalog(document, &mut report);
        report.finish(catalog)
    }

    /// Shows the built-in catalog of the ten `colony` tools.
    pub fn colony() -> &'static Self {
        static COLONY: LazyLock<Catalog> = LazyLock::new(|| {
            Catalog::parse(COLONY_DOCUMENT.as_bytes())
                // A test proves that the document is valid; an empty catalog refuses every call.
                .unwrap_or_else(|_| Catalog {
                    name: "colony".to_owned(),
                    tools: BTreeMap::new(),
                })
        });
        &COLONY
    }

    /// Shows the document of the built-in catalog, as a start for one's own.
    pub fn colony_document() -> &'static str {
        COLONY_DOCUMENT
    }

    /// Names the catalog.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Finds a tool by its exact name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// Lists the tools, in the order of their names.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.tools.values()
    }

    /// Checks a call's arguments as a model wrote them.
    pub fn check_arguments(&self, tool: &str, input: &[u8]) -> Result<Arguments, Faults> {
        self.check_arguments_value(tool, &read(input, crate::contract::INTENT_MAX_BYTES)?)
    }

    /// Checks a call's arguments that our strict parser has read.
    pub fn check_arguments_value(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<Arguments, Faults> {
        let mut report = Report::default();
        let Some(tool) = self.tool(tool) else {
            report.add(&Path::ROOT, BindingReason::UnknownTool);
            return report.finish(None);
        };
        let arguments = tool.check(arguments, &Path::ROOT, &mut report);
        report.finish(arguments)
    }
}

static COLONY_DOCUMENT: &str = include_str!("colony.json");

/// Reads one strict JSON document of at most so many bytes.
pub(crate) fn read(input: &[u8], maximum_bytes: usize) -> Result<Value, Faults> {
    let refuse = |reason: DocumentReason| {
        let mut report = Report::default();
        report.add(&Path::ROOT, reason);
        report.finish::<Value>(None)
    };
    if input.len() > maximum_bytes {
        return refuse(DocumentReason::TooLarge { maximum_bytes });
    }
    let limits = Limits {
        bytes: maximum_bytes,
        depth: 64,
        nodes: 1 << 17,
        string_chars: usize::MAX,
        members: 1 << 16,
    };
    parse(input, &limits).or_else(|error| refuse(DocumentReason::NotStrictJson(error.to_string())))
}
