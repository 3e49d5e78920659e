//! Keeping result packages: one file for the package, one for what it belongs to.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use countersign_canonical::{Value, indented};
use countersign_contract::{Call, Package, Principal, ToolContract};

use crate::input::describe;

/// How many runs may keep a package of one call in the same directory.
const MAX_PACKAGES_OF_A_CALL: usize = 1000;

/// A directory of packages. They hold the audit projection: only the owner may read them.
pub(super) struct PackageDirectory(PathBuf);

impl PackageDirectory {
    /// Opens the directory, and makes it where it is not there.
    pub(super) fn open(directory: &Path) -> anyhow::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| anyhow!("cannot make the package directory: {}", describe(&error)))?;
        check_owner(directory)?;
        Ok(Self(directory.to_owned()))
    }

    /// Keeps a package as `OPERATION.package.json`, and as `OPERATION.call.json` what `countersign verify` holds it against.
    ///
    /// An earlier run's package stays, since it may hold the only receipt: the next one is `OPERATION.2.package.json`.
    pub(super) fn keep(
        &self,
        principal: &Principal,
        call: &Call,
        contract: Option<&ToolContract>,
        package: &Package,
    ) -> anyhow::Result<()> {
        let held = [
            ("principal", principal.to_value()),
            ("call", call.to_value()),
            (
                "contract",
                contract.map(ToolContract::to_value).unwrap_or_default(),
            ),
        ];
        let name = self.free_name(call)?;
        self.write(&name, "call", &Value::from(held))?;
        self.write(&name, "package", &Value::from(package))
    }

    fn free_name(&self, call: &Call) -> anyhow::Result<String> {
        let names = (1..=MAX_PACKAGES_OF_A_CALL).map(|number| match number {
            1 => call.operation_id.to_string(),
            _ => format!("{}.{number}", call.operation_id),
        });
        let is_kept = |name: &String| {
            let kept = self.place(name, "package").symlink_metadata();
            kept.is_ok_and(|metadata| metadata.is_file())
        };
        names
            .into_iter()
            .find(|name| !is_kept(name))
            .with_context(|| format!("there are too many packages of {}", call.operation_id))
    }

    fn place(&self, name: &str, kind: &str) -> PathBuf {
        self.0.join(format!("{name}.{kind}.json"))
    }

    /// Writes beside the place and moves it there whole, so that nobody ever reads a half.
    fn write(&self, name: &str, kind: &str, value: &Value) -> anyhow::Result<()> {
        let place = self.place(name, kind);
        let beside = place.with_extension("json.new");
        write_new(&beside, &indented(value))
            .and_then(|()| std::fs::rename(&beside, &place))
            .map_err(|error| anyhow!("cannot keep the {kind} of {name}: {}", describe(&error)))
    }
}

/// Writes a file that is new, so that neither a link nor older permissions lead elsewhere.
fn write_new(place: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(place)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a package is of no use to anybody; the error says that there is none.
        let _ = std::fs::remove_file(place);
    }
    written
}

/// Whoever can write into the directory can put another package in a package's place.
fn check_owner(directory: &Path) -> anyhow::Result<()> {
    let metadata = std::fs::metadata(directory)
        .map_err(|error| anyhow!("cannot look at the package directory: {}", describe(&error)))?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !is_own || metadata.mode() & 0o022 != 0 {
        bail!(
            "the package directory must be your own, and nobody else may write into it (chmod 700)"
        );
    }
    Ok(())
}
