//! In-house dependencies against the table of [`crate::rules`].

use std::path::Path;

use crate::metadata::{Dependency, DependencyKind, Package, Workspace};
use crate::rules::{self, Layer, MayUse, PackageRule};
use crate::stage::no_findings;

pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    no_findings(&findings(&Workspace::load(root)?))
}

fn findings(workspace: &Workspace) -> Vec<String> {
    workspace
        .packages
        .iter()
        .flat_map(package_findings)
        .collect()
}

fn package_findings(package: &Package) -> Vec<String> {
    let Some(rule) = rules::package_rule(&package.name) else {
        return vec![format!(
            "{} has no row in `PACKAGES` (xtask/src/rules.rs): add one that says which packages it may use and why, so \
             that its place among the others is a decision",
            package.name
        )];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.in_house)
        .filter_map(|dependency| refusal(rule, dependency))
        .collect()
}

fn refusal(rule: &PackageRule, dependency: &Dependency) -> Option<String> {
    let (from, to) = (rule.name, dependency.name.as_str());
    if sides_meet(from, to) {
        return Some(format!(
            "{from} must not use {to}, not even in tests: {}",
            rules::INDEPENDENCE_WHY
        ));
    }
    if dependency.kind == DependencyKind::Development {
        return None;
    }
    let development = rules::package_rule(to).is_some_and(|rule| rule.layer == Layer::Development);
    let allowed = match rule.may_use {
        MayUse::Only(names) => names.contains(&to),
        MayUse::AnyProduct => !development,
    };
    (!allowed).then(|| {
        let may_use = match rule.may_use {
            MayUse::Only([]) => "nothing of this workspace".to_owned(),
            MayUse::Only(names) => format!("only {}", names.join(", ")),
            MayUse::AnyProduct => "every package but those for development".to_owned(),
        };
        format!(
            "{from} must not use {to}: {} (it may use {may_use})",
            rule.why
        )
    })
}

/// The endpoint uses nothing in-house, tests included; the host side does not know the endpoint.
fn sides_meet(from: &str, to: &str) -> bool {
    from == rules::ENDPOINT_SIDE || (from == rules::HOST_SIDE && to == rules::ENDPOINT_SIDE)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn workspace(from: &str, to: &str, kind: DependencyKind) -> Workspace {
        let package = Package {
            name: from.to_owned(),
            manifest: PathBuf::new(),
            default_member: true,
            dependencies: vec![
                Dependency {
                    name: to.to_owned(),
                    kind,
                    in_house: true,
                },
                Dependency {
                    name: "sha2".to_owned(),
                    kind: DependencyKind::Normal,
                    in_house: false,
                },
            ],
            test_targets: Vec::new(),
            bench_targets: Vec::new(),
        };
        Workspace {
            packages: vec![package],
        }
    }

    #[test]
    fn the_direction_is_enforced() {
        use DependencyKind::{Build, Development, Normal};
        let cases = [
            (
                "countersign-contract",
                "countersign-canonical",
                Normal,
                None,
            ),
            (
                "countersign-canonical",
                "countersign-contract",
                Normal,
                Some("every digest rests on it"),
            ),
            (
                "countersign-canonical",
                "countersign-contract",
                Build,
                Some("nothing of this workspace"),
            ),
            (
                "countersign-canonical",
                "countersign-contract",
                Development,
                None,
            ),
            (
                "countersign-dispatch",
                "countersign-providers",
                Normal,
                Some("which provider"),
            ),
            (
                "countersign-governed",
                "countersign-contract",
                Normal,
                Some("only countersign-canonical"),
            ),
            (
                "countersign-governed",
                "countersign-endpoint",
                Development,
                Some("not even in tests"),
            ),
            (
                "countersign-endpoint",
                "countersign-canonical",
                Development,
                Some("not even in tests"),
            ),
            ("countersign", "countersign-endpoint", Normal, None),
            (
                "countersign",
                "countersign-agreement",
                Normal,
                Some("every package but those for development"),
            ),
            ("countersign", "countersign-agreement", Development, None),
            (
                "countersign-new",
                "countersign-canonical",
                Normal,
                Some("add one"),
            ),
        ];
        for (from, to, kind, expected) in cases {
            let found = findings(&workspace(from, to, kind));
            match expected {
                None => assert!(found.is_empty(), "{from} -> {to} ({kind:?}): {found:?}"),
                Some(part) => {
                    assert!(
                        found.len() == 1 && found[0].contains(part),
                        "{from} -> {to} ({kind:?}): {found:?}"
                    );
                }
            }
        }
    }
}
