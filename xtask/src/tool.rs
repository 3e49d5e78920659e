//! Cargo tools that the project uses, installed into `target/tools` at a fixed version.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::program::Program;

/// A cargo subcommand from crates.io.
#[derive(Debug)]
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};
pub(crate) const CARGO_FUZZ: Tool = Tool {
    name: "cargo-fuzz",
    version: "0.13.2",
};

impl Tool {
    /// Makes sure that the tool is there in its version, and returns the `PATH` on which cargo finds it.
    pub(crate) fn ensure(&self, root: &Path) -> anyhow::Result<OsString> {
        let path = search_path(&folder(root).join("bin"))?;
        if !self.is_present(root, &path) {
            self.install(root)?;
        }
        Ok(path)
    }

    fn is_present(&self, root: &Path, path: &OsString) -> bool {
        Program::new(self.name, root)
            .argument("--version")
            .environment("PATH", path)
            .output()
            .is_ok_and(|said| said.split_whitespace().nth(1) == Some(self.version))
    }

    /// Without optimization: it is built on every fresh machine, and runs for a second.
    fn install(&self, root: &Path) -> anyhow::Result<()> {
        eprintln!(
            "{} {} is not installed: building it into target/tools",
            self.name, self.version
        );
        Program::cargo(root)
            .arguments([
                "install",
                "--quiet",
                "--locked",
                "--debug",
                "--version",
                self.version,
                "--root",
            ])
            .argument(&folder(root).to_string_lossy())
            .argument(self.name)
            .environment("CARGO_PROFILE_DEV_DEBUG", "0")
            .run()
    }
}

fn folder(root: &Path) -> PathBuf {
    root.join("target").join("tools")
}

fn search_path(first: &Path) -> anyhow::Result<OsString> {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(first.to_path_buf()).chain(std::env::split_paths(&rest));
    std::env::join_paths(folders).context("this folder's name cannot stand in PATH")
}
