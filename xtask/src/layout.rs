//! How a package and its source files are laid out: what cargo does not insist on, and we do.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::metadata::{Package, Workspace};
use crate::rules::{self, Layer};
use crate::stage::no_findings;

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut findings = Vec::new();
    for package in &Workspace::load(root)?.packages {
        let manifest = read(&package.manifest)?;
        findings.extend(package_findings(package, &manifest));
        let folder = package
            .manifest
            .parent()
            .context("a manifest lies in no folder")?;
        for file in source_files(folder)? {
            let path = file.strip_prefix(root).unwrap_or(&file);
            findings.extend(file_findings(&path.to_string_lossy(), &read(&file)?));
        }
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

fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Every Rust file below a folder, in order.
fn source_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?
        {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn file_findings(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > rules::MAX_FILE_LINES && !rules::LONG_FILES.iter().any(|(known, _)| *known == path) {
        findings.push(format!(
            "{path} has {lines} lines, and {} are the most: split it by what its parts do, or give the reason in \
             `LONG_FILES` (xtask/src/rules.rs)",
            rules::MAX_FILE_LINES
        ));
    }
    let names = path.split('/').filter_map(|part| part.split('.').next());
    for name in names.filter(|name| rules::EMPTY_NAMES.contains(name)) {
        findings.push(format!(
            "{path} is named `{name}`, which says nothing: name it by what it does"
        ));
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

    #[test]
    fn a_file_has_a_bounded_length_and_a_name_that_says_something() {
        let lines = |count| "//\n".repeat(count);
        let cases = [
            ("crates/a/src/clock.rs", lines(800), None),
            ("crates/a/src/clock.rs", lines(801), Some("has 801 lines")),
            ("crates/a/src/util.rs", lines(1), Some("named `util`")),
            (
                "crates/a/tests/it/common/mod.rs",
                lines(1),
                Some("named `common`"),
            ),
            ("crates/a/src/utilization.rs", lines(1), None),
        ];
        for (path, text, expected) in cases {
            let findings = file_findings(path, &text);
            match expected {
                None => assert_eq!(findings, [""; 0]),
                Some(part) => assert!(
                    findings.len() == 1 && findings[0].contains(part),
                    "{path}: {findings:?}"
                ),
            }
        }
    }
}
