//! `countersign grants create`.

use anyhow::{anyhow, bail};
use countersign_contract::Inert;
use countersign_ledger::{Grant, GrantAdded, Grants as _, Inspection as _, StateKind};

use super::draft::{conditions, grant_of, told};
use crate::cautions::cautions;
use crate::cli::CreateGrantArguments;
use crate::granted::is_granted;
use crate::host_ledger::open_existing;
use crate::ledger_advice::failed;
use crate::output::{Verdict, complain};
use crate::prompt::{Answer, Question, Terminal};
use crate::unlocking::Signer;

pub(super) fn run(arguments: &CreateGrantArguments) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let status_ref = arguments.handle.find(&ledger)?;
    let found = ledger.operation(&status_ref).map_err(failed)?;
    let call = found.ok_or_else(|| arguments.handle.unknown())?;
    let approver = &arguments.approver;
    if approver.as_str() == call.proposal.principal.subject_id.as_str() {
        let approver = Inert::new(approver.as_str());
        bail!("{approver} asks for this write, and nobody decides about their own");
    }
    let conditions = conditions(&call, &arguments.conditions)?;
    let signer = Signer::of(approver)?;
    let terminal = Terminal::open()
        .ok_or_else(|| anyhow!("there is no terminal to ask on: nothing was granted"))?;
    let mut details = cautions(&ledger, &call)?;
    details.push(("grants", granted_text(arguments)));
    details.extend(told(&conditions).into_iter().map(|line| ("where", line)));
    let question = Question {
        heading: "You are about to approve calls that nobody has seen yet.",
        access: call.proposal.access(),
        description: None,
        details: &details,
        deed: "Approve all calls like this",
        person: approver,
    };
    if terminal.asks(question, &mut || false) != Answer::Yes {
        complain("that was no yes: nothing was granted");
        return Ok(Verdict::Bad);
    }
    let Some(key) = signer.unlock(&terminal)? else {
        complain("no passphrase was given: nothing was granted");
        return Ok(Verdict::Bad);
    };
    // The time a person takes does not count: the grant's begins now.
    let now = ledger.now().map_err(failed)?;
    let bounds = (arguments.lifetime, arguments.uses);
    let grant = key.grant(grant_of(&call, conditions, approver, now, bounds)?)?;
    let verdict = said(&grant, ledger.grant_add(&grant).map_err(failed)?);
    if verdict == Verdict::Good
        && call.record.kind() == StateKind::AwaitingApproval
        && is_granted(&ledger, &call.record.scope)?
    {
        complain(&format!("{status_ref} is approved under it"));
    }
    Ok(verdict)
}

fn granted_text(arguments: &CreateGrantArguments) -> String {
    let lifetime = humantime::format_duration(arguments.lifetime);
    let uses = arguments.uses;
    let calls = if uses == 1 { "call" } else { "calls" };
    format!("{uses} {calls} within {lifetime}, while the tool stays exactly as it is")
}

/// Says what became of a grant.
fn said(grant: &Grant, added: GrantAdded) -> Verdict {
    let told = match added {
        GrantAdded::Added => {
            let until = grant.expires_at.second();
            complain(&format!("{} is granted until {until}", grant.grant));
            return Verdict::Good;
        }
        GrantAdded::NameTaken => "its name is taken: try again",
        GrantAdded::OwnSubject => "nobody approves their own calls",
        GrantAdded::TooMany => "there are too many grants for this tool: take some back",
    };
    complain(&format!("nothing was granted: {told}"));
    Verdict::Bad
}
