//! The whole gate. It builds into `target` and changes no file of the source tree.

use std::path::Path;

use anyhow::bail;

use crate::metadata::Workspace;
use crate::program::Program;
use crate::stage::{self, Stage};
use crate::{conformance, direction, layout, outside, test, tool};

/// Cheap stages first; what runs the program last, so that its result stands at the end.
const STAGES: &[Stage] = &[
    Stage {
        name: "format",
        needs: None,
        remedy: "run `cargo xtask fix`",
        run: format,
    },
    Stage {
        name: "lock",
        needs: None,
        remedy: "run `cargo check --workspace` and commit Cargo.lock, or mend the manifest that cargo names",
        run: lock_file,
    },
    Stage {
        name: "direction",
        needs: Some("lock"),
        remedy: "move the code to where it may stand; to change the rule, change xtask/src/rules.rs together with an ADR",
        run: direction::check,
    },
    Stage {
        name: "outside",
        needs: Some("lock"),
        remedy: "take the value in from outside, or write it in the crate; to change the rule, change xtask/src/rules.rs together with an ADR",
        run: outside::check,
    },
    Stage {
        name: "layout",
        needs: Some("lock"),
        remedy: "do what each line says",
        run: layout::check,
    },
    Stage {
        name: "licences",
        needs: Some("lock"),
        remedy: "choose another crate, or change deny.toml and say why in the commit",
        run: licences,
    },
    Stage {
        name: "clippy",
        needs: Some("lock"),
        remedy: "run `cargo xtask fix`, then mend what is left",
        run: clippy,
    },
    Stage {
        name: "docs",
        needs: Some("lock"),
        remedy: "mend the doc comments that rustdoc names above",
        run: docs,
    },
    Stage {
        name: "tests",
        needs: Some("lock"),
        remedy: "see the messages above; run one package with `cargo xtask test -- -p NAME`",
        run: tests,
    },
    Stage {
        name: "conformance",
        needs: Some("lock"),
        remedy: "see the results in target/conformance; what has to differ stands, with its reason, in tests/conformance/exceptions.txt",
        run: conformance::run,
    },
];

/// Runs the stages with the given names and what those need; all of them where none is named.
pub(crate) fn run(root: &Path, names: &[String]) -> anyhow::Result<()> {
    if let Some(unknown) = names
        .iter()
        .find(|name| STAGES.iter().all(|stage| stage.name != *name))
    {
        let known = STAGES
            .iter()
            .map(|stage| stage.name)
            .collect::<Vec<_>>()
            .join(", ");
        bail!("there is no stage `{unknown}`: there are {known}");
    }
    let wanted = |name: &str| names.iter().any(|wanted| wanted == name);
    let needed = |name: &str| {
        STAGES
            .iter()
            .any(|stage| wanted(stage.name) && stage.needs == Some(name))
    };
    let chosen: Vec<&Stage> = STAGES
        .iter()
        .filter(|stage| names.is_empty() || wanted(stage.name) || needed(stage.name))
        .collect();
    stage::run_all(root, &chosen)
}

fn format(root: &Path) -> anyhow::Result<()> {
    Program::cargo(root)
        .arguments(["fmt", "--all", "--check"])
        .run()
}

fn lock_file(root: &Path) -> anyhow::Result<()> {
    Program::cargo(root)
        .arguments(["fetch", "--locked"])
        .run()?;
    Workspace::load(root).map(drop)
}

fn licences(root: &Path) -> anyhow::Result<()> {
    let path = tool::CARGO_DENY.ensure(root)?;
    Program::cargo(root)
        .arguments([
            "deny",
            "--offline",
            "--locked",
            "check",
            "bans",
            "licenses",
            "sources",
        ])
        .environment("PATH", path)
        .run()
}

fn clippy(root: &Path) -> anyhow::Result<()> {
    Program::cargo(root)
        .arguments([
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
        .run()
}

/// The flags are rustdoc's own, so they cause no other build; documentation tests run with the other tests.
fn docs(root: &Path) -> anyhow::Result<()> {
    Program::cargo(root)
        .arguments(["doc", "--locked", "--no-deps", "--workspace"])
        .environment("RUSTDOCFLAGS", "-D warnings")
        .run()
}

fn tests(root: &Path) -> anyhow::Result<()> {
    test::run(root, &[], test::Snapshots::Check)
}
