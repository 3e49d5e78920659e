//! A person decides about a write, on the controlling terminal.

use anyhow::{anyhow, bail};
use countersign_contract::{Inert, StatusRef};
use countersign_ledger::{
    Approvals as _, Decided, Decision, Inspection as _, OperationDetail, Record, StateKind,
};

use crate::cautions::cautions;
use crate::cli::{ApproveArguments, DecisionArguments, DenyArguments};
use crate::host_ledger::{FileLedger, open_existing};
use crate::ledger_advice::failed;
use crate::operation_text::standing;
use crate::output::{Verdict, complain};
use crate::prompt::{Answer, Question, Terminal};
use crate::standing_question::StandingQuestion;
use crate::unlocking::Signer;

pub(super) const CLOCK: &str = "the clock shows a time before 1970 or after 9999: set it";

pub(super) fn approve(arguments: &ApproveArguments) -> anyhow::Result<Verdict> {
    let seconds = arguments.seconds;
    let details = [("approval", format!("lives for {seconds} seconds"))];
    let decide = |asked: &Asked<'_>, call: &OperationDetail| {
        let Some(key) = asked.signer.unlock(asked.terminal)? else {
            return Ok(None);
        };
        // The time a person takes does not count: the approval's begins now.
        let now = asked.ledger.now().map_err(failed)?.second();
        let expires_at = now.checked_add(seconds).ok_or_else(|| anyhow!(CLOCK))?;
        key.approve(call, &arguments.decision.approver, expires_at)
            .map(Some)
    };
    decided(
        &arguments.decision,
        "Approve exactly this",
        &details,
        &decide,
    )
}

pub(super) fn deny(arguments: &DenyArguments) -> anyhow::Result<Verdict> {
    let reason = &arguments.reason;
    let details = reason.iter();
    let details: Vec<_> = details
        .map(|reason| ("reason", reason.as_str().to_owned()))
        .collect();
    let decide = |asked: &Asked<'_>, _: &OperationDetail| {
        let may_deny = asked.signer.may_deny(asked.terminal)?;
        Ok(may_deny.then(|| Decision::Deny {
            by: arguments.decision.approver.clone(),
            reason: reason.clone(),
        }))
    };
    decided(&arguments.decision, "Deny this", &details, &decide)
}

/// Where a decision is asked for, and of whom.
struct Asked<'a> {
    ledger: &'a FileLedger,
    terminal: &'a Terminal,
    signer: &'a Signer,
}

/// Makes the decision about what was shown, after the yes. Nothing where whoever decides gives up on the passphrase.
type Decide<'d> = &'d dyn Fn(&Asked<'_>, &OperationDetail) -> anyhow::Result<Option<Decision>>;

fn decided(
    arguments: &DecisionArguments,
    deed: &str,
    details: &[(&'static str, String)],
    decide: Decide<'_>,
) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let status_ref = arguments.handle.find(&ledger)?;
    let mut standing = StandingQuestion::new(&ledger, status_ref, StateKind::AwaitingApproval);
    let found = ledger.operation(&status_ref).map_err(failed)?;
    let call = found.ok_or_else(|| arguments.handle.unknown())?;
    let OperationDetail {
        record, proposal, ..
    } = &call;
    let approver = &arguments.approver;
    if approver.as_str() == proposal.principal.subject_id.as_str() {
        let approver = Inert::new(approver.as_str());
        bail!("{approver} asks for this write, and nobody decides about their own");
    }
    if record.kind() != StateKind::AwaitingApproval {
        return Ok(too_late(record));
    }
    let signer = Signer::of(approver)?;
    let terminal = Terminal::open()
        .ok_or_else(|| anyhow!("there is no terminal to ask on: nothing was decided"))?;
    let mut known = cautions(&ledger, &call)?;
    known.extend_from_slice(details);
    let question = Question {
        heading: "A write waits for your decision.",
        access: proposal.access(),
        description: None,
        details: &known,
        deed,
        person: approver,
    };
    match terminal.asks(question, &mut || standing.is_overtaken()) {
        Answer::Yes => {}
        Answer::No => {
            complain("that was no yes: nothing was decided");
            return Ok(Verdict::Bad);
        }
        Answer::Overtaken => return stands(&ledger, &status_ref),
    }
    let asked = Asked {
        ledger: &ledger,
        terminal: &terminal,
        signer: &signer,
    };
    let Some(decision) = decide(&asked, &call)? else {
        complain("no passphrase was given: nothing was decided");
        return Ok(Verdict::Bad);
    };
    match ledger.decide_on(record, &decision).map_err(failed)? {
        Decided::Counts(record) => {
            complain(&told(&decision, &record));
            Ok(Verdict::Good)
        }
        Decided::TooLate(record) => Ok(too_late(&record)),
        Decided::Unusable => bail!("the approval's time is over already: nothing was decided"),
        Decided::NotFound => Err(arguments.handle.unknown()),
    }
}

fn told(decision: &Decision, record: &Record) -> String {
    let status_ref = record.terms.status_ref;
    match decision {
        Decision::Approve { expires_at, .. } => {
            format!("{status_ref} is approved; it has to begin before {expires_at}")
        }
        Decision::Deny { .. } => format!("{status_ref} is denied"),
    }
}

fn too_late(record: &Record) -> Verdict {
    if record.kind() == StateKind::AwaitingApproval {
        complain("nothing was decided, since the same was asked for anew meanwhile: look again");
    } else {
        complain(&format!(
            "nothing was decided, since it no longer waits: {}",
            standing(&record.state)
        ));
    }
    Verdict::Bad
}

/// Says how an operation stands that somebody else settled first.
fn stands(ledger: &FileLedger, status_ref: &StatusRef) -> anyhow::Result<Verdict> {
    match ledger.operation(status_ref).map_err(failed)? {
        Some(found) => Ok(too_late(&found.record)),
        None => bail!("the operation is gone from the ledger: nothing was decided"),
    }
}
