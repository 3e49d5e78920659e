//! How a package is laid out: what cargo does not insist on, and we do.

use std::path::Path;

use anyhow::Context as _;

use crate::metadata::{Package, Workspace};
use crate::rules::{self, Layer};
use crate::stage::no_findings;

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut findings = Vec::new();
    for package in &Workspace::load(root)?.packages {
        let manifest = std::fs::read_to_string(&package.manifest)
            .with_context(|| format!("cannot read the manifest of {}", package.name))?;
        findings.extend(package_findings(package, &manifest));
    }
    no_findings(&findings)
}

fn package_findings(package: &Package, manifest: &str) -> Vec<String> {
    let name = &package.name;
    let mut findings = Vec::new();
    let folder = package
        .manifest
        .parent()
        .and_then(Path::file_name)
        .and_then(|folder| folder.to_str());
    if folder != Some(name) {
        findings.push(format!(
            "{name} lies in another folder than `{name}`: a package is found by its name"
        ));
    }
    if !matches!(package.test_targets.as_slice(), [] | [_])
        || package.test_targets.iter().any(|target| target != "it")
    {
        findings.push(format!(
            "{name} has the integration tests {}: make them modules of one `tests/it/main.rs`, since every further binary \
             is linked anew each time",
            package.test_targets.join(", ")
        ));
    }
    if !inherits_lints(manifest) {
        findings.push(format!("{name} does not inherit the lints: add `[lints]` with `workspace = true` to its Cargo.toml"));
    }
    let core = rules::package_rule(name).is_some_and(|rule| rule.layer == Layer::Core);
    if core != package.default_member {
        findings.push(if core {
            format!("{name} is a core package: add it to `default-members` in the root Cargo.toml, to build and test it by default")
        } else {
            format!("{name} is no core package: take it out of `default-members`, which keep the inner loop short")
        });
    }
    findings
}

fn inherits_lints(manifest: &str) -> bool {
    let mut lines = manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1);
    lines.find(|line| !line.is_empty()) == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const MANIFEST: &str =
        "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n\n[dependencies]\n";

    fn package(name: &str, folder: &str, default_member: bool, tests: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            manifest: PathBuf::from(format!("/w/crates/{folder}/Cargo.toml")),
            default_member,
            dependencies: Vec::new(),
            test_targets: tests.iter().map(|&test| test.to_owned()).collect(),
            bench_targets: Vec::new(),
        }
    }

    #[test]
    fn each_rule_of_the_layout_is_enforced() {
        let (core, shell) = ("countersign-policy", "countersign-shop");
        let cases = [
            (package(core, core, true, &["it"]), MANIFEST, None),
            (package(shell, shell, false, &[]), MANIFEST, None),
            (
                package(core, "policy", true, &[]),
                MANIFEST,
                Some("another folder"),
            ),
            (
                package(core, core, true, &["it", "more"]),
                MANIFEST,
                Some("one `tests/it/main.rs`"),
            ),
            (
                package(core, core, true, &["policy"]),
                MANIFEST,
                Some("one `tests/it/main.rs`"),
            ),
            (
                package(core, core, false, &[]),
                MANIFEST,
                Some("add it to `default-members`"),
            ),
            (
                package(shell, shell, true, &[]),
                MANIFEST,
                Some("out of `default-members`"),
            ),
            (
                package(core, core, true, &[]),
                "[package]\nworkspace = true\n",
                Some("inherit the lints"),
            ),
            (
                package(core, core, true, &[]),
                "[lints]\n[dependencies]\n",
                Some("inherit the lints"),
            ),
        ];
        for (package, manifest, expected) in cases {
            let findings = package_findings(&package, manifest);
            match expected {
                None => assert_eq!(findings, [""; 0]),
                Some(part) => assert!(
                    findings.len() == 1 && findings[0].contains(part),
                    "{part}: {findings:?}"
                ),
            }
        }
    }
}
