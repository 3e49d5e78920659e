//! Programs of the operating system that tests and builds use: found, or installed where that is ours to do.

use std::path::Path;

use anyhow::bail;

use crate::program::Program;

/// A program of the operating system.
#[derive(Debug)]
pub(crate) struct SystemProgram {
    pub(crate) name: &'static str,
    /// Succeeds only when it is there and complete.
    pub(crate) probe: &'static [&'static str],
    pub(crate) debian_packages: &'static [&'static str],
}

pub(crate) const GIT: SystemProgram = SystemProgram {
    name: "git",
    probe: &["--version"],
    debian_packages: &["git"],
};

/// Debian leaves `ensurepip` out of `python3`; a virtual environment needs it.
pub(crate) const PYTHON: SystemProgram = SystemProgram {
    name: "python3",
    probe: &["-c", "import ensurepip, venv"],
    debian_packages: &["python3", "python3-venv"],
};

/// Compiles C for the C library that a static binary carries.
pub(crate) const MUSL_COMPILER: SystemProgram = SystemProgram {
    name: "musl-gcc",
    probe: &["--version"],
    debian_packages: &["musl-tools"],
};

/// Makes sure that each program is there: installs what is missing as root on Debian, else says what to install.
pub(crate) fn ensure(root: &Path, programs: &[SystemProgram]) -> anyhow::Result<()> {
    let missing: Vec<_> = programs
        .iter()
        .filter(|program| !is_present(root, program))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing
        .iter()
        .map(|program| program.name)
        .collect::<Vec<_>>()
        .join(", ");
    let packages: Vec<_> = missing
        .iter()
        .flat_map(|program| program.debian_packages)
        .collect();
    if !(is_root(root) && has_apt(root)) {
        let packages = packages
            .iter()
            .map(|package| **package)
            .collect::<Vec<_>>()
            .join(" ");
        bail!(
            "this needs {names}: install it (on Debian: apt-get install {packages}) and run the command again"
        );
    }
    eprintln!("this needs {names}: installing from Debian's packages");
    apt(root).argument("update").run()?;
    apt(root)
        .arguments(["install", "--yes", "--no-install-recommends"])
        .arguments(packages)
        .run()?;
    match missing.iter().find(|program| !is_present(root, program)) {
        None => Ok(()),
        Some(program) => bail!(
            "{} is installed and still does not work: `{}` fails",
            program.name,
            probe_line(program)
        ),
    }
}

fn is_present(root: &Path, program: &SystemProgram) -> bool {
    Program::new(program.name, root)
        .arguments(program.probe)
        .succeeds()
}

fn probe_line(program: &SystemProgram) -> String {
    format!("{} {}", program.name, program.probe.join(" "))
}

pub(crate) fn is_root(root: &Path) -> bool {
    Program::new("id", root)
        .argument("-u")
        .output()
        .is_ok_and(|id| id.trim() == "0")
}

fn has_apt(root: &Path) -> bool {
    apt(root).argument("--version").succeeds()
}

fn apt(root: &Path) -> Program {
    Program::new("apt-get", root)
        .argument("--quiet")
        .environment("DEBIAN_FRONTEND", "noninteractive")
}
