//! The ledger that a command works on: which one, and everything it can do.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::anyhow;
use countersign_ledger::{
    Approvals, Backend, Changes, DurableLedger, Inspection, InstanceId, Intents, Lifetimes, Rulings,
};
use countersign_ledger_sqlite::{Limits, MachineClock, SqliteBackend};
use countersign_runtime::WorkLedger;
use etcetera::{BaseStrategy as _, choose_base_strategy};
use uuid::Uuid;

use crate::approver_key::KnownApprovers;
use crate::cli::LedgerArgument;
use crate::input::describe;
use crate::ledger_advice::unopened;

/// Everything that commands ask of a ledger, whatever keeps it.
pub(crate) trait HostLedger:
    WorkLedger + Approvals + Rulings + Intents + Inspection + Changes + Send + Sync
{
}

impl<B: Backend> HostLedger for DurableLedger<B> {}

/// A ledger in a file.
pub(crate) type FileLedger = DurableLedger<SqliteBackend>;

/// Where a ledger is kept: `sqlite:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LedgerLocation {
    pub(crate) file: PathBuf,
}

impl FromStr for LedgerLocation {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self { file: path.into() }),
            Some(_) | None => Err("a ledger is named as sqlite:PATH"),
        }
    }
}

impl LedgerLocation {
    /// The ledger that was named, or the user's own.
    pub(crate) fn or_default(named: Option<&Self>) -> anyhow::Result<Self> {
        named.cloned().map_or_else(Self::default_for_user, Ok)
    }

    /// The user's own ledger, in the user's data directory, which is made where it is not there.
    fn default_for_user() -> anyhow::Result<Self> {
        let directory = data_directory()?;
        make_private(&directory)?;
        Ok(Self {
            file: directory.join("ledger.db"),
        })
    }
}

/// Opens a ledger for a host, and makes it where it is not there. Nothing begins that a person approved and did not sign.
pub(crate) fn open_ledger(location: &LedgerLocation) -> anyhow::Result<FileLedger> {
    let limits = Limits::of_one_among_many();
    let opened = SqliteBackend::open_with(&location.file, limits, Arc::new(MachineClock));
    let backend = opened.map_err(|error| unopened(&error))?;
    let ledger = DurableLedger::new(backend, new_instance()?, Lifetimes::default());
    let ledger = ledger.with_steady_clock(MachineClock);
    Ok(ledger.with_approval_check(KnownApprovers::load()?))
}

/// Opens the ledger that was named, or the user's own, where it is there.
pub(crate) fn open_existing(argument: &LedgerArgument) -> anyhow::Result<FileLedger> {
    let location = LedgerLocation::or_default(argument.ledger.as_ref())?;
    let backend = SqliteBackend::open_existing(&location.file).map_err(|error| unopened(&error))?;
    let ledger = DurableLedger::new(backend, new_instance()?, Lifetimes::default());
    Ok(ledger.with_steady_clock(MachineClock))
}

/// A name for this run that no other one has.
pub(crate) fn new_instance() -> anyhow::Result<InstanceId> {
    let name = Uuid::new_v4().simple().to_string();
    InstanceId::new(&name).ok_or_else(|| anyhow!("cannot name this run"))
}

/// The directory for what this program keeps for the user.
pub(crate) fn data_directory() -> anyhow::Result<PathBuf> {
    let strategy = choose_base_strategy().map_err(|_| {
        anyhow!(
            "there is no home directory: name one with HOME or XDG_DATA_HOME, or a ledger alone with --ledger sqlite:PATH"
        )
    })?;
    Ok(strategy.data_dir().join("countersign"))
}

pub(crate) fn make_private(directory: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| {
            anyhow!(
                "cannot make the directory for the ledger: {}",
                describe(&error)
            )
        })
}
