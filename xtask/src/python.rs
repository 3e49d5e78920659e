//! The Python environments of the tests: the official provider SDKs, and a client and servers of the Model Context Protocol;
//! and the one that makes wheels and installs them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::program::Program;
use crate::system;

/// One environment.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Its directory's name.
    pub(crate) name: &'static str,
    /// The variable that names its interpreter to the tests.
    pub(crate) variable: &'static str,
    pub(crate) requirements: &'static str,
}

/// They are apart, since what they need of each other's packages differs.
pub(crate) const ENVIRONMENTS: [Environment; 3] = [
    Environment {
        name: "sdk",
        variable: "COUNTERSIGN_TEST_PYTHON",
        requirements: "crates/countersign-providers/tests/sdk/requirements.txt",
    },
    Environment {
        name: "mcp",
        variable: "COUNTERSIGN_TEST_MCP_PYTHON",
        requirements: "crates/countersign/tests/mcp/python-2.txt",
    },
    Environment {
        name: "mcp-1",
        variable: "COUNTERSIGN_TEST_MCP_1_PYTHON",
        requirements: "crates/countersign/tests/mcp/python-1.txt",
    },
];

/// What makes wheels, and an installer to try them with. No test asks for it.
pub(crate) const FOR_WHEELS: Environment = Environment {
    name: "wheels",
    variable: "",
    requirements: "packaging/requirements.txt",
};

/// Makes sure that the environment holds exactly what the requirements say, and returns its interpreter.
///
/// Does nothing when an earlier run finished with the same requirements.
pub(crate) fn ensure(root: &Path, environment: &Environment) -> anyhow::Result<PathBuf> {
    let Environment {
        name, requirements, ..
    } = environment;
    let file = *requirements;
    let requirements =
        fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))?;
    let folder = root.join("target").join("python").join(name);
    let interpreter = folder.join("bin").join("python");
    // INVARIANT: the stamp is written last, so that it exists only in a complete environment.
    let stamp = folder.join("installed-requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements)
        && works(root, &interpreter)
    {
        return Ok(interpreter);
    }
    eprintln!("making the Python environment in target/python/{name}");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove the old target/python/{name}"))?;
    }
    Program::new(system::PYTHON.name, root)
        .arguments(["-m", "venv"])
        .argument(&folder.to_string_lossy())
        .run()?;
    Program::new(&interpreter.to_string_lossy(), root)
        .arguments([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            file,
        ])
        .run()
        .context("the packages could not be installed from PyPI")?;
    fs::write(&stamp, requirements)
        .with_context(|| format!("cannot write into target/python/{name}"))?;
    Ok(interpreter)
}

fn works(root: &Path, interpreter: &Path) -> bool {
    Program::new(&interpreter.to_string_lossy(), root)
        .arguments(["-c", "pass"])
        .succeeds()
}
