//! What cargo knows about the workspace, reduced to the facts that the rules speak of.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::program::Program;

/// The packages of this workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
}

/// One package of this workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    /// Built by a plain `cargo build`, without `--workspace`.
    pub(crate) default_member: bool,
    pub(crate) dependencies: Vec<Dependency>,
    /// Names of its integration-test binaries.
    pub(crate) test_targets: Vec<String>,
    /// Names of its benchmarks.
    pub(crate) bench_targets: Vec<String>,
}

/// A dependency as the manifest declares it, used or not on this platform, optional or not.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
    /// A package of this workspace.
    pub(crate) in_house: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    Normal,
    Build,
    Development,
}

impl Workspace {
    /// Asks cargo; fails when `Cargo.lock` does not fit the manifests.
    pub(crate) fn load(root: &Path) -> anyhow::Result<Self> {
        let text = Program::cargo(root)
            .arguments(["metadata", "--locked", "--no-deps", "--format-version", "1"])
            .output()?;
        Self::parse(&text)
    }

    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let document: Value = serde_json::from_str(text).context("cargo's metadata is not JSON")?;
        let members = strings(&document, "workspace_members")?;
        let defaults: BTreeSet<_> = strings(&document, "workspace_default_members")?
            .into_iter()
            .collect();
        let packages = array(&document, "packages")?;
        let in_house: BTreeSet<&str> = packages
            .iter()
            .filter(|package| {
                members
                    .iter()
                    .any(|id| package.get("id").and_then(Value::as_str) == Some(id))
            })
            .map(|package| string(package, "name"))
            .collect::<anyhow::Result<_>>()?;
        let packages = packages
            .iter()
            .map(|package| parse_package(package, &in_house, &defaults))
            .collect::<anyhow::Result<Vec<_>>>()?
            .into_iter()
            .filter(|package| in_house.contains(package.name.as_str()))
            .collect();
        Ok(Self { packages })
    }
}

fn parse_package(
    package: &Value,
    in_house: &BTreeSet<&str>,
    defaults: &BTreeSet<&str>,
) -> anyhow::Result<Package> {
    Ok(Package {
        name: string(package, "name")?.to_owned(),
        manifest: PathBuf::from(string(package, "manifest_path")?),
        default_member: defaults.contains(string(package, "id")?),
        dependencies: array(package, "dependencies")?
            .iter()
            .map(|dependency| parse_dependency(dependency, in_house))
            .collect::<anyhow::Result<_>>()?,
        test_targets: targets(package, "test")?,
        bench_targets: targets(package, "bench")?,
    })
}

fn parse_dependency(dependency: &Value, in_house: &BTreeSet<&str>) -> anyhow::Result<Dependency> {
    let name = string(dependency, "name")?;
    let kind = match dependency.get("kind").and_then(Value::as_str) {
        None => DependencyKind::Normal,
        Some("build") => DependencyKind::Build,
        Some("dev") => DependencyKind::Development,
        Some(other) => bail!("cargo's metadata names an unknown kind of dependency, `{other}`"),
    };
    Ok(Dependency {
        name: name.to_owned(),
        kind,
        in_house: in_house.contains(name),
    })
}

fn targets(package: &Value, kind: &str) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for target in array(package, "targets")? {
        if strings(target, "kind")?.contains(&kind) {
            names.push(string(target, "name")?.to_owned());
        }
    }
    Ok(names)
}

fn array<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    value
        .get(key)
        .and_then(Value::as_array)
        .with_context(|| format!("cargo's metadata has no list `{key}` where one is due"))
}

fn string<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .with_context(|| format!("cargo's metadata has no text `{key}` where one is due"))
}

fn strings<'a>(value: &'a Value, key: &str) -> anyhow::Result<Vec<&'a str>> {
    array(value, key)?
        .iter()
        .map(|item| {
            item.as_str().with_context(|| {
                format!("cargo's metadata has something else than text in `{key}`")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_rules_need() {
        let text = r#"{
            "workspace_members": ["id-a", "id-b"], "workspace_default_members": ["id-b"],
            "packages": [
                {"id": "id-a", "name": "a", "manifest_path": "/w/crates/a/Cargo.toml",
                 "dependencies": [{"name": "b", "kind": null}, {"name": "b", "kind": "dev"}, {"name": "sha2", "kind": "build"}],
                 "targets": [{"name": "a", "kind": ["lib"]}, {"name": "it", "kind": ["test"]}, {"name": "speed", "kind": ["bench"]}]},
                {"id": "id-b", "name": "b", "manifest_path": "/w/crates/b/Cargo.toml", "dependencies": [], "targets": []}
            ]}"#;
        let workspace = Workspace::parse(text).unwrap();
        let [a, b] = workspace.packages.as_slice() else {
            panic!("two packages are due")
        };
        assert_eq!(
            (a.name.as_str(), a.default_member, b.default_member),
            ("a", false, true)
        );
        assert_eq!(
            (a.test_targets.as_slice(), a.bench_targets.as_slice()),
            (&["it".to_owned()][..], &["speed".to_owned()][..])
        );
        let dependencies: Vec<_> = a
            .dependencies
            .iter()
            .map(|dependency| {
                (
                    dependency.name.as_str(),
                    dependency.kind,
                    dependency.in_house,
                )
            })
            .collect();
        assert_eq!(
            dependencies,
            [
                ("b", DependencyKind::Normal, true),
                ("b", DependencyKind::Development, true),
                ("sha2", DependencyKind::Build, false)
            ]
        );
    }

    #[test]
    fn refuses_metadata_of_another_shape() {
        for text in [
            "",
            "{}",
            r#"{"workspace_members": [1], "workspace_default_members": [], "packages": []}"#,
        ] {
            assert!(Workspace::parse(text).is_err(), "{text}");
        }
    }
}
