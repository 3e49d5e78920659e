//! `countersign grants`.

mod create;
mod draft;
mod list;

pub(crate) use self::draft::{grant_of, told};

use countersign_ledger::Grants as _;

use crate::cli::{GrantsArguments, GrantsCommand, RevokeGrantArguments};
use crate::host_ledger::open_existing;
use crate::ledger_advice::failed;
use crate::output::{Verdict, complain};

pub(crate) fn run(arguments: &GrantsArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        GrantsCommand::Create(arguments) => create::run(arguments),
        GrantsCommand::List(arguments) => list::run(arguments),
        GrantsCommand::Revoke(arguments) => revoke(arguments),
    }
}

fn revoke(arguments: &RevokeGrantArguments) -> anyhow::Result<Verdict> {
    let RevokeGrantArguments { grant, by, ledger } = arguments;
    let ledger = open_existing(ledger)?;
    if ledger.grant_revoke(grant, by).map_err(failed)? {
        complain(&format!("{grant} is taken back: it approves nothing more"));
        Ok(Verdict::Good)
    } else {
        complain(&format!("there is no grant {grant} in this ledger"));
        Ok(Verdict::Bad)
    }
}
