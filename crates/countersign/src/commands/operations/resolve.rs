//! `countersign operations resolve`.

use anyhow::{Context as _, anyhow, bail};
use countersign_canonical::Limits;
use countersign_contract::{CheckedAnswer, HandlerAnswer, Inert};
use countersign_ledger::{
    Inspection as _, Moment, OperationDetail, Ruled, Rulings as _, State, StateKind,
    StoredProposal, Verdict as Finding,
};

use crate::cli::{FindingArguments, ResolveArguments};
use crate::host_ledger::{FileLedger, open_existing};
use crate::input::read_json;
use crate::ledger_advice::failed;
use crate::operation_text::standing;
use crate::output::{Verdict, complain};
use crate::prompt::{Answer, Question, Terminal};
use crate::standing_question::StandingQuestion;

pub(super) fn run(arguments: &ResolveArguments) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let status_ref = arguments.handle.find(&ledger)?;
    let mut question_stands = StandingQuestion::new(&ledger, status_ref, StateKind::Unknown);
    let found = ledger.operation(&status_ref).map_err(failed)?;
    let found = found.ok_or_else(|| arguments.handle.unknown())?;
    let OperationDetail {
        record, proposal, ..
    } = &found;
    let person = &arguments.person;
    if person.as_str() == proposal.principal.subject_id.as_str() {
        let person = Inert::new(person.as_str());
        bail!("{person} asked for this write, and nobody rules on their own");
    }
    let finding = finding(&arguments.finding, proposal, &ledger)?;
    let State::Unknown { attempt, .. } = &record.state else {
        return Ok(not_unknown(&found));
    };
    if finding == Finding::NotExecuted && ledger.now().map_err(failed)? < attempt.over_at {
        return Ok(too_early(attempt.over_at));
    }
    let terminal = Terminal::open()
        .ok_or_else(|| anyhow!("there is no terminal to ask on: nothing was resolved"))?;
    let mut details = vec![
        ("handle", status_ref.to_string()),
        ("so far", standing(&record.state)),
        ("evidence", arguments.note.as_str().to_owned()),
    ];
    if let Finding::CommittedWith(answer) = &finding {
        let data = countersign_canonical::encode::<countersign_canonical::Utf8>(answer.data());
        details.push(("answer", String::from_utf8_lossy(&data).into_owned()));
    }
    let question = Question {
        heading: "The outcome of a write is unknown.",
        access: proposal.access(),
        description: None,
        details: &details,
        deed: deed(&finding),
        person,
    };
    match terminal.asks(question, &mut || question_stands.is_overtaken()) {
        Answer::Yes => {}
        Answer::No => {
            complain("that was no yes: nothing was resolved");
            return Ok(Verdict::Bad);
        }
        Answer::Overtaken => return stands(&ledger, arguments, &found),
    }
    let ruled = ledger.rule(&status_ref, &finding, person, &arguments.note);
    match ruled.map_err(failed)? {
        Ruled::Counts(record) => {
            complain(&format!("{status_ref} is {}", record.kind().as_str()));
            Ok(Verdict::Good)
        }
        Ruled::NotUnknown(_) => stands(&ledger, arguments, &found),
        Ruled::TooEarly(until) => Ok(too_early(until)),
        Ruled::NotFound => Err(arguments.handle.unknown()),
    }
}

fn deed(finding: &Finding) -> &'static str {
    match finding {
        Finding::CommittedWith(_) => "Record that it acted, and answered this",
        Finding::Committed => "Record that it acted",
        Finding::NotExecuted => "Record that it did not act",
    }
}

fn finding(
    arguments: &FindingArguments,
    proposal: &StoredProposal,
    ledger: &FileLedger,
) -> anyhow::Result<Finding> {
    if arguments.not_executed {
        return Ok(Finding::NotExecuted);
    }
    let Some(file) = &arguments.answer else {
        return Ok(Finding::Committed);
    };
    let data = read_json("answer", file, &Limits::tool_result())?;
    let answer = HandlerAnswer {
        data,
        producer_revision: proposal.contract.revisions.producer.as_str().to_owned(),
        resource_revision: None,
        observed_at: ledger.now().map_err(failed)?.second().to_string(),
        downstream_request_id: None,
        receipt_id: None,
    };
    let checked: Result<CheckedAnswer, _> =
        answer.check(&proposal.contract, &proposal.call.arguments);
    checked
        .map(Finding::CommittedWith)
        .map_err(|faults| anyhow!("{faults}"))
        .context("the answer does not fit the tool's contract")
}

fn too_early(until: Moment) -> Verdict {
    // The second in which the attempt ends has begun before it ends.
    let until = until.second();
    let until = until.checked_add(1).unwrap_or(until);
    complain(&format!(
        "nothing was resolved: the attempt may be under way until {until}; look again then"
    ));
    Verdict::Bad
}

fn not_unknown(found: &OperationDetail) -> Verdict {
    complain(&format!(
        "nothing was resolved, since its outcome is not unknown: {}",
        standing(&found.record.state)
    ));
    Verdict::Bad
}

/// Says how it stands, after somebody else was first.
fn stands(
    ledger: &FileLedger,
    arguments: &ResolveArguments,
    found: &OperationDetail,
) -> anyhow::Result<Verdict> {
    let now = ledger.operation(&found.record.terms.status_ref);
    let now = now.map_err(failed)?;
    let now = now.ok_or_else(|| arguments.handle.unknown())?;
    Ok(not_unknown(&now))
}
