//! By which name a configuration calls this program.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::install::entry::is_this_program;

/// The program that was named, or this one, by an absolute path.
///
/// Where the search path leads to this program by a name, that name is taken: it stays right when the program is replaced.
pub(crate) fn program(named: Option<&Path>) -> anyhow::Result<String> {
    let path = match named {
        Some(named) => {
            if !named.is_absolute() {
                bail!("name the program by an absolute path: clients start it from anywhere");
            }
            named.to_path_buf()
        }
        None => this_program()?,
    };
    if !path.is_file() {
        bail!(
            "the program that the configuration would call is not there: name one with --program PATH"
        );
    }
    let text = path.to_str().context("the program's path is not UTF-8")?;
    if !is_this_program(text) {
        bail!(
            "the program must be called \"countersign\", or something that begins so: \"uninstall\" knows it by that"
        );
    }
    Ok(text.to_owned())
}

/// The first file of a name on the search path that can be run.
pub(crate) fn found_on_path(name: &str) -> Option<PathBuf> {
    search_path()
        .into_iter()
        .map(|directory| directory.join(name))
        .find(|path| is_program(path))
}

/// Tells whether a file is there that somebody may run.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn this_program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    let Some(name) = own.file_name().and_then(|name| name.to_str()) else {
        return Ok(own);
    };
    let by_name = found_on_path(name).filter(|found| {
        found.is_absolute() && fs::canonicalize(found).ok() == fs::canonicalize(&own).ok()
    });
    let program = by_name.unwrap_or(own);
    if is_in_a_cache(&program) {
        bail!(
            "this program lies in uv's cache, which may be emptied at any time: install it for good (uv tool install), or name \
             one with --program PATH"
        );
    }
    Ok(program)
}

/// Tells whether `uvx` has put a program where it is: in an environment of its cache, `archive-v0/KEY/bin`.
fn is_in_a_cache(program: &Path) -> bool {
    let Ok(real) = fs::canonicalize(program) else {
        return false;
    };
    let is_archive = |name: &OsStr| {
        let version = name
            .to_str()
            .and_then(|name| name.strip_prefix("archive-v"));
        version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let archive = real.ancestors().nth(3).and_then(Path::file_name);
    archive.is_some_and(is_archive)
}

#[expect(
    clippy::disallowed_methods,
    reason = "programs are looked for where the environment says"
)]
fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect()
}
