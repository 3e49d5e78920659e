//! An operation as people read it.

use std::time::Duration;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use countersign_contract::{Inert, Revisions, Role};
use countersign_ledger::{
    Attempt, AuditEntry, Moment, OperationDetail, Record, State, not_started_name, unknown_name,
};
use countersign_policy::ApprovalEvidence;

use crate::operation_json::proof_name;
use crate::prompt::{effective, tell_call};
use crate::sheet::Sheet;

/// The most characters of a name in a table.
const MAX_NAME_CHARS: usize = 40;

/// A list. Handles stay whole, so that they can be copied; names give way to a narrow terminal.
pub(crate) fn table(records: &[Record], now: Moment, columns: Option<u16>) -> String {
    let mut table = Table::new();
    if let Some(columns) = columns {
        table.set_width(columns);
    }
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["handle", "state", "age", "tool", "for"]);
    for record in records {
        let scope = &record.scope;
        let flag = if record.is_dead_letter {
            " (dead letter)"
        } else {
            ""
        };
        let subject = Inert::beginning(scope.subject_id.as_str(), MAX_NAME_CHARS);
        let tenant = Inert::beginning(scope.tenant_id.as_str(), MAX_NAME_CHARS);
        table.add_row([
            record.terms.status_ref.to_string(),
            format!("{}{flag}", record.kind().as_str()),
            age(now.since(record.opened_at)),
            Inert::beginning(scope.tool.as_str(), MAX_NAME_CHARS).to_string(),
            format!("{subject} of {tenant}"),
        ]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if index < 3 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        } else {
            column.set_delimiter('-');
        }
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    format!("{}\n", lines.join("\n"))
}

/// How long something took, by its largest unit.
pub(crate) fn age(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Everything about an operation.
pub(crate) fn sheet(
    detail: &OperationDetail,
    cautions: &[(&str, String)],
    trail: &[AuditEntry],
    columns: usize,
) -> String {
    let OperationDetail {
        record,
        proposal,
        answer,
    } = detail;
    let mut sheet = Sheet::new(columns);
    sheet.line(record.terms.status_ref.to_string());
    tell_call(&mut sheet, &proposal.access(), None);
    let roles: Vec<&str> = proposal.principal.roles.iter().map(Role::as_str).collect();
    if !roles.is_empty() {
        sheet.tell("roles", &roles.join(", "));
    }
    sheet.tell("key", record.scope.key.as_str());
    for (label, text) in cautions {
        sheet.tell(label, text);
    }
    sheet.block("arguments", &effective(&proposal.call.arguments));
    tell_revisions(&mut sheet, &proposal.contract.revisions);
    sheet.tell("asked for", &record.opened_at.second().to_string());
    sheet.tell("state", record.kind().as_str());
    sheet.tell("since", &record.changed_at.second().to_string());
    sheet.tell("", &standing(&record.state));
    tell_attempts(&mut sheet, record);
    if let Some(answer) = answer {
        sheet.block("answer", answer.data());
        sheet.tell("observed", &answer.as_answer().observed_at);
        let evidence = [
            ("receipt", answer.receipt_id()),
            ("request", answer.downstream_request_id()),
            ("resource", answer.resource_revision()),
        ];
        for (label, text) in evidence {
            if let Some(text) = text {
                sheet.tell(label, text);
            }
        }
    }
    sheet.line("  audit trail");
    for entry in trail {
        sheet.tell("", &told(entry));
    }
    format!("{}\n", sheet.into_text())
}

fn tell_revisions(sheet: &mut Sheet, revisions: &Revisions) {
    let revisions = [
        ("input", &revisions.input_schema),
        ("output", &revisions.output_schema),
        ("handler", &revisions.handler),
        ("producer", &revisions.producer),
        ("policy", &revisions.policy),
    ];
    for (label, revision) in revisions {
        sheet.tell(label, revision.as_str());
    }
}

fn tell_attempts(sheet: &mut Sheet, record: &Record) {
    if record.fence > 0 {
        sheet.tell("attempts", &record.fence.to_string());
    }
    if let Some(due) = record.due_at {
        let visits = record.visits;
        sheet.tell("due", &format!("{}, after {visits} looks", due.second()));
    }
    if record.is_dead_letter {
        sheet.tell(
            "dead letter",
            "dead letter: workers have given up on it, and a person has to look",
        );
    }
}

/// How an operation stands, in a sentence in which nothing of others' texts acts on a terminal.
pub(crate) fn standing(state: &State) -> String {
    Inert::new(&raw_standing(state)).to_string()
}

fn raw_standing(state: &State) -> String {
    match state {
        State::AwaitingApproval { until } => {
            format!("nobody has decided yet; it waits until {}", until.second())
        }
        State::Denied { by, reason, until } => {
            let reason = reason
                .as_ref()
                .map_or(String::new(), |reason| format!(": {}", reason.as_str()));
            format!(
                "{by} denied it{reason}; it can be asked for again at {}",
                until.second()
            )
        }
        State::Expired { until } => format!(
            "nobody decided in time; it can be asked for again at {}",
            until.second()
        ),
        State::Reserved { approval, until } => format!(
            "{}; it has to begin before {}",
            approved(approval),
            until.second()
        ),
        State::Executing(attempt) => {
            format!("{}; it {}", approved(&attempt.approval), sent(attempt))
        }
        State::Blocked { cause } => format!(
            "it was approved and never begins: something had changed ({})",
            cause.as_str()
        ),
        State::Failed { cause } => {
            format!(
                "it is proven not to have begun ({})",
                not_started_name(*cause)
            )
        }
        State::Unknown { attempt, cause } => format!(
            "{}; it {}; what became of it is not known ({})",
            approved(&attempt.approval),
            sent(attempt),
            unknown_name(*cause)
        ),
        State::Succeeded { proof, .. } => format!("it acted, as its {} proves", proof_name(*proof)),
        State::ResolvedCommitted { ruling, has_answer } => {
            let answer = if *has_answer { "with" } else { "without" };
            format!(
                "{} found that it acted, {answer} an answer: {}",
                ruling.by,
                ruling.note.as_str()
            )
        }
        State::ResolvedNotExecuted { ruling } => format!(
            "{} found that it did not act: {}",
            ruling.by,
            ruling.note.as_str()
        ),
    }
}

fn approved(approval: &ApprovalEvidence) -> String {
    format!(
        "{} approved it ({}, until {})",
        approval.approver, approval.approval_id, approval.expires_at
    )
}

fn sent(attempt: &Attempt) -> String {
    format!(
        "may have been sent at {}, and is over at {}",
        attempt.first_sent.second(),
        attempt.over_at.second()
    )
}

/// One entry: its number, time and event, and who and why where it says so.
fn told(entry: &AuditEntry) -> String {
    let details = entry.value.get("details");
    let text = |name: &str| details.and_then(|details| details.get(name)?.as_str());
    let approver = details.and_then(|details| {
        let approval = details.get("approval").unwrap_or(details);
        approval.get("approver_id")?.as_str()
    });
    let mut told = format!("{}  {}  {}", entry.sequence, entry.at.second(), entry.event);
    for (word, text) in [
        ("by", text("by").or(approver)),
        ("cause", text("cause")),
        ("reason", text("reason")),
        ("note", text("note")),
        ("holder", text("holder")),
        ("grant", text("grant")),
    ] {
        if let Some(text) = text {
            told.push_str("  ");
            told.push_str(word);
            told.push(' ');
            told.push_str(text);
        }
    }
    told
}
