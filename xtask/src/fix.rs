//! What a machine can put right by itself.

use std::path::Path;

use crate::program::Program;

/// Applies clippy's own suggestions, then formats: a suggestion may leave a line that is not formatted.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    Program::cargo(root)
        .arguments([
            "clippy",
            "--fix",
            "--workspace",
            "--all-targets",
            "--allow-dirty",
            "--allow-staged",
        ])
        .run()?;
    Program::cargo(root).arguments(["fmt", "--all"]).run()
}
