//! The files of keys, in the user's data directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use rustix::fs::OFlags;
use uuid::Uuid;

use super::{KeyName, SealedKey};
use crate::host_ledger::{data_directory, make_private};
use crate::input::describe;

const OWN: &str = "an approver's key must be a regular file of your own, no link, that nobody else can read or write (chmod \
                   600), in a directory of your own (chmod 700)";
const SUFFIX: &str = ".key.json";
/// The most bytes of a key's file.
const MAX_BYTES: u64 = 16 << 10;
/// The most keys.
const MAX_KEYS: usize = 64;

/// A directory of keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyStore {
    directory: PathBuf,
}

impl KeyStore {
    /// The user's own. It need not be there yet.
    pub(crate) fn open() -> anyhow::Result<Self> {
        Ok(Self {
            directory: data_directory()?.join("approvers"),
        })
    }

    /// All keys, by name. A file that cannot be trusted is an error: leaving one out could let everything unsigned count.
    pub(crate) fn all(&self) -> anyhow::Result<Vec<SealedKey>> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(&error)),
        };
        check_private(&self.directory)?;
        let mut keys = Vec::new();
        for entry in entries {
            let name = entry.map_err(|error| unreadable(&error))?.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
            let Some(name) = name.and_then(KeyName::new) else {
                continue;
            };
            if keys.len() >= MAX_KEYS {
                bail!("there are more than {MAX_KEYS} keys of approvers");
            }
            keys.extend(self.find(&name)?);
        }
        keys.sort_by(|one: &SealedKey, other| one.name.cmp(&other.name));
        Ok(keys)
    }

    /// The key of an approver; nothing where there is none.
    pub(crate) fn find(&self, name: &KeyName) -> anyhow::Result<Option<SealedKey>> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(self.file(name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => bail!(OWN),
        };
        check_private(&self.directory)?;
        let metadata = file.metadata().map_err(|error| unreadable(&error))?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        if !metadata.is_file() || !is_own || metadata.mode() & 0o077 != 0 || metadata.nlink() != 1 {
            bail!(OWN);
        }
        let mut bytes = Vec::new();
        let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&error))?;
        let key = SealedKey::from_bytes(&bytes)?;
        if key.name != *name {
            bail!("a key's file is named after another approver");
        }
        Ok(Some(key))
    }

    /// Writes a new key. Nothing is written over.
    pub(crate) fn add(&self, key: &SealedKey) -> anyhow::Result<()> {
        make_private(&self.directory)?;
        check_private(&self.directory)?;
        let file = self.file(&key.name);
        write_new(&file, &key.to_bytes())
    }

    /// Writes a key in place of itself: whole, or not at all.
    pub(crate) fn replace(&self, key: &SealedKey) -> anyhow::Result<()> {
        let fresh = self.directory.join(format!(".{}", Uuid::new_v4().simple()));
        write_new(&fresh, &key.to_bytes())?;
        let renamed = fs::rename(&fresh, self.file(&key.name));
        renamed.map_err(|error| {
            // What is left over is as private as the key.
            let _ = fs::remove_file(&fresh);
            anyhow!("cannot put the key in place: {}", describe(&error))
        })?;
        let synced = File::open(&self.directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| anyhow!("cannot keep the key: {}", describe(&error)))
    }

    fn file(&self, name: &KeyName) -> PathBuf {
        self.directory.join(format!("{}{SUFFIX}", name.as_str()))
    }
}

fn write_new(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .map_err(|error| anyhow!("cannot write the key: {}", describe(&error)))
}

fn check_private(directory: &Path) -> anyhow::Result<()> {
    let metadata = directory.symlink_metadata();
    let metadata = metadata.map_err(|error| unreadable(&error))?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if metadata.is_dir() && is_own && metadata.mode() & 0o022 == 0 {
        Ok(())
    } else {
        bail!(OWN)
    }
}

fn unreadable(error: &io::Error) -> anyhow::Error {
    anyhow!("cannot read the keys of approvers: {}", describe(error))
}
