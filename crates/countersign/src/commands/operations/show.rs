//! `countersign operations show`.

use countersign_ledger::{Inspection as _, StateKind};

use crate::cautions::cautions;
use crate::cli::ShowArguments;
use crate::host_ledger::open_existing;
use crate::ledger_advice::failed;
use crate::operation_json::detail;
use crate::operation_text::sheet;
use crate::output::{Verdict, complain, print_json, print_text, terminal_width};
use crate::trail::trail_of;

/// The columns where there is no terminal.
const DEFAULT_COLUMNS: u16 = 100;

pub(crate) fn run(arguments: &ShowArguments) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let status_ref = arguments.handle.find(&ledger)?;
    let found = ledger.operation(&status_ref).map_err(failed)?;
    let found = found.ok_or_else(|| arguments.handle.unknown())?;
    let (trail, is_whole) = trail_of(&ledger, &found.record).map_err(failed)?;
    if arguments.json {
        print_json(&detail(&found, &trail))?;
    } else {
        let columns = terminal_width().unwrap_or(DEFAULT_COLUMNS);
        let is_waiting = found.record.kind() == StateKind::AwaitingApproval;
        let cautions = if is_waiting {
            cautions(&ledger, &found)?
        } else {
            Vec::new()
        };
        print_text(&sheet(&found, &cautions, &trail, columns.into()))?;
    }
    if !is_whole {
        complain("later entries of the audit trail were not looked for: it is too long");
    }
    Ok(Verdict::Good)
}
