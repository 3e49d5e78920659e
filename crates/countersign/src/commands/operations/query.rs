//! `countersign operations query`.

use anyhow::bail;
use countersign_contract::{ErrorCode, Inert};
use countersign_ledger::{Inspection as _, StateKind, Work as _};
use countersign_runtime::ask_status;

use crate::cli::QueryArguments;
use crate::host_ledger::open_existing;
use crate::ledger_advice::failed;
use crate::operation_json::detail;
use crate::operation_text::standing;
use crate::output::{Verdict, complain, print_json, print_text};
use crate::performer::Performer;
use crate::tools_file::ToolsFile;
use crate::trail::trail_of;

pub(super) fn run(arguments: &QueryArguments) -> anyhow::Result<Verdict> {
    let tools = ToolsFile::load(&arguments.tools)?;
    let principal = tools.principal_or(arguments.principal.as_deref())?;
    let ledger = open_existing(&arguments.ledger)?;
    let status_ref = arguments.handle.find(&ledger)?;
    let found = ledger.operation(&status_ref).map_err(failed)?;
    let found = found.ok_or_else(|| arguments.handle.unknown())?;
    if let Some(task) = ledger.task(&found.record.scope).map_err(failed)?
        && task.record.kind() != StateKind::AwaitingApproval
    {
        let tool = Inert::new(task.proposal.call.name.as_str());
        if !tools.has_status(&task.proposal.call.name) {
            bail!(
                "the tools file names no \"status\" command for {tool}: look yourself, and say what you found with \"countersign operations resolve\""
            );
        }
        let performer = Performer {
            tools: &tools,
            principals: std::slice::from_ref(&principal),
            ledger: &ledger,
        };
        match ask_status(&performer.ports(), &task).map_err(failed)? {
            None => bail!("the write is another principal's: name it with --principal"),
            Some(package) => {
                let code = package.model_result().error_code();
                complain(&format!("{tool}: {}", code.map_or("OK", ErrorCode::as_str)));
            }
        }
    }
    let found = ledger.operation(&status_ref).map_err(failed)?;
    let found = found.ok_or_else(|| arguments.handle.unknown())?;
    if arguments.json {
        let (trail, _) = trail_of(&ledger, &found.record).map_err(failed)?;
        print_json(&detail(&found, &trail))?;
    } else {
        let (kind, standing) = (found.record.kind().as_str(), standing(&found.record.state));
        print_text(&format!("{status_ref} {kind}: {standing}\n"))?;
    }
    Ok(match found.record.kind() {
        StateKind::Succeeded => Verdict::Good,
        StateKind::AwaitingApproval
        | StateKind::Denied
        | StateKind::Expired
        | StateKind::Reserved
        | StateKind::Executing
        | StateKind::Blocked
        | StateKind::Failed
        | StateKind::Unknown
        | StateKind::ResolvedCommitted
        | StateKind::ResolvedNotExecuted => Verdict::Bad,
    })
}
