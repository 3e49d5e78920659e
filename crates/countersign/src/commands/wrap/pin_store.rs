//! Pins in files of their owner's: written whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use countersign_mcp::ServerName;
use countersign_mcp::pin::{MAX_PIN_BYTES, Pin};
use rustix::fs::{FlockOperation, OFlags, flock};
use uuid::Uuid;

use crate::input::describe;

/// The directory of a user's pins: `NAME.json` is what is frozen, `NAME.seen.json` what the server said last.
#[derive(Clone, Debug)]
pub(crate) struct PinStore {
    directory: PathBuf,
}

/// Which document of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// What is frozen.
    Frozen,
    /// What the server said last, for a person to look at.
    Seen,
}

/// Tells a document from the one that it is replaced by: each is a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PinMark {
    inode: u64,
    changed: (i64, i64),
    bytes: u64,
}

/// Keeps others from changing a server's pin while it is there.
pub(crate) struct PinLock(
    #[expect(dead_code, reason = "held open, since closing it unlocks")] File,
);

impl PinStore {
    /// A store in a directory, which is made for its owner alone where it is not there.
    pub(crate) fn open(directory: &Path) -> anyhow::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| failed(&error))?;
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    /// Waits until nobody else changes a server's pin.
    pub(crate) fn lock(&self, server: &ServerName) -> anyhow::Result<PinLock> {
        let file = private()
            .create(true)
            .open(self.directory.join(format!("{server}.lock")))
            .map_err(|error| failed(&error))?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(&error.into()))?;
        Ok(PinLock(file))
    }

    /// Reads a document; nothing where there is none.
    pub(crate) fn read(&self, server: &ServerName, which: Which) -> anyhow::Result<Option<Pin>> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(self.path(server, which));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let mut bytes = Vec::new();
        let limit = u64::try_from(MAX_PIN_BYTES).unwrap_or(u64::MAX);
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| failed(&error))?;
        let pin = Pin::read(&bytes).map_err(|error| {
            anyhow!("{error}; look at it, or remove {server}.json from the pins to see the server as new")
        })?;
        if pin.server() == server {
            Ok(Some(pin))
        } else {
            Err(anyhow!("the pin of \"{server}\" is another server's"))
        }
    }

    /// The mark of what is frozen at the moment; nothing where nothing is.
    pub(crate) fn mark(&self, server: &ServerName) -> Option<PinMark> {
        let metadata = std::fs::symlink_metadata(self.path(server, Which::Frozen)).ok()?;
        Some(PinMark {
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            bytes: metadata.len(),
        })
    }

    /// Writes a document beside the old one and puts it in its place.
    pub(crate) fn write(&self, pin: &Pin, which: Which) -> anyhow::Result<()> {
        let bytes = pin.to_bytes();
        if bytes.len() > MAX_PIN_BYTES {
            // Nobody could read it again.
            return Err(anyhow!(
                "the tools of \"{}\" are described at too great length to be pinned",
                pin.server()
            ));
        }
        let path = self.path(pin.server(), which);
        let fresh = self
            .directory
            .join(format!(".{}.tmp", Uuid::new_v4().simple()));
        let written = private()
            .create_new(true)
            .open(&fresh)
            .and_then(|mut file| {
                file.write_all(&bytes)?;
                file.sync_all()
            });
        let placed = written
            .and_then(|()| std::fs::rename(&fresh, &path))
            .and_then(|()| File::open(&self.directory)?.sync_all());
        if placed.is_err() {
            // What is left of it is nobody's.
            let _ = std::fs::remove_file(&fresh);
        }
        placed.map_err(|error| failed(&error))
    }

    /// Removes both documents of a server.
    pub(crate) fn forget(&self, server: &ServerName) -> anyhow::Result<()> {
        for which in [Which::Frozen, Which::Seen] {
            match std::fs::remove_file(self.path(server, which)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Ok(())
    }

    fn path(&self, server: &ServerName, which: Which) -> PathBuf {
        self.directory.join(match which {
            Which::Frozen => format!("{server}.json"),
            Which::Seen => format!("{server}.seen.json"),
        })
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

fn failed(error: &io::Error) -> anyhow::Error {
    anyhow!(
        "cannot use the directory of pins: {}; look at its permissions, or name one with --pins",
        describe(error)
    )
}
