//! Which files may be a ledger, and how new ones come to be.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Access, access};
use rustix::process::geteuid;

use countersign_dispatch::ledger::Error;

use crate::error::{Classify, OpenError};

/// Only its owner reads and writes it.
const OWNER_ONLY: u32 = 0o600;
/// What nobody else may do.
const OTHERS: u32 = 0o077;
/// What SQLite appends to the names of the files beside a database.
const BESIDE: &[&str] = &["-wal", "-shm", "-journal"];

/// Held while a new file is open here, so that no other thread lets SQLite lock it before it is closed again.
static CREATION: Mutex<()> = Mutex::new(());

/// Why a file must not be used as a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is nothing.
    #[error("there is no such ledger")]
    Missing,
    /// Something is there already, and nothing is written over.
    #[error("the file exists already, and nothing is written over")]
    Exists,
    /// The name does not lead to a place for a file.
    #[error("there is no such directory")]
    NoDirectory,
    /// It is a directory, a device or the like.
    #[error("{0} is not a regular file")]
    NotAFile(Part),
    /// It is a symbolic link: what it leads to may change.
    #[error("{0} is a symbolic link, and a ledger is not reached through links")]
    Link(Part),
    /// It has other names: locks and permissions of one are not those of the other.
    #[error("{0} has a second name (a hard link)")]
    SecondName(Part),
    /// Another user owns it.
    #[error("{0} belongs to another user")]
    OtherOwner(Part),
    /// Others may read or write it.
    #[error("{0} can be read or written by other users: take their permissions away (chmod 600)")]
    OpenToOthers(Part),
    /// What stands there cannot be examined.
    #[error("{0} cannot be examined")]
    Unreadable(Part),
}

/// One of the files that make up a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The ledger itself.
    Ledger,
    /// What SQLite keeps beside it: the write-ahead log, its index, a journal.
    Beside,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ledger => "the ledger file",
            Self::Beside => "a file beside the ledger (write-ahead log or journal)",
        })
    }
}

/// A file that may be used as a ledger, by its real path.
///
/// INVARIANT: an existing file is examined by name only. To open and close it would drop the locks that SQLite holds on
/// it in this process.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFile {
    path: PathBuf,
    /// Device and inode of what was examined.
    identity: (u64, u64),
}

impl LedgerFile {
    /// A ledger that is there.
    pub(crate) fn existing(path: &Path) -> Result<Self, Refusal> {
        Self::examined(&Place::of(path)?)
    }

    /// A ledger that is there, or an empty file for a new one.
    ///
    /// Of several processes that create it one does, and the others find it.
    pub(crate) fn existing_or_new(path: &Path) -> Result<Self, OpenError> {
        let place = Place::of(path)?;
        match Self::examined(&place) {
            Err(Refusal::Missing) => match place.create() {
                Ok(()) | Err(OpenError::Refused(Refusal::Exists)) => Ok(Self::examined(&place)?),
                Err(error) => Err(error),
            },
            examined => Ok(examined?),
        }
    }

    fn examined(place: &Place) -> Result<Self, Refusal> {
        let _creation = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
        let metadata = examine(&place.path, Part::Ledger)?;
        for name in place.beside() {
            match examine(&name, Part::Beside) {
                Ok(_) | Err(Refusal::Missing) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(Self {
            path: place.path.clone(),
            identity: (metadata.dev(), metadata.ino()),
        })
    }

    /// Tells whether its name still leads to what was examined.
    pub(crate) fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }

    /// Tells whether this user may write the file, and make others beside it.
    pub(crate) fn is_writable(&self) -> bool {
        let directory = self.path.parent().unwrap_or(&self.path);
        [directory, &self.path]
            .iter()
            .all(|path| access(*path, Access::WRITE_OK).is_ok())
    }

    /// The name by which SQLite opens it: no part of it is a link.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Where a ledger may be: a name in a directory that exists.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: PathBuf,
}

impl Place {
    /// Links in the directory's path are resolved once, here; the last part must not be one.
    pub(crate) fn of(path: &Path) -> Result<Self, Refusal> {
        let name = path.file_name().ok_or(Refusal::NoDirectory)?;
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let directory = fs::canonicalize(directory).map_err(|_| Refusal::NoDirectory)?;
        if !directory.is_dir() {
            return Err(Refusal::NoDirectory);
        }
        Ok(Self {
            path: directory.join(name),
        })
    }

    /// The place beside it, with more at the end of its name.
    pub(crate) fn with_suffix(&self, suffix: impl AsRef<OsStr>) -> Self {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        Self { path: name.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The names of a ledger here and of whatever SQLite may keep beside it.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(self.path.clone()).chain(self.beside())
    }

    /// Tells whether something is here already, be it a link that leads nowhere.
    pub(crate) fn is_taken(&self) -> bool {
        self.all_names()
            .any(|name| fs::symlink_metadata(name).is_ok())
    }

    /// Makes an empty file for a ledger.
    pub(crate) fn create(&self) -> Result<(), OpenError> {
        let _creation = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(OWNER_ONLY)
            .open(&self.path);
        match created {
            Ok(file) => {
                file.sync_all().classify()?;
                drop(file);
                self.sync_directory()?;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Refusal::Exists.into()),
            Err(error) => Ok(Err(error).classify()?),
        }
    }

    /// Makes the directory's entries durable.
    pub(crate) fn sync_directory(&self) -> Result<(), Error> {
        let Some(directory) = self.path.parent() else {
            return Ok(());
        };
        File::open(directory).classify()?.sync_all().classify()
    }

    fn beside(&self) -> impl Iterator<Item = PathBuf> {
        BESIDE.iter().map(|suffix| self.with_suffix(suffix).path)
    }
}

fn examine(path: &Path, part: Part) -> Result<Metadata, Refusal> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => judge(&metadata, part).map(|()| metadata),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Refusal::Missing),
        Err(_) => Err(Refusal::Unreadable(part)),
    }
}

fn judge(metadata: &Metadata, part: Part) -> Result<(), Refusal> {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Err(Refusal::Link(part));
    }
    if !kind.is_file() {
        return Err(Refusal::NotAFile(part));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(Refusal::OtherOwner(part));
    }
    if metadata.mode() & OTHERS != 0 {
        return Err(Refusal::OpenToOthers(part));
    }
    if metadata.nlink() > 1 {
        return Err(Refusal::SecondName(part));
    }
    Ok(())
}
