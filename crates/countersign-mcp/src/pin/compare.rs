//! How a server's tools stand against its pin.

use std::collections::{BTreeMap, BTreeSet};

use super::Pin;
use super::difference::{Difference, differences};
use crate::tools::{ToolDefinition, folded_name};

/// How each tool stands, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison(BTreeMap<String, Standing>);

/// How one tool stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It is what it was.
    Unchanged,
    /// Nobody has seen it before.
    New,
    /// It is described in another way. It is out of service until somebody accepts that.
    Changed(Vec<Difference>),
    /// Its server does not have it any more.
    Gone,
    /// A client may take it for this other one. It is out of service as long as both are there.
    Collides(String),
}

impl Comparison {
    /// How a tool stands; nothing where neither server nor pin know it.
    #[must_use]
    pub fn standing(&self, name: &str) -> Option<&Standing> {
        self.0.get(name)
    }

    /// All tools.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Standing)> {
        self.0
            .iter()
            .map(|(name, standing)| (name.as_str(), standing))
    }

    /// The names of the tools that stand like this.
    pub fn names_that_are<'c>(&'c self, wanted: &'c Standing) -> impl Iterator<Item = &'c str> {
        self.iter()
            .filter_map(move |(name, standing)| (standing == wanted).then_some(name))
    }
}

pub(super) fn compare(pin: &Pin, seen: &[ToolDefinition]) -> Comparison {
    let collisions = collisions(pin, seen);
    let mut standings = BTreeMap::new();
    for tool in seen {
        let name = tool.name();
        let standing = if let Some(other) = collisions.get(name) {
            Standing::Collides(other.clone())
        } else {
            match pin.tool(name) {
                None => Standing::New,
                Some(pinned) if pinned.facets == *tool.facets() => Standing::Unchanged,
                Some(pinned) => Standing::Changed(differences(&pinned.facets, tool.facets())),
            }
        };
        standings.insert(name.to_owned(), standing);
    }
    for (name, _) in pin.tools() {
        if !standings.contains_key(name) {
            standings.insert(name.to_owned(), Standing::Gone);
        }
    }
    Comparison(standings)
}

/// The tools that a client may take for another, with the name of one such. Of a new name and one that is in service already only
/// the new one collides: it cannot push the other one out. Two tools of the very same name both do.
fn collisions(pin: &Pin, seen: &[ToolDefinition]) -> BTreeMap<String, String> {
    let mut by_fold: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for tool in seen {
        by_fold
            .entry(folded_name(tool.name()))
            .or_default()
            .push(tool.name());
    }
    let mut found = BTreeMap::new();
    for names in by_fold.values().filter(|names| names.len() > 1) {
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        let is_twice = |name: &str| names.iter().filter(|other| **other == name).count() > 1;
        let in_service: Vec<&str> = distinct
            .iter()
            .copied()
            .filter(|name| pin.tool(name).is_some() && !is_twice(name))
            .collect();
        for name in &distinct {
            if in_service.as_slice() == [*name] {
                continue;
            }
            let other = distinct.iter().find(|other| *other != name).unwrap_or(name);
            found.insert((*name).to_owned(), (*other).to_owned());
        }
    }
    found
}
