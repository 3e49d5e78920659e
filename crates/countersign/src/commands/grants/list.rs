//! `countersign grants list`.

use countersign_canonical::Value;
use countersign_contract::Inert;
use countersign_ledger::{Grant, GrantId, Grants as _, Inspection as _, MAX_PAGE, Moment};

use super::draft::told;
use crate::cli::ListGrantsArguments;
use crate::host_ledger::{FileLedger, open_existing};
use crate::ledger_advice::failed;
use crate::operation_json::time;
use crate::output::{Verdict, complain, print_json, print_text, terminal_width};
use crate::sheet::Sheet;

/// The most pages that are listed.
const MAX_PAGES: usize = 100;
/// The columns where there is no terminal.
const DEFAULT_COLUMNS: u16 = 100;

pub(super) fn run(arguments: &ListGrantsArguments) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let now = ledger.now().map_err(failed)?;
    let (grants, is_whole) = read(&ledger, |grant| arguments.all || grant.is_usable(now))?;
    if arguments.json {
        let grants = grants.iter().map(|grant| document(grant, now)).collect();
        print_json(&Value::from([
            ("schema", "countersign-grants-v1".into()),
            ("at", time(now)),
            ("is_whole", is_whole.into()),
            ("grants", Value::Array(grants)),
        ]))?;
    } else if grants.is_empty() {
        complain("there are none");
    } else {
        let columns = terminal_width().unwrap_or(DEFAULT_COLUMNS);
        for grant in &grants {
            print_text(&text(grant, now, columns.into()))?;
        }
    }
    if !is_whole {
        complain("there are more than are listed");
    }
    Ok(Verdict::Good)
}

fn read(
    ledger: &FileLedger,
    is_listed: impl Fn(&Grant) -> bool,
) -> anyhow::Result<(Vec<Grant>, bool)> {
    let (mut listed, mut after): (Vec<Grant>, Option<GrantId>) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = ledger
            .grants(None, after.as_ref(), MAX_PAGE)
            .map_err(failed)?;
        let Some(last) = page.last() else {
            return Ok((listed, true));
        };
        after = Some(last.grant.clone());
        listed.extend(page.into_iter().filter(&is_listed));
    }
    Ok((listed, false))
}

fn standing(grant: &Grant, now: Moment) -> &'static str {
    if grant.is_revoked {
        "taken back"
    } else if grant.uses_left == 0 {
        "used up"
    } else if grant.is_usable(now) {
        "usable"
    } else {
        "over"
    }
}

fn document(grant: &Grant, now: Moment) -> Value {
    let is_usable = grant.is_usable(now);
    Value::from([
        ("grant", grant.statement()),
        ("standing", standing(grant, now).into()),
        ("is_usable", is_usable.into()),
        ("expires_at", time(grant.expires_at)),
        (
            "uses_left",
            grant.uses_left.min(grant.uses).to_string().into(),
        ),
    ])
}

fn text(grant: &Grant, now: Moment, columns: usize) -> String {
    let mut sheet = Sheet::new(columns);
    let (left, uses) = (grant.uses_left, grant.uses);
    let until = grant.expires_at.second();
    sheet.line(format!(
        "{}  {}  {left} of {uses} uses left, until {until}",
        grant.grant,
        standing(grant, now)
    ));
    sheet.tell("tool", grant.tool.as_str());
    let (subject, tenant) = (&grant.subject_id, &grant.tenant_id);
    sheet.tell("for", &format!("{subject} of {tenant}"));
    sheet.tell("by", &Inert::new(grant.approver.as_str()).to_string());
    for line in told(&grant.conditions) {
        sheet.tell("where", &line);
    }
    format!("{}\n", sheet.into_text())
}
