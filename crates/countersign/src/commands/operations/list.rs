//! `countersign operations list`, and the lists of other commands.

use std::time::Duration;

use countersign_canonical::Value;
use countersign_ledger::{
    Cursor, Inspection as _, Moment, OperationFilter, Page, Record, StateKind,
};

use crate::cli::{FilterArguments, ListArguments, PageArguments};
use crate::host_ledger::{FileLedger, open_existing};
use crate::ledger_advice::failed;
use crate::operation_json::{summary, time};
use crate::operation_text::table;
use crate::output::{Verdict, complain, print_json, print_text, terminal_width};

pub(super) fn run(arguments: &ListArguments) -> anyhow::Result<Verdict> {
    let states = arguments.states.iter();
    let states = states.filter_map(|name| StateKind::parse(name)).collect();
    let ledger = open_existing(&arguments.ledger)?;
    let filter = OperationFilter {
        states,
        dead_letters_only: arguments.dead_letters,
        ..filter_of(&arguments.filter, &ledger)?
    };
    print_list(&ledger, &filter, &arguments.page)
}

/// The filter that the arguments name, up to states and flags.
pub(crate) fn filter_of(
    arguments: &FilterArguments,
    ledger: &FileLedger,
) -> anyhow::Result<OperationFilter> {
    let now = ledger.now().map_err(failed)?;
    Ok(OperationFilter {
        states: Vec::new(),
        tenant: arguments.tenant.clone(),
        tool: arguments.tool.clone(),
        opened_before: arguments.older_than.map(|age| before(now, age)),
        opened_from: arguments.newer_than.map(|age| before(now, age)),
        dead_letters_only: false,
        text: arguments.text.clone(),
    })
}

/// So long before a moment, at most back to the beginning of recorded time.
pub(crate) fn before(moment: Moment, duration: Duration) -> Moment {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let earlier = moment.as_milliseconds().saturating_sub(milliseconds);
    Moment::from_milliseconds(earlier).unwrap_or(moment)
}

/// Prints one page, and how to get the next one.
pub(crate) fn print_list(
    ledger: &FileLedger,
    filter: &OperationFilter,
    arguments: &PageArguments,
) -> anyhow::Result<Verdict> {
    let after = arguments.after.map(Cursor::new);
    let now = ledger.now().map_err(failed)?;
    let page = ledger
        .operations(filter, after, arguments.limit.into())
        .map_err(failed)?;
    if arguments.json {
        print_json(&document(&page, now))?;
    } else if page.items.is_empty() {
        complain("there are none");
    } else {
        print_text(&table(&page.items, now, terminal_width()))?;
    }
    if let Some(next) = page.next.filter(|_| !arguments.json) {
        complain(&format!("there are more: --after {}", next.as_u64()));
    }
    Ok(Verdict::Good)
}

fn document(page: &Page<Record>, now: Moment) -> Value {
    let next = page.next.map(|cursor| cursor.as_u64().to_string());
    Value::from([
        ("schema", "countersign-operations-v1".into()),
        ("at", time(now)),
        ("next", next.map_or(Value::Null, Value::from)),
        (
            "operations",
            Value::Array(page.items.iter().map(summary).collect()),
        ),
    ])
}
