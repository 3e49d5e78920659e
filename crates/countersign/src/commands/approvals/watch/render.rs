//! The screen as lines. Each fits the terminal; nothing of others' texts acts on it.

use countersign_contract::Inert;
use countersign_ledger::{Condition, Moment, OperationDetail, Record, State};

use super::form::GrantForm;
use super::model::{Model, Shown, View};
use crate::commands::grants::told;
use crate::operation_text::age;
use crate::prompt::{effective, tell_call};
use crate::sheet::Sheet;

/// What stands above and below the middle.
const FRAME_ROWS: usize = 4;
/// The fewest rows of the middle.
const MIN_ROWS: usize = 3;
/// The most characters of a name in the list.
const MAX_NAME_CHARS: usize = 60;

const HELP: &[&str] = &[
    "  j, k, arrows    choose, or move",
    "  s, Enter        show the call that is chosen, whole",
    "  a, d, g         in a call, once its end was seen: approve it, deny it, or grant calls like it",
    "  space, pages    move by a page",
    "  Esc             back",
    "  q, Ctrl-C       end; nothing is decided by that",
    "",
    "  An approval is of exactly the call that is shown, once. A reason for a denial is told to the agent.",
];

/// How many lines of a call a screen of so many rows shows.
pub(super) fn middle_rows(rows: usize) -> usize {
    rows.saturating_sub(FRAME_ROWS).max(MIN_ROWS)
}

/// The whole screen.
pub(super) fn render(model: &Model, columns: usize, rows: usize) -> Vec<String> {
    let middle_rows = middle_rows(rows);
    let key = match (model.has_key, model.is_locked) {
        (false, _) => "no key: deny only",
        (true, true) => "key locked",
        (true, false) => "key open",
    };
    let approver = Inert::beginning(&model.approver, MAX_NAME_CHARS);
    let count = model.queue.len();
    let title = format!("countersign  {count} waiting  as {approver}  {key}");
    let (middle, footer) = match &model.view {
        View::List => (list(model, middle_rows), "s show  ? help  q end".to_owned()),
        View::Help => (lines(HELP), "any key: back".to_owned()),
        View::Call(shown) => (window(shown, middle_rows), call_footer(shown, middle_rows)),
        View::Reason(shown, text) => (
            window(shown, middle_rows),
            format!("why not? (the agent is told) {}_", Inert::new(text)),
        ),
        View::Grant(_, form) => (
            grant(form),
            "j/k choose  space what it may be  t time  u uses  Enter grant  Esc back".to_owned(),
        ),
        View::Passphrase(shown, _, _) => (
            window(shown, middle_rows),
            format!("passphrase of {approver}, then Enter (Esc: back): "),
        ),
    };
    let mut screen = vec![title, String::new()];
    screen.extend(middle.into_iter().take(middle_rows));
    screen.resize(middle_rows + 2, String::new());
    screen.push(Inert::new(&model.notice).to_string());
    screen.push(footer);
    screen.iter().map(|line| fitting(line, columns)).collect()
}

/// A call, whole, in lines for a terminal of so many columns.
pub(super) fn call_lines(
    call: &OperationDetail,
    cautions: &[(&str, String)],
    lately: &[Record],
    now: Moment,
    columns: usize,
) -> Vec<String> {
    let (record, proposal) = (&call.record, &call.proposal);
    let mut sheet = Sheet::new(columns);
    sheet.tell("handle", &record.terms.status_ref.to_string());
    tell_call(&mut sheet, &proposal.access(), None);
    let since = age(now.since(record.opened_at));
    sheet.tell(
        "asked for",
        &format!("{} ({since} ago)", record.opened_at.second()),
    );
    if let State::AwaitingApproval { until } = &record.state {
        let left = age(until.since(now));
        sheet.tell("until", &format!("{} (in {left})", until.second()));
    }
    sheet.tell("request", &record.terms.request.to_string());
    let revisions = &record.terms.revisions;
    for (label, revision) in [
        ("input", &revisions.input_schema),
        ("output", &revisions.output_schema),
        ("producer", &revisions.producer),
        ("handler", &revisions.handler),
        ("policy", &revisions.policy),
    ] {
        sheet.tell(label, revision.as_str());
    }
    for (index, record) in lately.iter().enumerate() {
        let label = if index == 0 { "lately" } else { "" };
        let (since, tool) = (age(now.since(record.opened_at)), record.scope.tool.as_str());
        let tool = Inert::beginning(tool, MAX_NAME_CHARS);
        let kind = record.kind().as_str();
        sheet.tell(label, &format!("{since} ago  {kind}  {tool}"));
    }
    for (label, text) in cautions {
        sheet.tell(label, text);
    }
    sheet.block("arguments", &effective(&proposal.call.arguments));
    let text = sheet.into_text();
    let plain = anstream::adapter::strip_str(&text).to_string();
    plain.lines().map(str::to_owned).collect()
}

fn list(model: &Model, rows: usize) -> Vec<String> {
    if model.queue.is_empty() {
        return vec!["  nothing waits for a decision".to_owned()];
    }
    let first = model.selected.saturating_sub(rows.saturating_sub(2));
    let records = model.queue.iter().enumerate().skip(first);
    let rows = records.map(|(index, record)| {
        let mark = if index == model.selected { ">" } else { " " };
        let (scope, now) = (&record.scope, model.now);
        let until = record.state.expires_at();
        let left = until.map_or_else(String::new, |until| age(until.since(now)));
        let since = age(now.since(record.opened_at));
        let handle = record.terms.status_ref.to_string();
        let handle = handle.get(..15).unwrap_or(&handle);
        let tool = Inert::beginning(scope.tool.as_str(), MAX_NAME_CHARS);
        let subject = Inert::beginning(scope.subject_id.as_str(), MAX_NAME_CHARS);
        format!("{mark} {handle}  {since:>4}  {left:>4}  {tool}  {subject}")
    });
    let heading = "  handle           since  left  tool  for".to_owned();
    std::iter::once(heading).chain(rows).collect()
}

fn window(shown: &Shown, rows: usize) -> Vec<String> {
    let lines = shown.lines.iter().skip(shown.scroll);
    lines.take(rows).cloned().collect()
}

fn call_footer(shown: &Shown, rows: usize) -> String {
    let last = (shown.scroll + rows).min(shown.lines.len());
    let place = format!("{last} of {} lines", shown.lines.len());
    if shown.is_read || shown.scroll >= shown.last_scroll(rows) {
        format!("{place}  a approve  d deny  g grant  Esc back")
    } else {
        format!("{place}  space goes on  Esc back")
    }
}

fn grant(form: &GrantForm) -> Vec<String> {
    let mut lines = vec![
        "Approve calls like this beforehand, while the tool stays exactly as it is:".to_owned(),
        format!("  {}", form.told()),
    ];
    let Some(conditions) = form.conditions() else {
        lines.push("  the arguments are too many or too large to be granted".to_owned());
        return lines;
    };
    // In the order of the rows: both go by name.
    for (index, (condition, line)) in conditions.iter().zip(told(&conditions)).enumerate() {
        let mark = if index == form.selected() { ">" } else { " " };
        let warning = match condition.1 {
            Condition::Any => "  (whatever it is)",
            Condition::Is(_) | Condition::BeginsWith(_) => "",
        };
        lines.push(format!("{mark} {line}{warning}"));
    }
    lines
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// As much of a line as fits. Without a table of widths, whatever is not ASCII counts as wide.
fn fitting(line: &str, columns: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += if character.is_ascii() { 1 } else { 2 };
        used <= columns
    };
    line.chars().take_while(fits).collect()
}
