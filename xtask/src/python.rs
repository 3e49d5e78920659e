//! The Python environment with the official provider SDKs, which judge our wire formats in tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::program::Program;
use crate::system;

/// The variable that names the environment's interpreter to the tests.
pub(crate) const VARIABLE: &str = "COUNTERSIGN_TEST_PYTHON";

const REQUIREMENTS: &str = "crates/countersign-providers/tests/sdk/requirements.txt";

/// Makes sure that the environment holds exactly what the requirements say, and returns its interpreter.
///
/// Does nothing when an earlier run finished with the same requirements.
pub(crate) fn ensure(root: &Path) -> anyhow::Result<PathBuf> {
    let requirements = fs::read_to_string(root.join(REQUIREMENTS))
        .with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let folder = root.join("target").join("python").join("sdk");
    let interpreter = folder.join("bin").join("python");
    // INVARIANT: the stamp is written last, so that it exists only in a complete environment.
    let stamp = folder.join("installed-requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements)
        && works(root, &interpreter)
    {
        return Ok(interpreter);
    }
    eprintln!("making the Python environment for the tests in target/python/sdk");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the old target/python/sdk")?;
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
            REQUIREMENTS,
        ])
        .run()
        .context("the provider SDKs could not be installed from PyPI")?;
    fs::write(&stamp, requirements).context("cannot write into target/python/sdk")?;
    Ok(interpreter)
}

fn works(root: &Path, interpreter: &Path) -> bool {
    Program::new(&interpreter.to_string_lossy(), root)
        .arguments(["-c", "pass"])
        .succeeds()
}
