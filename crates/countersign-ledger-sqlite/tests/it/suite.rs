//! The back-end passes the suite of all back-ends, its races also between six processes on one file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_ledger_sqlite::{Limits, SqliteBackend};
use countersign_ledger_suite::{Build, BuildAcrossProcesses, Part, SettableClock};

use crate::stage::Stage;

struct Sqlite {
    path: PathBuf,
    clock: SettableClock,
    _stage: Option<Stage>,
}

fn sqlite() -> Sqlite {
    let stage = Stage::new();
    Sqlite {
        path: stage.path(),
        clock: SettableClock::default(),
        _stage: Some(stage),
    }
}

impl Build for Sqlite {
    type Backend = SqliteBackend;

    fn open(&self) -> SqliteBackend {
        SqliteBackend::open_with(&self.path, Limits::default(), Arc::new(self.clock.clone()))
            .unwrap()
    }

    fn clock(&self) -> &SettableClock {
        &self.clock
    }

    fn fresh(&self) -> Self {
        sqlite()
    }

    fn outlasts_its_connections(&self) -> bool {
        true
    }

    fn tamper(&self, part: Part, number: usize) -> Option<String> {
        crate::tampering::apply(&self.path, part, number)
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

countersign_ledger_suite::suite!(sqlite);
countersign_ledger_suite::suite_across_processes!(Sqlite, sqlite);
