//! The official conformance suite of the Model Context Protocol: over a server alone, and over the same with us in front.
//!
//! What passes with the server alone has to pass through us, check by check; `tests/conformance/exceptions.txt` names what
//! does not, with the reason. The server is ours (`tests/conformance/server.mjs`), since the suite's package has none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::daemon::Daemon;
use crate::node;
use crate::program::Program;
use crate::stage::no_findings;
use crate::system;
use crate::verdicts::Verdicts;

/// What the suite has requirements for.
struct Revision {
    name: &'static str,
    /// The scenarios of a client that are required, without `auth/…`: we are no client of an authorization server, since we
    /// send the token that we are given.
    client: &'static [&'static str],
}

const REVISIONS: [Revision; 2] = [
    Revision {
        name: "2025-11-25",
        client: &[
            "initialize",
            "tools_call",
            "elicitation-sep1034-client-defaults",
            "sse-retry",
        ],
    },
    Revision {
        name: "2026-07-28",
        client: &[
            "tools_call",
            "request-metadata",
            "sep-2322-client-request-state",
            "http-standard-headers",
            "http-custom-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
        ],
    },
];
const SERVER: &str = "tests/conformance/server.mjs";
const CLIENT: &str = "tests/conformance/client.mjs";
const EXCEPTIONS: &str = "tests/conformance/exceptions.txt";

/// Runs the suite both ways, and fails where a check is worse through us.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    system::ensure(root, &[system::PYTHON])?;
    let suite = Suite {
        root,
        node: node::ensure(root)?,
        results: root.join("target").join("conformance"),
    };
    let mut exceptions = exceptions(root)?;
    let program = program(root)?;
    if suite.results.exists() {
        fs::remove_dir_all(&suite.results).context("cannot remove the old target/conformance")?;
    }
    fs::create_dir_all(&suite.results).context("cannot make target/conformance")?;
    let server = suite.serve()?;
    let wrapped = suite.wrap(&program, server.url())?;
    let mut findings = Vec::new();
    for revision in &REVISIONS {
        let direct = suite.judge("direct", revision, server.url(), None)?;
        let through = suite.judge("wrapped", revision, wrapped.url(), Some(&program))?;
        println!("{}: direct {direct}; through us {through}", revision.name);
        let named = |checks: BTreeSet<String>| {
            checks
                .into_iter()
                .map(|check| format!("{} {check}", revision.name))
        };
        findings.extend(
            named(direct.unmet()).map(|check| {
                format!("{check} is required, and {SERVER} or {CLIENT} does not do it")
            }),
        );
        findings.extend(
            named(through.worse_than(&direct))
                .filter(|check| exceptions.remove(check).is_none())
                .map(|check| format!("{check} is worse through us")),
        );
    }
    findings.extend(
        exceptions
            .into_keys()
            .map(|check| format!("{check} is as good through us: take it out of {EXCEPTIONS}")),
    );
    no_findings(&findings)
}

/// The checks that may be worse through us: lines of revision, scenario, check and reason.
fn exceptions(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(root.join(EXCEPTIONS))
        .with_context(|| format!("cannot read {EXCEPTIONS}"))?;
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut words = line.splitn(4, ' ');
            match (words.next(), words.next(), words.next(), words.next()) {
                (Some(revision), Some(scenario), Some(check), Some(reason)) => {
                    Ok((format!("{revision} {scenario} {check}"), reason.to_owned()))
                }
                _ => bail!(
                    "{EXCEPTIONS}: `{line}` is not a revision, a scenario, a check and a reason"
                ),
            }
        })
        .collect()
}

/// The program itself, as the tests have built it.
fn program(root: &Path) -> anyhow::Result<PathBuf> {
    Program::cargo(root)
        .arguments(["build", "--locked", "--package", "countersign"])
        .run()?;
    let metadata = Program::cargo(root)
        .arguments(["metadata", "--locked", "--no-deps", "--format-version", "1"])
        .output()?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).context("cargo's metadata is not JSON")?;
    let target = metadata
        .get("target_directory")
        .and_then(serde_json::Value::as_str)
        .context("cargo does not say where it builds")?;
    Ok(Path::new(target).join("debug").join("countersign"))
}

/// The suite, ready to run.
#[derive(Debug)]
struct Suite<'r> {
    root: &'r Path,
    node: node::Environment,
    results: PathBuf,
}

impl Suite<'_> {
    /// Starts the server.
    fn serve(&self) -> anyhow::Result<Daemon> {
        let mut command = Command::new(&self.node.runtime);
        command
            .arg(SERVER)
            .current_dir(self.root)
            .env(node::MODULES_VARIABLE, &self.node.modules);
        Daemon::start(command, &self.results.join("server.log"))
    }

    /// Starts us in front of it.
    fn wrap(&self, program: &Path, url: &str) -> anyhow::Result<Daemon> {
        let mut command = Command::new(program);
        command
            .args(self.options("server"))
            .arg(url)
            .current_dir(self.root);
        Daemon::start(command, &self.results.join("wrapped.log"))
    }

    /// What stands between a client and a server's URL. Each scenario has a server, and so a pin, of its own.
    fn between(&self, program: &Path, revision: &Revision, scenario: &str) -> Vec<String> {
        std::iter::once(program.to_string_lossy().into_owned())
            .chain(self.options(&format!("{scenario}-{}", revision.name)))
            .chain(["--".to_owned()])
            .collect()
    }

    /// Blocks nothing, since the suite calls tools that do not say whether they read. The server's URL comes behind.
    fn options(&self, name: &str) -> Vec<String> {
        let path = |file: &str| self.results.join(file).to_string_lossy().into_owned();
        let ledger = format!("sqlite:{}", path(&format!("{name}.db")));
        let pins = path(name);
        ["wrap", "--observe", "--server", name, "--ledger", &ledger]
            .into_iter()
            .chain(["--pins", &pins, "--listen", "127.0.0.1:0", "--url"])
            .map(str::to_owned)
            .collect()
    }

    /// Judges a server at a URL, and a client with something between it and the suite's servers.
    fn judge(
        &self,
        way: &str,
        revision: &Revision,
        url: &str,
        program: Option<&Path>,
    ) -> anyhow::Result<Verdicts> {
        let folder = |role: &str| self.results.join(format!("{way}-{}-{role}", revision.name));
        let server = folder("server");
        let is_met = self
            .suite("server", &server)
            .arguments(["--url", url, "--requirements", revision.name])
            .succeeds();
        let mut verdicts = Verdicts::read(&server, "server-")?;
        if !is_met {
            verdicts.miss("the requirements of a server");
        }
        let client = folder("client");
        for scenario in revision.client {
            let between = program.map(|program| self.between(program, revision, scenario));
            let command = std::iter::once(self.node.runtime.to_string_lossy().into_owned())
                .chain([CLIENT.to_owned()])
                .chain(between.into_iter().flatten())
                .collect::<Vec<_>>()
                .join(" ");
            let is_met = self
                .suite("client", &client)
                .arguments(["--command", &command, "--scenario", scenario])
                .arguments(["--spec-version", revision.name])
                .succeeds();
            if !is_met {
                verdicts.miss(scenario);
            }
        }
        verdicts.extend(Verdicts::read(&client, "")?);
        Ok(verdicts)
    }

    fn suite(&self, role: &str, output: &Path) -> Program {
        Program::new(&self.node.runtime.to_string_lossy(), self.root)
            .environment(node::MODULES_VARIABLE, &self.node.modules)
            .argument(&self.node.modules.join(".bin/conformance").to_string_lossy())
            .arguments([role, "--output-dir", &output.to_string_lossy()])
    }
}
