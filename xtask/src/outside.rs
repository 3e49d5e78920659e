//! Outside crates against the bans for the core and the independence of the two sides of a governed action.
//!
//! The facts come from `cargo tree` for one package at a time, normal dependencies, all features, every platform:
//! cargo's metadata joins the features that all packages ask for, and would show a core crate with parts that only
//! the server switches on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;

use crate::metadata::Workspace;
use crate::program::Program;
use crate::rules::{self, Layer};
use crate::stage::no_findings;

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut trees = BTreeMap::new();
    for package in Workspace::load(root)?.packages {
        let core = rules::package_rule(&package.name).is_some_and(|rule| rule.layer == Layer::Core);
        if core {
            let tree = Tree::load(root, &package.name)?;
            trees.insert(package.name, tree);
        }
    }
    no_findings(&findings(&trees))
}

fn findings(trees: &BTreeMap<String, Tree>) -> Vec<String> {
    let mut findings: Vec<String> = trees.values().flat_map(banned).collect();
    if let (Some(host), Some(endpoint)) =
        (trees.get(rules::HOST_SIDE), trees.get(rules::ENDPOINT_SIDE))
    {
        findings.extend(shared(host, endpoint));
    }
    findings
}

/// Every path from one package to a crate that it contains, the package itself first.
#[derive(Debug)]
struct Tree {
    paths: Vec<Vec<String>>,
}

impl Tree {
    fn load(root: &Path, package: &str) -> anyhow::Result<Self> {
        let text = Program::cargo(root)
            .arguments([
                "tree",
                "--locked",
                "--package",
                package,
                "--edges",
                "normal",
                "--target",
                "all",
            ])
            .arguments([
                "--all-features",
                "--no-dedupe",
                "--prefix",
                "depth",
                "--format",
                "{p}",
                "--color",
                "never",
            ])
            .output()?;
        Self::parse(&text)
    }

    /// Reads lines such as `2cfg-if v1.0.5`: the depth, then the crate, then what does not matter here.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut paths = Vec::new();
        let mut path: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (depth, name) = split_line(line)
                .with_context(|| format!("`cargo tree` printed an unknown line: {line}"))?;
            path.truncate(depth);
            path.push(name.to_owned());
            paths.push(path.clone());
        }
        Ok(Self { paths })
    }

    fn names(&self) -> BTreeSet<&str> {
        self.paths
            .iter()
            .filter_map(|path| path.last())
            .map(String::as_str)
            .collect()
    }

    /// The shortest path to `name` that goes through none of `avoided`.
    fn path_around(&self, name: &str, avoided: &[&str]) -> Option<&[String]> {
        self.paths
            .iter()
            .filter(|path| path.last().is_some_and(|last| last == name))
            .filter(|path| !path.iter().any(|step| avoided.contains(&step.as_str())))
            .min_by_key(|path| path.len())
            .map(Vec::as_slice)
    }
}

fn split_line(line: &str) -> Option<(usize, &str)> {
    let name_start = line.find(|character: char| !character.is_ascii_digit())?;
    let (depth, rest) = line.split_at_checked(name_start)?;
    Some((depth.parse().ok()?, rest.split_whitespace().next()?))
}

fn banned(tree: &Tree) -> Vec<String> {
    let names = tree.names();
    let mut findings = Vec::new();
    for ban in rules::CORE_BANS {
        for name in ban.names.iter().filter(|name| names.contains(*name)) {
            if let Some(path @ [package, ..]) = tree.path_around(name, &[]) {
                findings.push(format!(
                    "{package} must not contain {name}: {} (it comes by {})",
                    ban.why,
                    arrows(path)
                ));
            }
        }
    }
    findings
}

/// A crate is shared if it is in both trees, unless both have it only as a part of what they may share.
fn shared(host: &Tree, endpoint: &Tree) -> Vec<String> {
    let common: Vec<_> = host
        .names()
        .intersection(&endpoint.names())
        .copied()
        .collect();
    common
        .into_iter()
        .filter_map(|name| {
            let by_host = host.path_around(name, rules::SHARED_ROOTS);
            let by_endpoint = endpoint.path_around(name, rules::SHARED_ROOTS);
            let path = arrows(by_host.or(by_endpoint)?);
            Some(format!(
                "{} and {} must not share {name}: {} (it comes by {path})",
                rules::HOST_SIDE,
                rules::ENDPOINT_SIDE,
                rules::INDEPENDENCE_WHY
            ))
        })
        .collect()
}

fn arrows(path: &[String]) -> String {
    path.join(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(trees: &[&str]) -> Vec<String> {
        let trees = trees
            .iter()
            .map(|text| Tree::parse(text).unwrap())
            .map(|tree| (tree.paths[0][0].clone(), tree))
            .collect();
        findings(&trees)
    }

    #[test]
    fn a_banned_crate_is_found_however_deep() {
        let clean =
            "0countersign-policy v0.1.0 (/w)\n1sha2 v0.11.1\n2cfg-if v1.0.5\n1thiserror v2.0.21\n";
        assert_eq!(found(&[clean]), [""; 0]);
        let deep =
            format!("{clean}1helper v1.0.0\n2inner v3.0.0 (proc-macro)\n3getrandom v0.3.1\n");
        let findings = found(&[&deep]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].contains("countersign-policy must not contain getrandom"),
            "{findings:?}"
        );
        assert!(
            findings[0].contains("countersign-policy -> helper -> inner -> getrandom"),
            "{findings:?}"
        );
        assert!(findings[0].contains("no random choice"), "{findings:?}");
    }

    #[test]
    fn every_ban_is_found() {
        for name in rules::CORE_BANS.iter().flat_map(|ban| ban.names) {
            let tree = format!("0countersign-canonical v0.1.0 (/w)\n1{name} v1.0.0\n");
            assert_eq!(found(&[&tree]).len(), 1, "{name}");
        }
    }

    #[test]
    fn the_two_sides_share_only_what_they_may() {
        let host = "0countersign-governed v0.1.0 (/w)\n1countersign-canonical v0.1.0 (/w)\n2zmij v1.0.23\n\
                    2sha2 v0.11.1\n3cfg-if v1.0.5\n1regex v1.0.0\n2memchr v2.0.0\n1thiserror v2.0.21\n2syn v3.0.10\n";
        let endpoint = |more: &str| {
            format!(
                "0countersign-endpoint v0.1.0 (/w)\n1sha2 v0.11.1\n2cfg-if v1.0.5\n1thiserror v2.0.21\n2syn v3.0.10\n{more}"
            )
        };
        let cases = [
            ("", None),
            ("1ryu v1.0.0\n", None),
            ("1regex v1.0.0\n2memchr v2.0.0\n", None),
            ("1zmij v1.0.23\n", Some("zmij")),
            ("1memchr v2.0.0\n", Some("memchr")),
            ("1cfg-if v1.0.5\n", Some("cfg-if")),
            (
                "1countersign-canonical v0.1.0 (/w)\n",
                Some("countersign-canonical"),
            ),
        ];
        for (more, expected) in cases {
            let findings = found(&[host, &endpoint(more)]);
            match expected {
                None => assert_eq!(findings, [""; 0], "{more}"),
                Some(name) => {
                    let start = format!(
                        "countersign-governed and countersign-endpoint must not share {name}:"
                    );
                    assert!(
                        findings.len() == 1 && findings[0].starts_with(&start),
                        "{more}: {findings:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn refuses_a_line_that_it_does_not_know() {
        for line in ["cfg-if v1.0.5", "1", "99999999999999999999999x v1"] {
            assert!(Tree::parse(line).is_err(), "{line}");
        }
    }
}
