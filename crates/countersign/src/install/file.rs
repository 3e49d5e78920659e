//! A client's configuration file: read once, replaced whole, with a backup beside it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use uuid::Uuid;

use crate::input::describe;

/// The largest configuration that is read.
const MAX_BYTES: u64 = 64 << 20;
/// The most backups that are kept beside one file.
const MAX_BACKUPS: u32 = 1_000;

/// What a file held when it was read.
#[derive(Debug)]
pub(crate) struct ConfigurationFile {
    /// The file itself, where a link was named.
    path: PathBuf,
    bytes: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
}

impl ConfigurationFile {
    /// Reads it, following links; nothing where there is none.
    pub(crate) fn read(named: &Path) -> anyhow::Result<Option<Self>> {
        let path = match fs::canonicalize(named) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unread(&error)),
        };
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(|error| unread(&error))?;
        let metadata = file.metadata().map_err(|error| unread(&error))?;
        if !metadata.is_file() {
            bail!("the configuration is not a file");
        }
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unread(&error))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
            bail!("the configuration has more than {MAX_BYTES} bytes");
        }
        Ok(Some(Self {
            path,
            bytes,
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
        }))
    }

    pub(crate) fn text(&self) -> anyhow::Result<String> {
        let text = String::from_utf8(self.bytes.clone());
        text.map_err(|_| anyhow!("the configuration is not UTF-8"))
    }

    /// Keeps what was read in a new file beside it, for the owner alone, and puts the text in its place at once.
    /// Gives back the backup's name.
    ///
    /// Writes nothing where the file is no longer what was read: a client may have written it meanwhile.
    pub(crate) fn replace(&self, text: &str) -> anyhow::Result<String> {
        let backup = self.back_up()?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let unique = Uuid::new_v4().simple();
        let draft = self
            .path
            .with_file_name(format!(".{name}.{unique}.countersign"));
        let written = self
            .write_draft(&draft, text)
            .and_then(|()| self.put(&draft));
        if written.is_err() {
            // What could not be put in place is of no use; that it cannot be removed changes nothing.
            let _ = fs::remove_file(&draft);
        }
        written.map(|()| backup)
    }

    fn back_up(&self) -> anyhow::Result<String> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        for number in 1..=MAX_BACKUPS {
            let backup = format!("{name}.countersign-backup-{number}");
            match create(&self.path.with_file_name(&backup)) {
                Ok(file) => {
                    write(file, &self.bytes).map_err(|error| unwritten("a backup", &error))?;
                    return Ok(backup);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritten("a backup", &error)),
            }
        }
        bail!("there are {MAX_BACKUPS} backups beside the configuration: remove old ones")
    }

    fn write_draft(&self, draft: &Path, text: &str) -> anyhow::Result<()> {
        let written = create(draft).and_then(|file| {
            let own = file.metadata()?;
            if (own.uid(), own.gid()) != self.owner {
                let (user, group) = self.owner;
                std::os::unix::fs::fchown(&file, Some(user), Some(group))?;
            }
            file.set_permissions(fs::Permissions::from_mode(self.mode))?;
            write(file, text.as_bytes())
        });
        written.map_err(|error| unwritten("the configuration", &error))
    }

    fn put(&self, draft: &Path) -> anyhow::Result<()> {
        let now = fs::read(&self.path).map_err(|error| unread(&error))?;
        if now != self.bytes {
            bail!("the configuration was changed meanwhile: run this again");
        }
        let put = fs::rename(draft, &self.path).and_then(|()| match self.path.parent() {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        });
        put.map_err(|error| unwritten("the configuration", &error))
    }
}

/// A new file for the owner alone.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn write(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

fn unread(error: &io::Error) -> anyhow::Error {
    anyhow!("cannot read the configuration: {}", describe(error))
}

fn unwritten(what: &str, error: &io::Error) -> anyhow::Error {
    anyhow!("cannot write {what}: {}", describe(error))
}
