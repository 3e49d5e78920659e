//! What was seen first of a server's tools, frozen.
//!
//! A pin says of each tool how it was described when it was first seen, and whether it reads or writes. Whatever a server says
//! later changes nothing of that: a tool whose description or schema is another one now is out of service until a person accepts it.

mod compare;
mod difference;
mod document;

use std::collections::{BTreeMap, BTreeSet};

use countersign_canonical::{Digest, Utf8};

pub use self::compare::{Comparison, Standing};
pub use self::difference::{Difference, MAX_DIFFERENCES};
pub use self::document::{MAX_PIN_BYTES, PIN_SCHEMA, PinError};
use crate::patterns::Patterns;
use crate::server::{Launch, ServerName};
use crate::tools::{Facets, ToolDefinition};

/// The most tools of one server.
pub const MAX_TOOLS: usize = 4096;

/// Whether a tool changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It only looks: its calls pass at once.
    Read,
    /// It acts, or may: its calls wait for approval, and run once.
    Write,
}

/// A server as it was first seen, tool by tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    server: ServerName,
    launch: Digest<Utf8>,
    tools: BTreeMap<String, PinnedTool>,
}

/// A tool as it was first seen, or accepted since.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedTool {
    /// How it was described.
    pub facets: Facets,
    /// Whether it reads or writes.
    pub class: Class,
    /// How often a person has accepted a change of it or classified it, and one.
    pub revision: u64,
}

impl Pin {
    /// An empty pin of a server that is started in a certain way.
    #[must_use]
    pub fn new(server: ServerName, launch: &Launch) -> Self {
        Self {
            server,
            launch: launch.digest(),
            tools: BTreeMap::new(),
        }
    }

    /// Which server it is of.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// Whether the server was started in this way when it was first seen.
    #[must_use]
    pub fn is_of(&self, launch: &Launch) -> bool {
        self.launch == launch.digest()
    }

    /// The tools, by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = (&str, &PinnedTool)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), tool))
    }

    /// One tool.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&PinnedTool> {
        self.tools.get(name)
    }

    /// The tools as their server described them.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let tools = self.tools.iter();
        tools
            .map(|(name, tool)| ToolDefinition::pinned(name, &tool.facets))
            .collect()
    }

    /// Compares what a server says of its tools now with the pin.
    #[must_use]
    pub fn compare(&self, seen: &[ToolDefinition]) -> Comparison {
        compare::compare(self, seen)
    }

    /// Freezes every tool that is seen for the first time. Gives the names.
    ///
    /// Where nothing is pinned yet the server is trusted to say which of its tools only read, since somebody named it; later
    /// nobody but that person says so: a tool that comes after the others writes, unless it is named in `reads`.
    pub fn adopt(&mut self, seen: &[ToolDefinition], reads: &Patterns) -> Vec<String> {
        let is_first_sight = self.tools.is_empty();
        let comparison = self.compare(seen);
        let new: BTreeSet<&str> = comparison.names_that_are(&Standing::New).collect();
        let mut adopted = Vec::new();
        for tool in seen.iter().filter(|tool| new.contains(tool.name())) {
            if self.tools.len() >= MAX_TOOLS {
                break;
            }
            let is_read =
                reads.matches(tool.name()) || (is_first_sight && tool.claims_to_read_only());
            let class = if is_read { Class::Read } else { Class::Write };
            let pinned = PinnedTool {
                facets: tool.facets().clone(),
                class,
                revision: 1,
            };
            self.tools.insert(tool.name().to_owned(), pinned);
            adopted.push(tool.name().to_owned());
        }
        adopted
    }

    /// A person accepts a tool as it is described now. It keeps its class: what was a write stays one, whatever it says; what
    /// read and does not claim to any more writes. Tells whether there was something to accept.
    pub fn accept(&mut self, tool: &ToolDefinition) -> bool {
        let Some(pinned) = self.tools.get_mut(tool.name()) else {
            return false;
        };
        if pinned.facets == *tool.facets() {
            return false;
        }
        if pinned.facets.annotations != tool.facets().annotations && !tool.claims_to_read_only() {
            pinned.class = Class::Write;
        }
        pinned.facets = tool.facets().clone();
        pinned.revision = pinned.revision.saturating_add(1);
        true
    }

    /// A person says whether a tool reads or writes. Tells whether there is such a tool.
    pub fn classify(&mut self, name: &str, class: Class) -> bool {
        let Some(pinned) = self.tools.get_mut(name) else {
            return false;
        };
        if pinned.class != class {
            pinned.class = class;
            pinned.revision = pinned.revision.saturating_add(1);
        }
        true
    }
}

impl Class {
    /// Its name in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Read, Self::Write]
            .into_iter()
            .find(|class| class.as_str() == text)
    }
}
