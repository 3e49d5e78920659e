//! Ledgers in files, by a clock that tests set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_ledger_sqlite::{Limits, SqliteBackend};
use countersign_ledger_suite::{Build, BuildAcrossProcesses, Part, SettableClock};

use crate::stage::Stage;
use crate::tampering;

pub(crate) struct Sqlite {
    path: PathBuf,
    clock: SettableClock,
    /// Keeps the file; in another process than the one that made it, nothing.
    _stage: Option<Stage>,
}

impl Default for Sqlite {
    fn default() -> Self {
        let stage = Stage::new();
        Self {
            path: stage.path(),
            clock: SettableClock::default(),
            _stage: Some(stage),
        }
    }
}

impl Build for Sqlite {
    type Backend = SqliteBackend;

    fn open(&self) -> SqliteBackend {
        let clock = Arc::new(self.clock.clone());
        SqliteBackend::open_with(&self.path, Limits::default(), clock).unwrap()
    }

    fn clock(&self) -> &SettableClock {
        &self.clock
    }

    fn tamper(&self, part: Part, number: usize) -> Option<String> {
        tampering::apply(&self.path, part, number)
    }
}

impl BuildAcrossProcesses for Sqlite {
    fn location(&self) -> PathBuf {
        self.path.clone()
    }

    fn at(location: &Path, clock: SettableClock) -> Self {
        Self {
            path: location.to_owned(),
            clock,
            _stage: None,
        }
    }
}
