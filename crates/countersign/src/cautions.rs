//! What a person should know of a call before they decide, beyond the call itself.

use countersign_contract::{Inert, Revision, Revisions};
use countersign_ledger::{Inspection as _, OperationDetail, OperationFilter, Record, StateKind};

use crate::host_ledger::FileLedger;
use crate::ledger_advice::failed;
use crate::look_alike::look_alikes;
use crate::prompt::effective;

/// States in which somebody, or a rule, has let a call through.
const LET_THROUGH: [StateKind; 6] = [
    StateKind::Reserved,
    StateKind::Executing,
    StateKind::Unknown,
    StateKind::Succeeded,
    StateKind::ResolvedCommitted,
    StateKind::Failed,
];
/// This call may be one of them, since it may have been let through before.
const LOOKED_AT: usize = 2;
/// The most characters of a revision.
const MAX_CHARS: usize = 80;

/// Each under its label. Everything of others in it is inert once it is told on a sheet.
pub(crate) fn cautions(
    ledger: &FileLedger,
    call: &OperationDetail,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    let mut cautions = changes(ledger, &call.record)?;
    let suspicious = look_alikes(&words_of(call));
    if !suspicious.is_empty() {
        let words = suspicious.join(", ");
        let told = format!("not the letters they look like: {words}");
        cautions.push(("CAREFUL", told));
    }
    Ok(cautions)
}

/// How the tool's contract differs from the one under which a call of it was last let through.
fn changes(ledger: &FileLedger, record: &Record) -> anyhow::Result<Vec<(&'static str, String)>> {
    let filter = OperationFilter {
        states: LET_THROUGH.to_vec(),
        tenant: Some(record.scope.tenant_id.clone()),
        tool: Some(record.scope.tool.clone()),
        ..OperationFilter::default()
    };
    let page = ledger
        .operations(&filter, None, LOOKED_AT)
        .map_err(failed)?;
    let earlier = page
        .items
        .into_iter()
        .find(|earlier| earlier.scope != record.scope);
    let Some(earlier) = earlier else {
        let told = "no call of this tool was let through before".to_owned();
        return Ok(vec![("contract", told)]);
    };
    let (time, handle) = (earlier.opened_at.second(), earlier.terms.status_ref);
    let differing = differing(&earlier.terms.revisions, &record.terms.revisions);
    if differing.is_empty() {
        let told = format!("as it was for {handle} of {time}, the last call of it");
        return Ok(vec![("contract", told)]);
    }
    let head = format!("the tool is another one than for {handle} of {time}, the last call of it:");
    let head = std::iter::once(("CHANGED", head));
    Ok(head
        .chain(differing.into_iter().map(|line| ("", line)))
        .collect())
}

/// What differs, in words. Most revisions are digests, which tell nobody anything.
fn differing(was: &Revisions, is: &Revisions) -> Vec<String> {
    let digests = [
        ("what it takes", &was.input_schema, &is.input_schema),
        ("what it answers", &was.output_schema, &is.output_schema),
        ("what it says of itself, or does", &was.effect, &is.effect),
        ("how it is started or called", &was.handler, &is.handler),
    ];
    let names = [
        ("who acts and answers", &was.producer, &is.producer),
        ("the policy", &was.policy, &is.policy),
    ];
    let digests = digests.into_iter().filter(|(_, was, is)| was != is);
    let names = names.into_iter().filter(|(_, was, is)| was != is);
    digests
        .map(|(what, _, _)| format!("{what} has changed"))
        .chain(names.map(|(what, was, is)| {
            let shown =
                |revision: &Revision| Inert::beginning(revision.as_str(), MAX_CHARS).to_string();
            format!("{what}: was {}, is {}", shown(was), shown(is))
        }))
        .collect()
}

fn words_of(call: &OperationDetail) -> String {
    let scope = &call.record.scope;
    let arguments = countersign_canonical::indented(&effective(&call.proposal.call.arguments));
    format!(
        "{} {} {}",
        scope.tool.as_str(),
        scope.subject_id.as_str(),
        String::from_utf8_lossy(&arguments)
    )
}
