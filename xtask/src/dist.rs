//! What is handed to users: a static Linux binary, and a Python wheel that carries it.
//!
//! Everything is made in `target/dist`. Maturin builds the binary and packs the wheel in one step; the binary that is handed out
//! and tried is taken out of the wheel, so that there is only one.

mod check;
mod client;
mod licences;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::program::Program;
use crate::{python, system};

/// What the binary runs on: any Linux of this processor, whatever C library it has, or none.
const TARGET: &str = "x86_64-unknown-linux-musl";
/// The profile in the root manifest.
const PROFILE: &str = "dist";
/// A binary that needs no C library fits the oldest of both kinds that installers know.
const PLATFORMS: [&str; 2] = ["manylinux2014", "musllinux_1_1"];
const BINARY: &str = "countersign";
/// What `packaging` brings to the folder that the wheel is made from.
const PACKAGE_FILES: [&str; 2] = ["pyproject.toml", "README.md"];
/// No file in the wheel has the time of its making: the same files make the same wheel. This is the first moment of 1980, the
/// first that a zip file can state.
const FILE_TIME: &str = "315532800";

/// What was made.
#[derive(Debug)]
struct Distribution {
    wheel: PathBuf,
    binary: PathBuf,
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        [first, ..] => bail!("`cargo xtask dist` takes `--check`, and got `{first}`"),
    };
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("the distribution is made on Linux on x86-64 only, for the same");
    }
    system::ensure(root, &[system::PYTHON, system::MUSL_COMPILER])?;
    ensure_target(root)?;
    let python = python::ensure(root, &python::FOR_WHEELS)?;
    let distribution = make(root, &python)?;
    report(root, &distribution)?;
    if check {
        check::run(root, &python, &distribution)?;
    }
    Ok(())
}

/// The standard library for the target comes with rustup, which is asked only where it is missing.
fn ensure_target(root: &Path) -> anyhow::Result<()> {
    let library = Program::new("rustc", root)
        .arguments(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    if Path::new(library.trim()).is_dir() {
        return Ok(());
    }
    Program::new("rustup", root)
        .arguments(["target", "add", TARGET])
        .run()
        .context("the standard library for a static binary could not be installed")
}

fn make(root: &Path, python: &Path) -> anyhow::Result<Distribution> {
    let folder = root.join("target").join("dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the old target/dist")?;
    }
    let package = folder.join("package");
    fs::create_dir_all(&package).context("cannot make target/dist")?;
    lay_out(root, &package)?;
    let wheels = folder.join("wheels");
    pack(root, python, &package, &wheels)?;
    let wheel = only_file(&wheels)?;
    let binary = unpack(root, python, &wheel, &folder)?;
    Ok(Distribution { wheel, binary })
}

/// Puts the files that are not the binary where Maturin looks for them.
fn lay_out(root: &Path, package: &Path) -> anyhow::Result<()> {
    let packaging = root.join("packaging");
    for name in PACKAGE_FILES {
        copy(&packaging.join(name), &package.join(name))?;
    }
    copy(&root.join("LICENSE"), &package.join("LICENSE"))?;
    copy(
        &licences::of_standard_library(root)?,
        &package.join("RUST-STANDARD-LIBRARY.html"),
    )?;
    let third_party = licences::of_dependencies(root, BINARY, TARGET)?;
    fs::write(package.join("THIRD-PARTY.txt"), third_party)
        .context("cannot write the licences into target/dist")
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::copy(from, to)
        .map(drop)
        .with_context(|| format!("cannot copy {} into target/dist", from.display()))
}

/// Builds the binary and packs it. A second time it only packs.
fn pack(root: &Path, python: &Path, package: &Path, wheels: &Path) -> anyhow::Result<()> {
    Program::new(&beside(python, "maturin"), package)
        .without_cargo_run()
        .arguments(["build", "--locked", "--profile", PROFILE])
        .arguments(["--target", TARGET, "--auditwheel", "check"])
        .argument("--compatibility")
        .arguments(PLATFORMS)
        .argument("--out")
        .argument(&wheels.to_string_lossy())
        .environment("SOURCE_DATE_EPOCH", FILE_TIME)
        .environment("CC_x86_64_unknown_linux_musl", system::MUSL_COMPILER.name)
        .environment("CARGO_ENCODED_RUSTFLAGS", compiler_flags(root)?)
        .run()
}

/// Keeps the names of this machine's folders out of the binary's messages.
fn compiler_flags(root: &Path) -> anyhow::Result<OsString> {
    let cargo_home = match std::env::var_os("CARGO_HOME") {
        Some(home) => home,
        None => Path::new(&std::env::var_os("HOME").context("there is no home directory")?)
            .join(".cargo")
            .into_os_string(),
    };
    let mut flags = OsString::from("--remap-path-prefix=");
    flags.push(cargo_home);
    flags.push("=/cargo\u{1f}--remap-path-prefix=");
    flags.push(root);
    flags.push("=/countersign");
    Ok(flags)
}

/// A program of the environment whose interpreter this is.
fn beside(python: &Path, name: &str) -> String {
    python.with_file_name(name).to_string_lossy().into_owned()
}

fn only_file(folder: &Path) -> anyhow::Result<PathBuf> {
    let entries: Vec<_> = fs::read_dir(folder)
        .and_then(Iterator::collect)
        .with_context(|| format!("cannot list {}", folder.display()))?;
    match entries.as_slice() {
        [only] => Ok(only.path()),
        others => bail!(
            "one wheel is due in {}, and {} files are there",
            folder.display(),
            others.len()
        ),
    }
}

fn unpack(root: &Path, python: &Path, wheel: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let contents = folder.join("contents");
    Program::new(&python.to_string_lossy(), root)
        .arguments(["-m", "zipfile", "--extract"])
        .argument(&wheel.to_string_lossy())
        .argument(&contents.to_string_lossy())
        .run()?;
    let data = fs::read_dir(&contents)
        .context("cannot list the wheel's contents")?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| {
            path.extension()
                .is_some_and(|extension| extension == "data")
        })
        .context("the wheel has no folder for programs")?;
    let binary = folder.join(BINARY);
    copy(&data.join("scripts").join(BINARY), &binary)?;
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755))
        .context("cannot make the binary executable")?;
    Ok(binary)
}

fn report(root: &Path, distribution: &Distribution) -> anyhow::Result<()> {
    for path in [&distribution.binary, &distribution.wheel] {
        let bytes = fs::metadata(path)
            .with_context(|| format!("cannot look at {}", path.display()))?
            .len();
        let path = path.strip_prefix(root).unwrap_or(path);
        println!("{:>11} bytes  {}", bytes, path.display());
    }
    Ok(())
}
